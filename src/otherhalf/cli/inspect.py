"""The command ``inspect``: what the columns of a node table are, and what becomes of them."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otherhalf.cli.console import print_result
from otherhalf.cli.options import Id, Json, Label
from otherhalf.errors import InputError

if TYPE_CHECKING:
    from otherhalf.data.files.table import Table

_SHOWN = ("column", "kind", "gaps", "distinct", "becomes")

NOT_IN_FIT = "fit does not encode columns yet: it takes the numeric ones as they are and no others."


def inspect(
    data: Annotated[
        str, typer.Argument(metavar="TABLES", help="nodes.csv,edges.csv (or .parquet), or nodes.csv alone.")
    ],
    id: Id = None,
    label: Label = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            help="Kinds of columns, as in ast_*=number,city=category: number, category, boolean, date, text, "
            "tags, or id (left out). Default: inferred from the cells."
        ),
    ] = None,
    features: Annotated[
        str | None, typer.Option(help="Feature columns, separated by commas; * stands for any characters.")
    ] = None,
    exclude: Annotated[
        str | None,
        typer.Option(help="Columns to leave out, separated by commas; * stands for any characters."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what each column of a node table is, what becomes of it, and which columns tell the label."""
    from otherhalf.data.columns.encoding import ColumnEncoding
    from otherhalf.data.columns.leaks import columns_that_tell
    from otherhalf.data.table_files import open_table

    notes: list[str] = []
    nodes, *edges = (open_table(path, notes) for path in _paths(data))
    id, label = _id_and_label(nodes, id, label)
    taken = [name for name in (id, label) if name is not None]
    rows = nodes.read(text=taken)
    table = rows.drop(columns=taken)
    encoding = ColumnEncoding.learn(table, kinds=kinds, features=features, exclude=exclude)
    tells = [] if label is None else columns_that_tell(table, rows[label], encoding)
    result: dict[str, Any] = {
        "nodes": len(rows),
        "edges": sum(len(edge.read(text=edge.columns)) for edge in edges) if edges else None,
        "id": id,
        "label": label,
        "columns": [asdict(row) for row in encoding.table()],
        "numbers": len(encoding.names),
        "sparse": encoding.sparse,
        "notes": [*notes, *encoding.notes, NOT_IN_FIT],
        "leaks": [tell._asdict() for tell in tells],
    }
    if not as_json:
        _print_columns(result["columns"])
    print_result(result, _summary(result), as_json)


def _paths(data: str) -> list[str]:
    """Return the path of the node table and those of the edge tables, which can be none or several."""
    nodes, *edges = (part.strip() for part in data.split(","))
    if len(edges) > 1 or not all([nodes, *edges]):
        raise InputError(
            f"{data} is not one file, or two with a comma between them: give nodes.csv,edges.csv"
        )
    if not edges:
        return [nodes]
    file, mark, _ = nodes.partition("::")
    inside = f"{file}::" if mark and "::" not in edges[0] else ""  # of one database: db.sqlite::nodes,edges
    tables = edges if Path(edges[0]).exists() else [part.strip() for part in edges[0].split("+")]
    return [nodes, *(f"{inside}{table}" for table in tables)]


def _id_and_label(table: Table, id: str | None, label: str | None) -> tuple[str, str | None]:
    """Return the columns of ids and labels: those that the user names, or else id and label."""
    names = {column.casefold(): column for column in reversed(table.columns)}
    for column, role in ((id, "node id"), (label, "label")):
        if column is not None:
            table.require(column, role)
    if label is None:
        label = names.get("label")
        if id is not None and id == label:
            return id, None  # a column called label that is said to be the id
    if id is None:
        id = names.get("id", table.columns[0])
        if id == label and "id" not in names:
            raise InputError(
                f"{table.name} has no column 'id', and its first column is the label {id!r}: "
                "name the column of node ids with --id"
            )
    if id == label:
        raise InputError(f"the column {id!r} cannot be both id and label: name two different columns")
    return id, label


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
    lines += [
        f"Warning: {leak['column']!r} alone predicts the label of {leak['score']:.1%} of the nodes (the most "
        f"frequent label: {leak['baseline']:.1%}). If it is not known for new nodes, give --exclude."
        for leak in result["leaks"]
    ]
    return "\n".join(lines)
