"""The command ``inspect``: what the columns of a node table are, and what becomes of them."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from otherhalf.cli.console import print_result
from otherhalf.cli.options import Exclude, Features, Id, Json, Kinds, Label

_SHOWN = ("column", "kind", "gaps", "distinct", "becomes")


def inspect(
    data: Annotated[
        str, typer.Argument(metavar="TABLES", help="nodes.csv,edges.csv (or .parquet), or nodes.csv alone.")
    ],
    id: Id = None,
    label: Label = None,
    kinds: Kinds = None,
    features: Features = None,
    exclude: Exclude = None,
    as_json: Json = False,
) -> None:
    """Show what each column of a node table is, what becomes of it, and which columns tell the label."""
    from otherhalf.data.node_table import read_nodes
    from otherhalf.data.reading import Columns
    from otherhalf.data.source import table_paths
    from otherhalf.data.table_files import open_table

    notes: list[str] = []
    paths = table_paths(data) if "," in data else [data]
    nodes, *edges = (open_table(path, notes) for path in paths)
    columns = Columns(id=id, label=label, kinds=kinds, features=features, exclude=exclude)
    read = read_nodes(nodes, columns, notes)
    encoding, found = read.reading.encoding, read.reading.columns
    assert encoding is not None  # columns are encoded unless one asks for numbers as they are
    result: dict[str, Any] = {
        "nodes": len(read.rows),
        "edges": sum(len(edge.read(text=edge.columns)) for edge in edges) if edges else None,
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
        shown.add_row(*(f"{row[name]:,}" if isinstance(row[name], int) else row[name] for name in _SHOWN))
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
