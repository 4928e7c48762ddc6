"""The ends of edges: known names first, then the first two columns if nothing speaks against them."""

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.edge_columns import edge_columns
from otherhalf.data.roles.end_names import KNOWN_PAIRS
from otherhalf.data.roles.ids import NodeIds
from otherhalf.errors import InputError

IDS = NodeIds(np.array(["ann", "bob", "cy"], dtype=object))


def choose(columns, source=None, target=None, ids=IDS):
    notes = []
    table = MemoryTable("edges.csv", pd.DataFrame(columns))
    return edge_columns(table, ids, source, target, notes), notes


def people(*names):
    return {name: ["ann", "bob", "cy"] for name in names}


@pytest.mark.parametrize("pair", KNOWN_PAIRS)
@pytest.mark.parametrize("spelling", [str, str.upper, str.title, lambda name: f":{name}_"])
def test_known_names_in_any_spelling_and_order(pair, spelling):
    source, target = (spelling(name) for name in pair)
    pair, notes = choose({"weight": [1, 2, 3], **people(target, source)})
    assert pair == (source, target)
    assert notes == [f"edges.csv: the edges go from the column {source!r} to {target!r}."]
    assert choose(people(source, target)) == ((source, target), [])


@pytest.mark.parametrize(
    ("columns", "pair"),
    [
        (["Source ID", "Target ID"], ("Source ID", "Target ID")),
        (["node_1", "node_2"], ("node_1", "node_2")),
        (["SOURCE", "source", "target"], ("source", "target")),
    ],
)
def test_signs_and_exact_spelling(columns, pair):
    assert choose(people(*columns))[0] == pair


def test_numbers_that_are_ids_do_not_win_over_names():
    ids = NodeIds(np.arange(10))
    columns = {"weight": [1, 2, 3], "source": [4, 5, 6], "target": [7, 8, 9]}
    assert choose(columns, ids=ids)[0] == ("source", "target")


@pytest.mark.parametrize(
    ("columns", "pair"),
    [
        (["strength", "from_airport", "to_airport"], ("from_airport", "to_airport")),
        (["n", "PaperB", "PaperA"], ("PaperA", "PaperB")),
        (["extra", "person 1 id", "person 2 id"], ("person 1 id", "person 2 id")),
        (["year", "citing_paper", "cited_paper"], ("citing_paper", "cited_paper")),
        (["protein1", "protein2", "combined_score"], ("protein1", "protein2")),
    ],
)
def test_names_that_differ_like_ends(columns, pair):
    ids = NodeIds(np.arange(10))
    assert choose({name: [1, 2, 3] for name in columns}, ids=ids)[0] == pair


@pytest.mark.parametrize("name", ["weight", "Strength", "distance_", "count", "Time", "type"])
def test_a_name_that_says_something_else_is_no_end(name):
    ids = NodeIds(np.arange(10))
    assert choose({name: [1, 2], "p": [3, 4], "q": [5, 6]}, ids=ids)[0] == ("p", "q")
    with pytest.raises(InputError, match=f"its columns are {name}, p .*; name two of them with source and"):
        choose({name: [1, 2], "p": [3, 4]}, ids=ids)


def test_a_third_column_of_node_ids_speaks_against_the_first_two():
    with pytest.raises(
        InputError, match=r"columns are x, y, z \(node ids are in x, y, z\); name two of them"
    ):
        choose(people("x", "y", "z"))
    assert choose(people("x", "y", "z"), "z", "x")[0] == ("z", "x")


def test_row_numbers_are_an_end_if_there_is_no_other():
    assert choose(people("id", "neighbour"))[0] == ("id", "neighbour")


def test_known_names_without_node_ids_give_way():
    columns = {**people("x", "y"), "start": ["2001", "2002", "2003"], "end": ["2004", "2005", "2006"]}
    pair, notes = choose(columns)
    assert pair == ("x", "y")
    assert notes == [
        "edges.csv: the edges were taken to go from the column 'x' to 'y'; name the columns with source and "
        "target if that is wrong."
    ]


def test_two_known_pairs_are_said():
    pair, notes = choose(people("from", "to", "source", "target"))
    assert pair == ("source", "target")
    assert notes == [
        "edges.csv: the edges go from the column 'source' to 'target'; the columns from, to hold node ids "
        "too and are not used."
    ]


def test_position_skips_what_is_never_an_end():
    ids = NodeIds(np.arange(10))
    columns = {"Unnamed: 0": [0, 1], "id": [1, 2], "weight": [1, 1], "p": [3, 4], "q": [5, 6]}
    assert choose(columns, ids=ids)[0] == ("p", "q")


def test_one_named_end():
    assert choose(people("to", "from"), source="to")[0] == ("to", "from")
    assert choose(people("w", "from", "to"), source="from")[0] == ("from", "to")
    assert choose(people("q", "p"), target="q")[0] == ("p", "q")


def test_named_ends_are_not_questioned():
    assert choose({"a": [1], "b": [2]}, "b", "a") == (("b", "a"), [])


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"colour": [1.5], "p": ["ann"], "q": ["bob"]},
            {},
            "it is not clear which columns of edges.csv are the ends of the edges: its columns are colour, "
            r"p, q \(node ids are in p, q\); name two of them with source and target",
        ),
        ({"a": [1], "b": [2], "c": [3]}, {}, "its columns are a, b, c; name two of them"),
        ({"ann": ["bob"], "bob": ["cy"]}, {}, "the first line of edges.csv is the edge ann, bob, not column"),
        ({"s": ["ann"]}, {}, "edges.csv has only the column 's': an edge needs two"),
        ({"a": [1], "b": [2]}, {"source": "x"}, "has no column 'x' for the source"),
        ({"a": [1], "b": [2]}, {"source": "a", "target": "a"}, "the column 'a' cannot be both ends"),
    ],
)
def test_refusals(columns, options, message):
    with pytest.raises(InputError, match=message):
        choose(columns, **options)


def test_known_names_that_are_nodes_too_are_said():
    ids = NodeIds(np.array(["n1", "n2", "n3", "n4"], dtype=object))
    cells = {"n1": ["n3", "n4"], "n2": ["n4", "n1"]}
    pair, notes = choose(cells, ids=ids)
    assert pair == ("n1", "n2")
    assert notes == [
        "edges.csv: the first line, n1, n2, was taken as column names, though nodes are called so: "
        "if it is an edge, add a line such as source,target above it."
    ]
    assert choose(cells, "n1", "n2", ids) == (pair, [])
