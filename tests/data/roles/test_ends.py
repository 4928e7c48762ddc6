import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.ends import check_unknown_edges, edge_ends
from otherhalf.data.roles.ids import NodeIds
from otherhalf.errors import InputError


def ends(pairs, unknown_edges="drop", ids=(10, 20, 30)):
    rows = pd.DataFrame(pairs, columns=["s", "t"])
    notes = []
    table = MemoryTable("edges.csv", rows)
    return edge_ends(table, rows, ("s", "t"), NodeIds(np.array(ids)), unknown_edges, notes), notes


def test_indices():
    read, notes = ends([("10", "20"), ("30", "10")])
    assert (read.pairs.tolist(), read.kept.tolist(), notes) == ([[0, 2], [1, 0]], [True, True], [])


def test_unknown_ends_are_dropped_and_counted():
    read, notes = ends([("10", "20"), ("10", "99"), ("ten", "20"), ("30", "10")])
    assert (read.pairs.tolist(), read.kept.tolist()) == ([[0, 2], [1, 0]], [True, False, False, True])
    assert notes == [
        "edges.csv: the reader dropped 2 of 4 edges because an end is not among the node ids, such as '99' "
        "in the column 't', row 2."
    ]


def test_unknown_ends_are_added():
    read, notes = ends([("10", "99"), ("98", "99"), ("98", "20")], "add")
    assert read.ids.values.tolist() == [10, 20, 30, 98, 99]
    assert (read.pairs.tolist(), read.kept.tolist()) == ([[0, 3, 3], [4, 4, 1]], [True] * 3)
    assert notes == [
        "edges.csv: the reader added 2 nodes without a label, such as '98', which only the edges name."
    ]


def test_an_added_name_makes_all_ids_text():
    read, _ = ends([("10", "ten"), ("20", "10.0")], "add")
    assert read.ids.values.tolist() == ["10", "20", "30", "ten"]
    assert read.pairs.tolist() == [[0, 1], [3, 0]]


@pytest.mark.parametrize(
    ("pairs", "choice", "message"),
    [
        ([("10", "20"), ("10", "99")], "error", r"'99' in the column 't', row 2, .* look like '10' \(1 of 2"),
        ([("10", "20"), ("1", "2"), ("3", "4")], "drop", r"'1' in the column 's', row 2, .*\(2 of 3 edges"),
        (
            [("10", "20"), ("10", None)],
            "drop",
            r"the column 't' is empty in row 2 \(1 in all\): fill in both",
        ),
    ],
)
def test_refusals(pairs, choice, message):
    with pytest.raises(InputError, match=message):
        ends(pairs, choice)


def test_the_choice_is_checked():
    check_unknown_edges("add")
    with pytest.raises(InputError, match="unknown_edges is 'keep': choose one of drop, error, add"):
        check_unknown_edges("keep")
