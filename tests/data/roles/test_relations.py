"""Relations of edges from a column, or from the names of tables."""

import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.relations import (
    could_be_relations,
    edge_relations,
    note_relations,
    relation_column,
    relations_of_tables,
)
from otherhalf.errors import InputError


def table(name="edges.csv", **columns):
    return MemoryTable(name, pd.DataFrame({"s": ["x"], "t": ["y"], "kind": ["likes"], **columns}))


def test_only_a_named_column_is_one():
    assert relation_column(table(), ("s", "t", None), "kind") == "kind"
    assert relation_column(table(), ("s", "t", None), None) is None
    assert relation_column(table(), ("s", "t", None), False) is None


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("sort", "edges.csv has no column 'sort' for the relation: its columns are s, t, kind"),
        ("t", "the column 't' is an end or the weight of the edges and no relation too"),
        (True, "relation is True: name the column of relations"),
    ],
)
def test_wrong_names(named, message):
    with pytest.raises(InputError, match=message):
        relation_column(table(), ("s", "t"), named)


def test_columns_that_are_worth_a_hint():
    assert could_be_relations(["weight", "Edge_Type", "since", "rel"]) == ["Edge_Type", "rel"]


def names(values):
    notes = []
    return edge_relations(table(), pd.Series(values, name="kind"), notes).tolist(), notes


@pytest.mark.parametrize(
    "values", [["a", "b", "a"], pd.Categorical(["a", "b", "a"]), pd.array(["a", "b", "a"], dtype="string")]
)
def test_names(values):
    assert names(values) == (["a", "b", "a"], [])


def test_numbers_are_names():
    assert names([1, 2, 1]) == (["1", "2", "1"], [])


def test_empty_cells_are_counted():
    assert names(["a", None, " ", "b"]) == (
        ["a", None, None, "b"],
        ["edges.csv: 2 edges without a relation in 'kind' count as edges, but in no relation."],
    )


def test_a_column_of_names_is_no_relation():
    with pytest.raises(
        InputError, match="the relation 'kind' has 15 different values for 25 edges, which are"
    ):
        names([f"edge {min(i, 14)}" for i in range(25)])


def test_tables_give_their_names():
    given = [table(name) for name in ("a/likes.csv.gz", "db.sqlite::knows", "b/x.y.parquet")]
    assert relations_of_tables(given) == ["likes", "knows", "x.y"]
    assert relations_of_tables([table("a/e.csv"), table("b/e.csv")]) == ["a/e.csv", "b/e.csv"]


class TestNote:
    def note(self, counts):
        notes = []
        note_relations(counts, notes)
        return notes

    def test_one_relation_needs_none(self):
        assert self.note({}) == self.note({"a": 3}) == []

    def test_a_few(self):
        assert self.note({"a": 3, "b": 1234}) == [
            "The edges have 2 relations, which are told apart: b (1,234), a (3). relation=False "
            "(--no-relation) takes them as one."
        ]

    def test_many(self):
        (note,) = self.note({f"r{i}": i for i in range(9)})
        assert (
            "9 relations; the 7 most frequent are told apart, and the others are put together: r8 (8)" in note
        )
