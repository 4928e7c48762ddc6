"""The edges of one table or of several: ends, weights and what is said about them."""

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.edge_tables import read_edges
from otherhalf.data.files.table import MemoryTable
from otherhalf.data.files.text import TextTable
from otherhalf.data.roles.ids import NodeIds
from otherhalf.errors import InputError

IDS = NodeIds(np.array(["u", "v", "w"], dtype=object))


def table(name="e", **columns):
    return MemoryTable(name, pd.DataFrame({"source": ["u", "v", "w"], "target": ["v", "w", "u"], **columns}))


def read(*tables, **options):
    notes = []
    edges = read_edges(tables, IDS, notes, **options)
    return edges, notes


def test_without_weights():
    edges, notes = read(table())
    assert (edges.pairs.tolist(), edges.weights, notes) == ([[0, 1, 2], [1, 2, 0]], None, [])


def test_weights_follow_the_rows_that_are_kept():
    edges, notes = read(table(target=["v", "unknown", "u"], weight=[2, -1, 3]))
    assert (edges.pairs.tolist(), edges.weights.tolist()) == ([[0, 2], [1, 0]], [2, 3])
    assert len(notes) == 2  # the unknown id, and the weights


def test_an_edge_of_weight_0_is_none():
    edges, notes = read(table(weight=[2, 0, 3]), weight="weight")
    assert (edges.pairs.tolist(), edges.weights.tolist()) == ([[0, 2], [1, 0]], [2, 3])
    assert notes == ["e: the reader dropped 1 edge whose weight 'weight' is 0."]


def test_added_nodes_have_weighted_edges():
    edges, _ = read(table(target=["v", "x", "u"], w=[1, 2, 3]), unknown_edges="add")
    assert edges.ids.values.tolist() == ["u", "v", "w", "x"]
    assert (edges.pairs.tolist(), edges.weights.tolist()) == ([[0, 1, 2], [1, 3, 0]], [1, 2, 3])


def test_other_columns_are_named():
    assert read(table(since=[1, 2, 3], weight=[1, 2, 3], **{"Unnamed: 0": [0, 1, 2]}), weight=False)[1] == [
        "e: the columns since, weight of the edges are not used."
    ]


def test_a_table_without_weights_beside_one_with():
    edges, notes = read(table("a"), table("b", weight=[2, 3, 4]))
    assert edges.pairs.shape == (2, 6)
    assert edges.weights.tolist() == [1, 1, 1, 2, 3, 4]
    assert "The edges of a have no weights and count 1 each." in notes


class TestRelations:
    def test_one_table_has_none(self):
        assert read(table(kind=["a", "b", "a"]))[0].relations is None

    def test_a_column(self):
        edges, notes = read(
            table(kind=["a", "b", "a"], weight=[1, 0, 2], target=["v", "w", "gone"]),
            relation="kind",
            weight="weight",
        )
        assert (edges.pairs.tolist(), edges.relations.tolist()) == ([[0], [1]], ["a"])
        assert not any("not used" in note for note in notes)

    def test_a_column_that_could_be_one_is_pointed_out(self):
        assert read(table(since=[1, 2, 3], type=["a", "b", "a"]))[1] == [
            "e: the columns since, type of the edges are not used; if 'type' says the kind of an edge, name "
            "it with relation."
        ]

    def test_several_tables(self):
        edges, _ = read(table("likes.csv"), table("x::knows"))
        assert edges.relations.tolist() == ["likes"] * 3 + ["knows"] * 3

    def test_several_tables_of_one_kind(self):
        edges, notes = read(table("likes.csv"), table("knows.csv"), relation=False)
        assert edges.relations is None
        assert notes == ["The edges of 2 tables were put together as edges of one kind."]

    def test_a_column_of_several_tables(self):
        edges, _ = read(table("a", kind=["x", "y", "x"]), table("b", kind=["y", "y", "z"]), relation="kind")
        assert edges.relations.tolist() == ["x", "y", "x", "y", "y", "z"]
        with pytest.raises(InputError, match="b has no column 'kind' for the relation"):
            read(table("a", kind=["x", "y", "x"]), table("b"), relation="kind")


def test_a_named_weight_must_be_in_every_table():
    with pytest.raises(InputError, match="a has no column 'weight' for the weight"):
        read(table("a"), table("b", weight=[2, 3, 4]), weight="weight")


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("source;target;weight\nu;v;0,5\nv;w;1,25\nw;u;3\n", [0.5, 1.25, 3]),
        ('source,target,weight\nu,v,"0,5"\nv,w,"1,25"\nw,u,3\n', [0.5, 1.25, 3]),
        ("source;target;weight\nu;v;1.234,5\nv;w;0,25\nw;u;3\n", [1234.5, 0.25, 3]),
        ("source,target,weight\nu,v,1e3\nv,w,.5\nw,u,3\n", [1000, 0.5, 3]),
    ],
)
def test_decimal_marks_of_text_files(tmp_path, text, weights):
    path = tmp_path / "e.csv"
    path.write_text(text)
    edges, _ = read(TextTable(path, ","))
    assert edges.weights.tolist() == weights


def test_a_wrong_cell_of_a_text_file_is_named(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("source,target,weight\nu,v,1\nv,w,2\nw,u,many\n" + "u,v,1\n" * 5)
    with pytest.raises(InputError, match=r"the weight 'weight' in row 3 is 'many' \(1 such row in all\)"):
        read(TextTable(path, ","))
