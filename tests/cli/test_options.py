"""The options that all commands with DATA share, declared once."""

import inspect
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from otherhalf.cli.options import MOST_SEED, Kind, OpenGraph, Seed, class_weight_of, takes_data
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.system.seeds import SEEDS


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
        *("unknown_edges", "split_column", "split_time", "split_ids", "weight", "no_weight"),
        *("relation", "no_relation", "exclude", "kinds"),
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


@takes_data
def parts(open_graph: OpenGraph, split: Kind = "uniform") -> None:
    """Print the parts of a split."""
    graph = open_graph()
    made = make_split(graph, split)
    print(split, made.train.tolist(), made.val.tolist(), made.test.tolist())


def test_a_split_of_the_table_takes_the_place_of_the_default(tmp_path):
    (tmp_path / "n.csv").write_text("id,a,when,part,label\nx,1,3,val,u\ny,3,1,test,v\nz,3,2,train,v\n")
    (tmp_path / "e.csv").write_text("source,target\nx,y\ny,z\n")
    tables = f"{tmp_path / 'n.csv'},{tmp_path / 'e.csv'}"
    made = typer.Typer()
    made.command()(parts)
    run = CliRunner().invoke
    assert run(made, [tables, "--split-column", "part"]).stdout == "given [2] [0] [1]\n"
    assert run(made, [tables, "--split-time", "when"]).stdout == "given [1] [2] [0]\n"
    for part, name in (("train", "z"), ("val", "x"), ("test", "y")):
        (tmp_path / f"{part}.txt").write_text(f"{name}\n")
    files = ",".join(f"{part}={tmp_path / part}.txt" for part in ("train", "val", "test"))
    assert run(made, [tables, "--split-ids", files]).stdout == "given [2] [0] [1]\n"
    for words, message in (
        (["--split-ids", files, "--split-time", "when"], "--split-ids excludes --split-column"),
        (["--split-ids", "train.txt"], "--split-ids has 'train.txt': give each part once, as in train="),
        (["--split-ids", "train=a,train=b"], "give each part once"),
    ):
        assert message in str(run(made, [tables, *words]).exception)
    wrong = run(made, [tables, "--split-column", "part", "--split", "quota"])
    assert "--split quota and a split of the table's own exclude each other" in str(wrong.exception)


@takes_data
def weights(open_graph: OpenGraph) -> None:
    """Print the weights of the edges."""
    found = open_graph().weights
    print(None if found is None else found.tolist())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], "[2.0]"),
        (["--weight", "none"], "[3.0]"),
        (["--weight", "no-weight"], "[4.0]"),
        (["--no-weight"], "None"),
    ],
)
def test_no_name_of_a_column_means_no_weight(tmp_path, options, found):
    (tmp_path / "n.csv").write_text("id,a\nx,1\ny,3\n")
    (tmp_path / "e.csv").write_text("source,target,w,none,no-weight\nx,y,2,3,4\n")
    made = typer.Typer()
    made.command()(weights)
    result = CliRunner().invoke(made, [f"{tmp_path / 'n.csv'},{tmp_path / 'e.csv'}", *options])
    assert result.output == f"{found}\n"


def test_a_weight_and_none_exclude_each_other():
    made = typer.Typer()
    made.command()(weights)
    result = CliRunner().invoke(made, ["n.csv,e.csv", "--weight", "w", "--no-weight"])
    assert "--weight and --no-weight exclude each other: leave out one of them" in str(result.exception)


@takes_data
def relations(open_graph: OpenGraph) -> None:
    """Print the relations of the edges."""
    found = open_graph().relations
    print(None if found is None else found.counts())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("edges", "options", "found"),
    [
        ("e.csv", [], "None"),
        ("e.csv", ["--relation", "kind"], "{'a': 1, 'b': 1}"),
        ("e.csv+f.csv", [], "{'e': 2, 'f': 1}"),
        ("e.csv+f.csv", ["--relation", "kind"], "{'a': 2, 'b': 1}"),
        ("e.csv+f.csv", ["--no-relation"], "None"),
    ],
)
def test_relations(tmp_path, monkeypatch, edges, options, found):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.csv").write_text("id,a\nx,1\ny,3\nz,2\n")
    (tmp_path / "e.csv").write_text("source,target,kind\nx,y,a\ny,z,b\n")
    (tmp_path / "f.csv").write_text("source,target,kind\nx,z,a\n")
    made = typer.Typer()
    made.command()(relations)
    assert CliRunner().invoke(made, [f"n.csv,{edges}", *options]).output == f"{found}\n"


