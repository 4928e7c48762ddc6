"""The options that all commands with DATA share, declared once."""

import inspect
from typing import Annotated

import typer
from typer.testing import CliRunner

from otherhalf.cli.options import OpenGraph, Seed, takes_data


@takes_data
def sizes(
    open_graph: OpenGraph,
    model: Annotated[str, typer.Argument(help="A model.")],
    seed: Seed = 0,
) -> None:
    """Print the sizes of a graph."""
    graph = open_graph()
    print(model, seed, graph.num_nodes, graph.num_features, graph.num_classes, graph.directed)


def app():
    made = typer.Typer()
    made.command()(sizes)
    return made


def test_data_comes_after_the_commands_own_arguments_and_tables_last():
    names = list(inspect.signature(sizes).parameters)
    assert names == [
        *("model", "data", "seed"),
        *("id", "label", "features", "source", "target", "directed"),
        "unknown_edges",
    ]
    assert sizes.__name__ == "sizes"
    assert sizes.__doc__ == "Print the sizes of a graph."


def test_the_columns_reach_the_reader(tmp_path):
    (tmp_path / "n.csv").write_text("key,a,b,kind\nx,1,2,u\ny,3,4,v\n")
    (tmp_path / "e.csv").write_text("when,to,from\n7,y,x\n")
    tables = f"{tmp_path / 'n.csv'},{tmp_path / 'e.csv'}"
    options = ["--id", "key", "--label", "kind", "--features", "b", "--source", "from", "--target", "to"]
    result = CliRunner().invoke(app(), ["gcn", tables, *options, "--directed", "--seed", "3"])
    assert result.exit_code == 0, result.output
    assert result.output == "gcn 3 2 1 2 True\n"


def test_names_need_no_columns():
    result = CliRunner().invoke(app(), ["gcn", "csbm:nodes=30,features=4,classes=2"])
    assert result.output == "gcn 0 30 4 2 False\n"
