"""The command ``inspect``: what the columns of a node table are, and what becomes of them."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from otherhalf.cli.console import print_result
from otherhalf.cli.options import Json, OpenGraph, takes_data
from otherhalf.errors import printable

_SHOWN = ("column", "kind", "gaps", "distinct", "becomes")


@takes_data
def inspect(tables: OpenGraph, as_json: Json = False) -> None:
    """Show what the columns of tables are, what becomes of them, and which columns tell the label.

    DATA is nodes.csv,edges.csv (or .parquet and the like), or nodes.csv alone.
    """
    from otherhalf.data.node_table import read_nodes
    from otherhalf.data.source import table_paths
    from otherhalf.data.table_files import open_table
    from otherhalf.data.tables import read_edges_of

    notes: list[str] = []
    paths = table_paths(tables.data) if "," in tables.data else [tables.data]
    nodes, *edges = (open_table(path, notes) for path in paths)
    read = read_nodes(nodes, tables.columns, notes)
    ends = read_edges_of(edges, read.ids, read.reading.columns, notes) if edges else None
    encoding, found = read.reading.encoding, read.reading.columns
    assert encoding is not None  # columns are encoded unless one asks for numbers as they are
    result: dict[str, Any] = {
        "nodes": len(read.rows),
        "edges": None if ends is None else ends.pairs.shape[1],
        "id": found.id,
        "label": found.label,
        "columns": [asdict(row) for row in encoding.table()],
        "numbers": len(encoding.names),
        "sparse": encoding.sparse,
        "notes": notes,
        "leaks": [tell._asdict() for tell in read.tells],
    }
    if not as_json:
        _print_columns(result["columns"])
    print_result(result, _summary(result), as_json)


def _print_columns(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(box=None, pad_edge=False)
    for name in _SHOWN:
        shown.add_column(name, justify="right" if name in ("gaps", "distinct") else "left")
    for row in rows:
        cells = (f"{row[name]:,}" if isinstance(row[name], int) else row[name] for name in _SHOWN)
        shown.add_row(*map(printable, cells))
    # A file or a pipe has no width to wrap at. Names with brackets are names, not styles.
    Console(width=None if sys.stdout.isatty() else 160, markup=False, emoji=False, highlight=False).print(
        shown
    )


def _summary(result: dict[str, Any]) -> str:
    edges = "" if result["edges"] is None else f", {result['edges']:,} edges"
    lines = [
        f"\n{result['nodes']:,} nodes{edges}; id {result['id']!r}, label {result['label']!r}; "
        f"{len(result['columns'])} columns become {result['numbers']:,} columns of numbers."
    ]
    lines += [f"- {note}" for note in result["notes"]]
    return "\n".join(lines)
