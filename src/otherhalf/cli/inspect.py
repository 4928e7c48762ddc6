"""The command ``inspect``: what the columns of a node table are, and what becomes of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from otherhalf.cli.console import print_json
from otherhalf.cli.drawing import Column
from otherhalf.cli.options import Json, OpenGraph, takes_data
from otherhalf.cli.summary import BOLD, Summary
from otherhalf.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from otherhalf.system.arrays import IntArray

EXAMPLES = 3
SAMPLE = 1000
"""Rows among which examples of a column's values are looked for."""

MOST_CLASSES = 8
"""Most classes in the summary; if there are more, the smallest of them are counted together."""


@takes_data
def inspect(tables: OpenGraph, as_json: Json = False) -> None:
    """Show what the columns of tables are, what becomes of them, and which columns tell the label.

    DATA is nodes.csv,edges.csv (or .parquet and the like), or nodes.csv alone.
    """
    from otherhalf.data.node_table import read_nodes
    from otherhalf.data.source import is_tables, table_paths
    from otherhalf.data.table_files import open_table
    from otherhalf.data.tables import read_edges_of

    if not is_tables(tables.data):
        raise InputError(
            f"{tables.data} is no table, and inspect shows the columns of tables: "
            f"`{tables.command('diagnose')}` shows a graph"
        )
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
        "columns": [
            {**asdict(row), "examples": _examples(read.cells[row.column])} for row in encoding.table()
        ],
        "numbers": len(encoding.names),
        "sparse": encoding.sparse,
        "notes": notes,
        "leaks": [tell._asdict() for tell in read.tells],
        "classes": _classes(read.y, read.classes, len(read.rows)),
    }
    if as_json:
        print_json(result)
        return
    summary = _summary(result)
    if found.label is None and ends is not None:
        _degrees(summary, ends.pairs, len(ends.ids.values))
    _notes(summary, notes)
    summary.next(_next(tables, result))
    summary.print()


def _examples(cells: pd.Series[Any]) -> list[str]:
    """Return some values of a column, the first ones that are no gaps; long ones without their end."""
    from otherhalf.data.columns.cells import GAP_WORDS
    from otherhalf.system.names import short

    values = cells.head(SAMPLE).dropna()
    texts = (f"{value:g}" if isinstance(value, float) else short(value) for value in values)
    return list(dict.fromkeys(text for text in texts if text.strip().lower() not in GAP_WORDS))[:EXAMPLES]


def _classes(y: Any, classes: Any, nodes: int) -> list[dict[str, Any]]:
    """Return the classes with their numbers of nodes, largest first; the class None counts those without."""
    import numpy as np

    from otherhalf.system.arrays import UNKNOWN
    from otherhalf.system.graph_checks import checked_labels

    codes, names = checked_labels(y, classes, nodes)
    counts = np.bincount(codes[codes != UNKNOWN], minlength=len(names)).tolist()
    rows = [{"class": name, "nodes": count} for name, count in zip(names.tolist(), counts, strict=True)]
    unknown = int((codes == UNKNOWN).sum())
    rows.sort(key=lambda row: -row["nodes"])
    return [*rows, *([{"class": None, "nodes": unknown}] if unknown else [])]


def _summary(result: dict[str, Any]) -> Summary:
    summary = Summary()
    edges = "" if result["edges"] is None else f", {result['edges']:,} edges"
    label = "no label" if result["label"] is None else f"label {result['label']!r}"
    summary.say(
        f"{result['nodes']:,} nodes{edges}; id {result['id']!r}, {label}; {len(result['columns'])} columns "
        f"become {result['numbers']:,} columns of numbers.",
        BOLD,
    )
    columns = [
        Column("column"),
        Column("kind"),
        Column("gaps", right=True),
        Column("distinct", right=True),
        Column("becomes"),
        Column("examples"),
    ]
    rows = [
        (
            row["column"],
            row["kind"],
            f"{row['gaps']:,}",
            f"{row['distinct']:,}",
            # Gaps have a column of their own here, and the reason for a scale is in the JSON.
            row["becomes"].partition(":")[0].replace(", gaps marked", ""),
            " | ".join(row["examples"]),
        )
        for row in result["columns"]
    ]
    summary.table(columns, rows)
    if result["label"] is not None:
        _bars(summary, f"class of {result['label']!r}", _shown_classes(result["classes"]))
    return summary


def _shown_classes(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Return the numbers of nodes of the largest classes, of all others, and of nodes without a label."""
    known = [row for row in rows if row["class"] is not None]
    most = MOST_CLASSES if len(known) <= MOST_CLASSES else MOST_CLASSES - 1
    shown = {str(row["class"]): row["nodes"] for row in known[:most]}
    if others := known[most:]:
        shown[f"({len(others):,} other classes)"] = sum(row["nodes"] for row in others)
    if len(known) < len(rows):
        shown["(no label)"] = rows[-1]["nodes"]
    return shown


def _degrees(summary: Summary, pairs: IntArray, nodes: int) -> None:
    """Add the numbers of nodes by degree: 0, 1, 2–3, 4–7 and so on."""
    import numpy as np

    degrees = np.bincount(pairs.ravel(), minlength=nodes)
    steps = np.where(degrees > 0, np.log2(np.maximum(degrees, 1)).astype(np.int64) + 1, 0)
    counts = np.bincount(steps).tolist()
    names = ["0", "1", *(f"{2**step}–{2 ** (step + 1) - 1}" for step in range(1, len(counts)))]
    _bars(summary, "edges of a node", dict(zip(names, counts, strict=False)))


def _bars(summary: Summary, title: str, counts: dict[str, int]) -> None:
    largest = max(counts.values(), default=0) or 1
    columns = [Column(title), Column("nodes", right=True), Column("", bars=True)]
    summary.table(columns, [(name, f"{count:,}", count / largest) for name, count in counts.items()])


def _notes(summary: Summary, notes: list[str]) -> None:
    summary.part()
    for note in notes:
        summary.item(note)


def _next(tables: OpenGraph, result: dict[str, Any]) -> str:
    """Return the next command: a graph needs edges, and a diagnosis by labels a column of them."""
    if result["edges"] is None:
        return tables.command("diagnose", data=f"{tables.data},EDGES.csv")
    if result["label"] is None:
        return tables.command("inspect", "--label", "COLUMN")
    return tables.command("diagnose")