def test_weights_of_classes():
    assert class_weight_of("spam=5, ham=0.5") == {"spam": 5, "ham": 0.5}
    assert class_weight_of("a=b=2") == {"a=b": 2}
    assert class_weight_of("balanced") == "balanced"
    assert class_weight_of(None) is None
    with pytest.raises(InputError, match="'ham' is not class=number: give spam=5,ham=1"):
        class_weight_of("spam=5,ham")


def test_the_largest_seed():
    assert MOST_SEED == SEEDS - 1  # which is not imported, because numpy would be


class TestTheInputStays:
    """A result is not written over a file that the same command reads."""

    @pytest.fixture
    def tables(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "n.csv").write_text("id,a,label\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(20)))
        (tmp_path / "half.csv").write_text(
            "source,target\n" + "".join(f"{i},{i * 7 % 20}\n" for i in range(1, 20))
        )
        (tmp_path / "link.csv").symlink_to("n.csv")
        (tmp_path / "train.csv").write_text("1\n2\n")
        return "n.csv,half.csv"

    @pytest.mark.parametrize(
        ("command", "file"),
        [
            (["complement", "DATA", "--out", "half.csv"], "half.csv"),
            (["complement", "DATA", "--out", "./n.csv"], "n.csv"),
            (["complement", "DATA", "--out", "link.csv"], "n.csv"),
            (["predict", "model", "DATA", "--out", "n.csv"], "n.csv"),
            (["fit", "DATA", "--fast", "--out", "."], "half.csv"),
            (["fit", "DATA", "--split-ids", "train=train.csv", "--out", "."], "half.csv"),
            (["complement", "DATA", "--split-ids", "train=train.csv", "--out", "train.csv"], "train.csv"),
        ],
    )
    def test_refused(self, run, tables, command, file):
        before = {path.name: path.read_bytes() for path in Path().iterdir()}
        status, out, err = run(*(tables if word == "DATA" else word for word in command))
        assert (status, out) == (2, "")
        assert err == f"otherhalf: --out would overwrite {file}, which is read: name another place\n"
        assert {path.name: path.read_bytes() for path in Path().iterdir()} == before

    @pytest.mark.parametrize(
        ("command", "file"),
        [
            ("predict run csbm:nodes=20 --out run/half.csv", "run/half.csv"),
            ("predict run csbm:nodes=20 --out sub/../run/predictions.csv", "run/predictions.csv"),
            ("predict run csbm:nodes=20 --out link.csv", "run/half.csv"),
        ],
    )
    def test_the_files_of_the_model_stay(self, run, tmp_path, monkeypatch, command, file):
        monkeypatch.chdir(tmp_path)
        for folder in ("run", "sub"):
            (tmp_path / folder).mkdir()
        for name in ("half.csv", "predictions.csv"):
            (tmp_path / "run" / name).write_text("of the fit\n")
        (tmp_path / "link.csv").symlink_to("run/half.csv")
        status, out, err = run(*command.split())
        assert (status, out) == (2, "")
        said = f"--out would overwrite {file}, which is a file of the model: name another place"
        assert err == f"otherhalf: {said}\n"
        assert (tmp_path / file).read_text() == "of the fit\n"

    def test_the_files_of_a_folder_and_of_a_data_set_stay(self, run, tmp_path, monkeypatch):
        monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path))
        folder = tmp_path / "wood"
        folder.mkdir()
        for name in ("out1_graph_edges.txt", "out1_node_feature_label.txt", "wood_split_0.6_0.2_0.npz"):
            (folder / name).write_text("read\n")
        (tmp_path / "texas.npz").write_text("read\n")
        for data, file in ((folder, folder / "wood_split_0.6_0.2_0.npz"), ("Texas", tmp_path / "texas.npz")):
            status, _, err = run("complement", str(data), "--out", str(file))
            assert (status, file.read_text()) == (2, "read\n")
            assert err == f"otherhalf: --out would overwrite {file}, which is read: name another place\n"

    def test_another_place_beside_the_tables_is_fine(self, run, tables):
        status, _, _ = run("complement", tables, "--out", "new.csv")
        assert status == 0
        assert Path("new.csv").is_file()
