"""The command inspect: the columns of a table, with their kinds and leaks."""

import json

import numpy as np
import pandas as pd
import pytest


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


def test_text(run, tables):
    status, out, err = run("inspect", tables)
    assert (status, err) == (0, "")
    assert "x[red]" in out
    assert "60 nodes, 2 edges; id 'id', label 'label'; 4 columns become" in out
    assert "nodes.csv: column 'key': left out: nearly every value is one word" in out
    assert "the column 'copy' alone tells the label of 100.0% of the nodes" in out


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
