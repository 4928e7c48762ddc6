"""The command inspect: the columns of a table, with their kinds and leaks."""

import json

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len


@pytest.fixture
def tables(tmp_path):
    """Two tables of 60 nodes, one column of which is a copy of the label."""
    rng = np.random.default_rng(0)
    label = rng.choice(["ant", "bee"], 60)
    nodes = pd.DataFrame(
        {
            "id": [f"n{i}" for i in range(60)],
            "label": label,
            "age": [*rng.integers(1, 90, 59).astype(str), "hello"],
            "copy": np.where(label == "ant", "A", "B"),
            "x[red]": rng.choice(["u", "v", "w"], 60),
            "key": [f"k{i}" for i in range(60)],
        }
    )
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    pd.DataFrame({"source": ["n0", "n1"], "target": ["n1", "n2"]}).to_csv(tmp_path / "edges.csv", index=False)
    return f"{tmp_path}/nodes.csv,{tmp_path}/edges.csv"


def test_json(run, tables):
    status, out, err = run("inspect", tables, "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert (result["nodes"], result["edges"], result["id"], result["label"]) == (60, 2, "id", "label")
    kinds = {row["column"]: row["kind"] for row in result["columns"]}
    assert kinds == {"age": "number", "copy": "category", "x[red]": "category", "key": "id"}
    assert [leak["column"] for leak in result["leaks"]] == ["copy"]
    assert any("'hello'" in note for note in result["notes"])
    examples = {row["column"]: row["examples"] for row in result["columns"]}
    assert examples["key"] == ["k0", "k1", "k2"]
    assert sorted(examples["copy"]) == ["A", "B"]
    assert [row["class"] for row in sorted(result["classes"], key=lambda row: row["class"])] == ["ant", "bee"]
    assert sum(row["nodes"] for row in result["classes"]) == 60


def test_text(run, tables):
    status, out, err = run("inspect", tables)
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert "60 nodes, 2 edges; id 'id', label 'label'; 4 columns become" in text
    assert "nodes.csv: column 'key': left out: nearly every value is one word" in text
    assert "the column 'copy' alone tells the label of 100.0% of the nodes" in text
    (row,) = (line.split() for line in out.splitlines() if line.startswith("  x[red]"))
    assert row[:4] == ["x[red]", "category", "0", "3"]
    assert out.endswith(f"\nNext:\n  otherhalf diagnose {tables}\n")


def test_classes_are_drawn(run, tmp_path):
    rows = [*["ant"] * 4, *["bee"] * 2, ""]
    (tmp_path / "nodes.csv").write_text("id,label\n" + "".join(f"n{i},{c}\n" for i, c in enumerate(rows)))
    (tmp_path / "edges.csv").write_text("source,target\nn0,n1\n")
    _, out, _ = run("inspect", f"{tmp_path}/nodes.csv,{tmp_path}/edges.csv")
    place = out.splitlines().index("  class of 'label'  nodes")
    assert out.splitlines()[place + 1 : place + 4] == [
        f"  ant                   4  {'█' * 24}",
        f"  bee                   2  {'█' * 12}",
        f"  (no label)            1  {'█' * 6}",
    ]


def test_many_classes_are_counted_together(run, tmp_path):
    cells = [*"aaabbb", *"cdefghij" * 2]
    (tmp_path / "nodes.csv").write_text("id,label\n" + "".join(f"n{i},{c}\n" for i, c in enumerate(cells)))
    _, out, _ = run("inspect", tmp_path / "nodes.csv")
    drawn = [line.split()[:-1] for line in out.splitlines() if "█" in line]
    assert drawn == [
        *([c, "3"] for c in "ab"),
        *([c, "2"] for c in "cdefg"),
        ["(3", "other", "classes)", "6"],
    ]


def test_without_a_label_degrees_are_drawn(run, tmp_path):
    (tmp_path / "nodes.csv").write_text("id,x\n" + "".join(f"n{i},{i % 3}\n" for i in range(6)))
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n0,n{i}\n" for i in range(1, 5)))
    data = f"{tmp_path}/nodes.csv,{tmp_path}/edges.csv"
    _, out, _ = run("inspect", data, "--directed")
    drawn = [line.split()[:2] for line in out.splitlines() if "█" in line]
    assert drawn == [["0", "1"], ["1", "4"], ["4–7", "1"]]
    assert out.splitlines()[-1] == f"  otherhalf inspect {data} --directed --label COLUMN"


def test_one_table_needs_edges_next(run, tables):
    nodes = tables.split(",")[0]
    _, out, _ = run("inspect", nodes, "--label", "label")
    assert out.splitlines()[-1] == f"  otherhalf diagnose {nodes},EDGES.csv --label label"


def test_names_do_no_harm_and_are_cut(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    name, wide = "\x1b[2J" + "x" * 90, "中" * 40
    nodes = pd.DataFrame(
        {"id": range(4), "label": [name, wide] * 2, name: [1.5, 2, 3, 4], wide: list("abab")}
    )
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    status, out, _ = run("inspect", tmp_path / "nodes.csv")
    assert status == 0
    assert "\x1b" not in out
    drawn = [line for line in out.splitlines() if line.startswith("  ") and "otherhalf" not in line]
    assert "  1.5 | 2" in out
    assert max(map(cell_len, drawn)) <= 60


@pytest.mark.parametrize("data", ["texas", "csbm:nodes=30,classes=2", "graph.npz"])
def test_other_data_has_no_columns(run, data):
    status, out, err = run("inspect", data)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert f"{data} is no table" in err
    assert f"`otherhalf diagnose {data}` shows a graph" in err


def test_choices_and_one_table(run, tables):
    nodes = tables.split(",")[0]
    choices = ["--kinds", "k*=category", "--exclude", "copy", "--features", "key,copy", "--label", "x[red]"]
    status, out, _ = run("inspect", nodes, *choices, "--json")
    result = json.loads(out)
    assert (status, result["edges"], result["label"], result["leaks"]) == (0, None, "x[red]", [])
    used = {row["column"]: row["kind"] for row in result["columns"] if row["becomes"] != "left out"}
    assert used == {"key": "category"}


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (["--kinds", "age=colour"], "the kind 'colour' of 'age' is not known"),
        (["--exclude", "zzz"], "no column matches 'zzz' in exclude"),
        (["--label", "zzz"], "has no column 'zzz' for the label"),
        (["--label", "id"], "the column 'id' cannot be both id and label"),
    ],
)
def test_wrong_options_get_one_sentence(run, tables, options, fragment):
    status, out, err = run("inspect", tables, *options)
    assert (status, out) == (2, "")
    assert fragment in err
    assert err.count("\n") == 1


def test_wrong_tables_get_one_sentence(run, tables, tmp_path):
    assert "give nodes.csv,edges.csv" in run("inspect", "a,b,c")[2]
    (tmp_path / "first.csv").write_text("label,a\nx,1\n")
    assert "name the column of node ids with id" in run("inspect", f"{tmp_path}/first.csv")[2]


def test_a_column_called_label_can_be_the_id(run, tmp_path):
    (tmp_path / "nodes.csv").write_text("label,a\nx,1\ny,2\n")
    status, out, _ = run("inspect", f"{tmp_path}/nodes.csv", "--id", "label", "--json")
    assert (status, json.loads(out)["label"]) == (0, None)
