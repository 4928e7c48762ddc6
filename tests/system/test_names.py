"""Names of nodes and classes, and how files hold them."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system import names as module
from otherhalf.system.names import LONGEST_CLASS, LONGEST_NAME, as_text, checked_ids, from_arrays, to_arrays

EDGES = [[0], [1]]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (np.array(["a", "é"]), ["a", "é"]),
        (np.array([b"a", "é".encode()]), ["a", "é"]),
        (np.array(["a", 1, 1.5], dtype=object), ["a", "1", "1.5"]),
        (np.array([1.5, 2.0]), ["1.5", "2.0"]),
        (np.array(["2020-01-31"], dtype="M8[D]"), ["2020-01-31"]),
    ],
)
def test_text(values, texts):
    names = as_text(values, "node id", 10)
    assert names.dtype == object
    assert names.tolist() == texts


@pytest.mark.parametrize("values", [np.array([b"\xff"]), np.array(["\ud800"], dtype=object)])
def test_what_is_no_unicode_is_refused(values):
    with pytest.raises(InputError, match="a node id is not Unicode text"):
        as_text(values, "node id", 10)


def test_ids_as_long_as_they_may_be_and_longer():
    assert checked_ids(["a", "b" * LONGEST_NAME], 2)[1] == "b" * LONGEST_NAME
    with pytest.raises(InputError, match=r"the node id 'b+…' has 10,001 characters: give at most 1"):
        checked_ids(["a", "b" * (LONGEST_NAME + 1)], 2)
    with pytest.raises(InputError, match=r"the label 'b+…' has 1,001 characters: give at most 1"):
        Graph(edges=EDGES, x=np.ones((2, 1)), y=["a", "b" * (LONGEST_CLASS + 1)])
    with pytest.raises(InputError, match=r"the class 'b+…' has 1,001 characters"):
        Graph(edges=EDGES, x=np.ones((2, 1)), y=[0, 0], classes=["b" * (LONGEST_CLASS + 1)])


def test_one_long_id_does_not_widen_the_others(tmp_path):
    """With a fixed width, 3,000 times 9,000 characters are 108 MB, and each copy is as much."""
    ids = [*(f"n{i}" for i in range(2999)), "x" * 9000]
    tracemalloc.start()
    graph = Graph(edges=EDGES, x=np.ones((3000, 1)), ids=ids)
    graph.to_npz(tmp_path / "g.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
    assert Graph.node_names(graph).tolist() == ids


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1))
def test_names_come_back_from_both_forms(names):
    given_names = np.empty(len(names), dtype=object)
    given_names[:] = names
    for widest in (2**26, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "WIDEST", widest)
            arrays = to_arrays("ids", given_names)
        assert all(array.dtype != object for array in arrays.values())
        assert from_arrays("ids", arrays).tolist() == names
    assert from_arrays("other", arrays) is None


@pytest.mark.parametrize(
    ("content", "ends", "message"),
    [
        (b"abc", [1, 2], "ids_bytes and ids_ends do not fit together"),
        (b"abc", [2, 1, 3], "ids_bytes and ids_ends do not fit together"),
        (b"abc", [-1, 3], "ids_bytes and ids_ends do not fit together"),
        (b"abc", [1.0, 3.0], "ids_bytes and ids_ends do not fit together"),
        (b"\xff", [1], "ids_bytes is not UTF-8 text"),
    ],
)
def test_damaged_bytes(content, ends, message):
    with pytest.raises(InputError, match=message):
        from_arrays("ids", {"ids_bytes": np.frombuffer(content, np.uint8), "ids_ends": np.array(ends)})


def test_a_file_with_one_long_name(tmp_path):
    from otherhalf.data.npz import read_npz

    ids = [*(f"n{i}" for i in range(2999)), "é" * 9000]
    Graph(edges=EDGES, x=np.ones((3000, 1)), ids=ids).to_npz(tmp_path / "g.npz")
    assert read_npz(tmp_path / "g.npz").ids.tolist() == ids
