"""The options that several commands share, and what they open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from otherhalf.graph import Graph

DATA_HELP = (
    "A data set's name, an .npz file, nodes.csv,edges.csv (or .parquet), or a folder of Geom-GCN's files. "
    "`otherhalf datasets` lists the names."
)
Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on standard output.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to compute with; default: all cores.")]
Device = Annotated[str, typer.Option(help="cpu, or cuda where there is a GPU.")]
Seed = Annotated[int, typer.Option(min=0, help="Decides everything random, the split included.")]
Kind = Annotated[
    str, typer.Option("--split", help="How nodes are split: uniform, stratified, quota, fixed or public.")
]
Follow = Annotated[
    str, typer.Option(help="Whose verdict decides which half is missing: ks, labels, homophily, heterophily.")
]
Preset = Annotated[str, typer.Option(help="best, or paper: the settings of the paper.")]
Id = Annotated[str | None, typer.Option("--id", help="Tables: the node table's id column.")]
Label = Annotated[str | None, typer.Option(help="Tables: the label column.")]
Features = Annotated[str | None, typer.Option(help="Tables: the feature columns, with commas between.")]
Source = Annotated[str | None, typer.Option(help="Tables: the edge table's source column.")]
Target = Annotated[str | None, typer.Option(help="Tables: the edge table's target column.")]
Directed = Annotated[
    bool, typer.Option("--directed", help="Tables, folders: remember the direction of edges.")
]


def open_graph(data: str, *columns: Any) -> Graph:
    """The graph that DATA and the columns of its tables name."""
    from otherhalf.data.source import Columns, open_data

    return open_data(data, Columns(*columns))
