"""The missing half as a value: its edges, what is counted over its pairs, and its file."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement.missing_half import KINDS, MissingHalf
from otherhalf.diagnosis.verdict import opposite
from otherhalf.errors import InputError

# 0 is joined to 1 and 2, 1 to 0 (the same edge again), 3 to 2; node 4 to nothing.
PAIRS = np.array([[0, 0, 1, 3], [1, 2, 0, 2]])
Y = np.array([0, 0, 1, 1, 0])


def test_adjacency_is_symmetric_and_simple():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    assert half.adjacency.toarray().tolist() == [
        [0, 1, 1, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 1, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert half.num_edges == 3


def test_homophily_counts_pairs_as_searched_by_hand():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    # 0→1 within, 0→2 between, 1→0 within, 3→2 within.
    assert half.homophily(Y) == 3 / 4
    assert half.homophily(Y, np.array([0])) == 1 / 2
    assert half.homophily(Y, np.array([1, 3])) == 1.0
    # No pair was searched from node 2.
    assert half.homophily(Y, np.array([2, 4])) is None


def test_homophily_leaves_out_pairs_with_an_unknown_end():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    assert half.homophily(np.array([0, 0, -1, -1, 0])) == 1.0  # 0→1 and 1→0 remain
    assert half.homophily(np.array([0, -1, -1, -1, 0])) is None


def test_repr_says_how_it_was_learned():
    assert repr(MissingHalf(PAIRS, 5, "homophily", 2, 5)) == (
        "MissingHalf(homophily, 3 edges, 2 most similar of each node)"
    )
    assert repr(MissingHalf(PAIRS, 5, "heterophily", 2, 4)) == (
        "MissingHalf(heterophily, 3 edges, 2 least similar of each node, 4 sampled candidates)"
    )


def test_the_file_holds_arrays_only(tmp_path):
    path = tmp_path / "half.npz"
    MissingHalf(PAIRS, 5, "heterophily", 2, 4, "gcn").to_npz(path)
    with np.load(path, allow_pickle=False) as file:
        read = {key: file[key] for key in file.files}
    assert read["edge_index"].tolist() == [[0, 0, 2], [1, 2, 3]]  # each undirected edge once
    assert read["pairs"].tolist() == PAIRS.tolist()
    scalars = {key: read[key].item() for key in ("num_nodes", "kind", "k", "candidates", "encoder")}
    assert scalars == {"num_nodes": 5, "kind": "heterophily", "k": 2, "candidates": 4, "encoder": "gcn"}
    assert [p.name for p in tmp_path.iterdir()] == ["half.npz"]


def test_the_missing_kind_is_the_other_one():
    assert opposite("homophily") == "heterophily"
    assert opposite("heterophily") == "homophily"


def test_the_operator_is_the_normalised_adjacency_matrix_and_made_once():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    # Node 0 and node 2 have two neighbours, 1 and 3 one, 4 none.
    s = 2**-0.5
    expected = torch.tensor(
        [[0, s, 1 / 2, 0, 0], [s, 0, 0, 0, 0], [1 / 2, 0, 0, s, 0], [0, 0, s, 0, 0], [0, 0, 0, 0, 0]]
    )
    torch.testing.assert_close(half.operator.matrix.to_dense(), expected)
    assert half.operator is half.operator
    assert half.operator.symmetric


# ---------------------------------------------------------------------- its file


def assert_same(read: MissingHalf, written: MissingHalf) -> None:
    assert read.pairs.dtype == np.int64
    assert np.array_equal(read.pairs, written.pairs)
    for name in ("num_nodes", "kind", "k", "candidates", "encoder", "num_edges", "sampled"):
        assert getattr(read, name) == getattr(written, name)
        assert type(getattr(read, name)) is type(getattr(written, name))
    assert (read.adjacency != written.adjacency).nnz == 0


@pytest.mark.parametrize("pairs", [PAIRS, np.empty((2, 0), dtype=np.int64)], ids=["pairs", "empty"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_half_comes_back_from_its_file(tmp_path, pairs, kind):
    half = MissingHalf(pairs, 5, kind, 2, 4, "gcn", {"search": 1.0})
    half.to_npz(tmp_path / "half.npz")
    assert_same(MissingHalf.from_npz(tmp_path / "half.npz"), half)
    assert_same(MissingHalf.from_npz(str(tmp_path / "half.npz")), half)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 1000), nodes=st.integers(1, 30), count=st.integers(0, 60), kind=st.sampled_from(KINDS)
)
def test_any_half_comes_back_from_its_file(tmp_path_factory, seed, nodes, count, kind):
    rng = np.random.default_rng(seed)
    half = MissingHalf(rng.integers(0, nodes, (2, count)), nodes, kind, 3, nodes, "auto")
    path = tmp_path_factory.mktemp("half") / "half.npz"
    half.to_npz(path)
    assert_same(MissingHalf.from_npz(path), half)


def refused(path) -> str:
    with pytest.raises(InputError) as caught:
        MissingHalf.from_npz(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(path) in sentence
    return sentence


NOT_A_HALF = "is not a missing half: give a file that `complement --out` wrote"


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "sideways"},
        {"kind": ["homophily", "heterophily"]},
        {"pairs": PAIRS[0]},
        {"pairs": PAIRS.T[:3]},
        {"pairs": PAIRS[:, None]},
        {"pairs": 3},
        {"pairs": np.array([["a"], ["b"]])},
        {"pairs": np.array([[0], [5]])},
        {"pairs": np.array([[-1], [0]])},
        {"num_nodes": 3},
        {"num_nodes": "five"},
        {"k": [1, 2]},
        {"candidates": "all"},
    ],
    ids=str,
)
def test_a_file_with_wrong_values_is_one_clear_sentence(tmp_path, change):
    path = tmp_path / "half.npz"
    MissingHalf(PAIRS, 5, "homophily", 2, 5).to_npz(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    np.savez(path, **{**arrays, **{key: np.array(value) for key, value in change.items()}})
    assert NOT_A_HALF in refused(path)


def test_a_foreign_file_is_one_clear_sentence(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, x=np.ones(3))
    assert "lacks the array(s) pairs, num_nodes, kind" in refused(path)
    path.write_text("something else")
    refused(path)
    refused(tmp_path / "absent.npz")
    refused(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_one_clear_sentence(tmp_path, share):
    path = tmp_path / "half.npz"
    MissingHalf(PAIRS, 5, "homophily", 2, 5).to_npz(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "damaged or cut short" in refused(path)


def test_an_array_of_python_objects_is_never_loaded(tmp_path):
    path = tmp_path / "half.npz"
    MissingHalf(PAIRS, 5, "homophily", 2, 5).to_npz(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    np.savez(path, **{**arrays, "encoder": np.array([{}], dtype=object)})
    assert "Python objects" in refused(path)
