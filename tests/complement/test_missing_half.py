"""The missing half as a value: its edges, what is counted over its pairs, and its file."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.system.test_html import texts

from otherhalf.complement.missing_half import KINDS, MissingHalf
from otherhalf.diagnosis.verdict import opposite
from otherhalf.errors import InputError

# 0 is joined to 1 and 2, 1 to 0 (the same edge again), 3 to 2; node 4 to nothing.
PAIRS = np.array([[0, 0, 1, 3], [1, 2, 0, 2]])
Y = np.array([0, 0, 1, 1, 0])

# The same pairs as a kernel half of both kinds: 0 and 1 are similar, 0 and 3 are unlike 2.
BOTH = MissingHalf(
    PAIRS,
    5,
    "both",
    1,
    3,
    weights=np.array([0.75, -1.0, 1.0, -0.5], dtype=np.float32),
    method="kernel",
    words="joined by similar features",
)


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


def test_repr_of_a_kernel_half_names_the_training_nodes_and_what_joins_them():
    # Compared with three training nodes of five: that is no sample of the nodes.
    assert repr(BOTH) == (
        "MissingHalf(both, 3 edges, each node to 1 + 1 of 3 training nodes, joined by similar features)"
    )
    assert repr(BOTH.part("homophily")) == (
        "MissingHalf(homophily, 1 edges, each node to 1 of 3 training nodes, joined by similar features)"
    )
    assert repr(replace(BOTH, kind="heterophily", words="")) == (
        "MissingHalf(heterophily, 3 edges, each node to 1 of 3 training nodes)"
    )
    assert repr(MissingHalf(PAIRS, 5, "both", 2, 5)) == (
        "MissingHalf(both, 3 edges, 2 most and least similar of each node)"
    )


def test_only_an_embedding_is_compared_with_a_sample_of_the_nodes():
    assert MissingHalf(PAIRS, 5, "homophily", 2, 4).sampled
    assert not MissingHalf(PAIRS, 5, "homophily", 2, 5).sampled
    assert not BOTH.sampled


# ---------------------------------------------------------------------- weights


def test_parts_of_a_half_of_both_kinds():
    similar, dissimilar = BOTH.part("homophily"), BOTH.part("heterophily")
    assert (similar.kind, dissimilar.kind) == ("homophily", "heterophily")
    assert similar.pairs.tolist() == [[0, 1], [1, 0]]
    assert similar.weights.tolist() == [0.75, 1]
    assert dissimilar.pairs.tolist() == [[0, 3], [2, 2]]
    assert dissimilar.weights.tolist() == [-1, -0.5]
    for part in (similar, dissimilar):
        assert (part.k, part.candidates, part.method, part.words) == (1, 3, "kernel", BOTH.words)
    assert BOTH.part("both") is BOTH


def test_the_other_part_of_a_half_of_one_kind_is_empty():
    for half in (BOTH.part("homophily"), MissingHalf(PAIRS, 5, "homophily", 2, 5)):
        assert half.part("homophily") is half
        other = half.part("heterophily")
        assert other.pairs.shape == (2, 0)
        assert other.kind == "heterophily"
        assert other.matrix.nnz == other.num_edges == 0
        assert other.operator.shape == (5, 5)


def test_without_weights_nothing_says_the_kind_of_a_pair():
    with pytest.raises(ValueError, match="a half of both kinds needs weights"):
        MissingHalf(PAIRS, 5, "both", 2, 5).part("homophily")


def test_the_matrix_of_a_weighted_half_goes_one_way_and_has_no_sign():
    expected = [
        [0, 0.75, 1, 0, 0],
        [1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0.5, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert BOTH.matrix.toarray().tolist() == expected
    assert BOTH.matrix.dtype == np.float32
    assert BOTH.operator.matrix.to_dense().tolist() == expected
    assert not BOTH.operator.symmetric
    assert BOTH.operator.transpose.to_dense().T.tolist() == expected
    assert BOTH.matrix is BOTH.matrix
    # Its edges are those of the undirected simple graph.
    assert BOTH.num_edges == 3


def test_the_matrix_without_weights_is_that_of_the_operator():
    half = MissingHalf(PAIRS, 5, "homophily", 2, 5)
    np.testing.assert_array_equal(half.matrix.toarray(), half.operator.matrix.to_dense().numpy())


def test_a_pair_that_was_found_twice_weighs_twice():
    pairs = np.array([[0, 0, 1], [2, 2, 2]])
    half = MissingHalf(pairs, 3, "homophily", 2, 1, weights=np.array([0.5, 0.5, 1], dtype=np.float32))
    assert half.matrix.toarray().tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]


def test_weights_survive_a_copy_and_stay_read_only():
    again = pickle.loads(pickle.dumps(BOTH))
    assert again.weights.tolist() == BOTH.weights.tolist()
    assert (again.method, again.words) == ("kernel", BOTH.words)
    with pytest.raises(ValueError, match="read-only"):
        again.weights[0] = 1


# ---------------------------------------------------------------------- its file


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


def assert_same(read: MissingHalf, written: MissingHalf) -> None:
    assert read.pairs.dtype == np.int64
    assert np.array_equal(read.pairs, written.pairs)
    assert (read.weights is None) == (written.weights is None)
    if read.weights is not None:
        assert read.weights.dtype == np.float32
        assert np.array_equal(read.weights, written.weights)
    same = ("num_nodes", "kind", "k", "candidates", "encoder", "num_edges", "sampled", "method", "words")
    for name in same:
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


def test_a_kernel_half_comes_back_from_its_file(tmp_path):
    for half in (BOTH, BOTH.part("heterophily"), replace(BOTH, words="gemeinsame Nachbarn, 100 % ‒ «ja»")):
        half.to_npz(tmp_path / "half.npz")
        read = MissingHalf.from_npz(tmp_path / "half.npz")
        assert_same(read, half)
        assert (read.matrix != half.matrix).nnz == 0
        assert repr(read) == repr(half)


def test_a_file_of_an_earlier_version_still_loads(tmp_path):
    path = tmp_path / "half.npz"
    np.savez_compressed(
        path,
        edge_index=np.array([[0, 0, 2], [1, 2, 3]], dtype=np.int32),
        pairs=PAIRS.astype(np.int32),
        num_nodes=np.array(5),
        kind=np.array("heterophily"),
        k=np.array(2),
        candidates=np.array(4),
        encoder=np.array("gcn"),
    )
    assert_same(MissingHalf.from_npz(path), MissingHalf(PAIRS, 5, "heterophily", 2, 4, "gcn"))


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 1000),
    nodes=st.integers(1, 30),
    count=st.integers(0, 60),
    kind=st.sampled_from(KINDS),
    weighted=st.booleans(),
)
def test_any_half_comes_back_from_its_file(tmp_path_factory, seed, nodes, count, kind, weighted):
    rng = np.random.default_rng(seed)
    half = MissingHalf(rng.integers(0, nodes, (2, count)), nodes, kind, 3, nodes, "auto")
    if weighted:
        half = replace(half, weights=rng.standard_normal(count, dtype=np.float32), method="kernel")
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
        {"method": "guess"},
        {"method": ["kernel", "embedding"]},
        {"weights": [0.5, 0.5]},
        {"weights": np.ones((2, 4))},
        {"weights": ["a", "b", "c", "d"]},
        {"weights": [1, 1, 1, np.nan]},
        {"weights": [1, 1, 1, np.inf]},
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


def test_in_a_notebook_names_are_text():
    found = texts(replace(BOTH, words="joined by <script>")._repr_html_())
    assert found == [
        *("Missing half", "kind", "homophilic and heterophilic", "edges", "3 between 5 nodes"),
        *("joined", "each node to 1 + 1 of 3 training nodes", "made of", "joined by <script>"),
    ]
    plain = texts(MissingHalf(PAIRS, 5, "homophily", 2, 5, encoder="gcn")._repr_html_())
    assert plain[-4:] == ["joined", "2 most similar of each node", "encoder", "gcn"]
