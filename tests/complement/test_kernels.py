"""Kernels against the formula, entry by entry; mixtures; and what they say in words."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.complement import kernels as module
from otherhalf.complement import search
from otherhalf.complement.basis import Basis
from otherhalf.complement.descriptions import DESCRIPTIONS, Descriptions
from otherhalf.complement.kernels import MENTIONED, Kernel, Similarities, cosines, mixture_block, words_of
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling

# The path 0 – 1 – 2, and 3 – 4. Node 4 has no features.
X = np.array([[3, 4], [1, 0], [0, 2], [6, 8], [0, 0]], dtype=np.float32)
EDGES = np.array([[0, 1, 3], [1, 2, 4]])
COSINE = np.array(
    [[1, 0.6, 0.8, 1, 0], [0.6, 1, 0, 0.6, 0], [0.8, 0, 1, 0.8, 0], [1, 0.6, 0.8, 1, 0], [0, 0, 0, 0, 0]]
)
ALL = np.arange(5)


def described(x=X, edges=EDGES) -> Descriptions:
    graph = Graph(edges=edges, x=x)
    return Descriptions(graph, Basis.of(graph, Scaling("none")))


def random_descriptions(seed: int, nodes: int, features: int = 5) -> Descriptions:
    rng = np.random.default_rng(seed)
    x = (rng.random((nodes, features)) < 0.5).astype(np.float32)
    edges = np.concatenate([[[0], [1]], rng.integers(0, nodes, (2, 2 * nodes))], axis=1)
    return described(sp.csr_matrix(x), edges)


# ---------------------------------------------------------------------- cosines


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_cosines_by_hand(make):
    found = cosines(described(make(X)), "features", ALL, ALL)
    np.testing.assert_allclose(found.numpy(), COSINE, atol=1e-6)


def test_rows_and_columns_may_be_any_nodes_in_any_order():
    rows, columns = np.array([3, 0]), np.array([4, 2, 1])
    found = cosines(described(), "features", rows, columns)
    np.testing.assert_allclose(found.numpy(), COSINE[rows][:, columns], atol=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7])
def test_sparse_rows_in_blocks_equal_dense_ones(monkeypatch, rows):
    monkeypatch.setattr(module, "TILE", 14)
    # One feature in a hundred: the rows stay sparse.
    x = sp.random(7, 300, density=0.01, format="csr", dtype=np.float32, random_state=0)
    descriptions = described(x, np.array([[0], [1]]))
    unit = descriptions.rows("features")
    assert sp.issparse(unit)
    nodes = np.arange(7)[:rows]
    found = cosines(descriptions, "features", nodes, np.arange(7))
    assert found.shape == (rows, 7)
    np.testing.assert_allclose(found.numpy(), (unit @ unit.T).toarray()[nodes], atol=1e-6)


# ---------------------------------------------------------------------- one kernel


def test_a_kernel_by_hand():
    # 0 and 2: cosine 0.8, sums of features 7 and 2, one neighbour each.
    # 0 and 1: cosine 0.6, sums 7 and 1, one neighbour and two.
    kernel = Kernel("features", weight=0.5, sharpness=3.0, features=0.25, neighbours=2.0)
    found = mixture_block((kernel,), described(), np.array([0]), np.array([0, 1, 2]))
    by_features, by_neighbours = math.log(8 / 2) ** 2, math.log(2 / 3) ** 2
    expected = [
        0.5,
        0.5 * math.exp(3 * (0.6 - 1) - 0.25 * by_features - 2 * by_neighbours),
        0.5 * math.exp(3 * (0.8 - 1) - 0.25 * math.log(8 / 3) ** 2),
    ]
    np.testing.assert_allclose(found.numpy(), [expected], rtol=1e-5)


def test_a_zero_row_has_the_cosine_zero_with_itself_too():
    found = mixture_block((Kernel("features", sharpness=2.0),), described(), np.array([4]), ALL)
    np.testing.assert_allclose(found.numpy(), np.full((1, 5), math.exp(-2)), rtol=1e-6)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    name=st.sampled_from(["features", "rare_features", "contrast", "neighbours", "two_steps", "pagerank"]),
    factors=st.tuples(st.floats(0.1, 20), st.floats(0, 5), st.floats(0, 5)),
)
def test_a_kernel_is_symmetric_positive_definite_and_equal_to_the_formula(seed, name, factors):
    descriptions = random_descriptions(seed, 9)
    nodes = np.arange(9)
    sharpness, by_features, by_neighbours = factors
    found = mixture_block((Kernel(name, 1.0, *factors),), descriptions, nodes, nodes).numpy()
    rows = descriptions.rows(name)
    rows = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
    m, d = (descriptions.magnitudes[each].astype(np.float64) for each in ("features", "neighbours"))
    exponent = sharpness * (rows @ rows.T - 1)
    exponent -= by_features * np.subtract.outer(m, m) ** 2 + by_neighbours * np.subtract.outer(d, d) ** 2
    np.testing.assert_allclose(found, np.exp(exponent), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found, found.T, rtol=1e-5, atol=1e-7)
    assert np.linalg.eigvalsh(found.astype(np.float64)).min() > -1e-5


# ---------------------------------------------------------------------- mixtures


def test_a_mixture_is_the_sum_of_its_weighted_kernels():
    descriptions = random_descriptions(0, 9)
    kernels = [
        Kernel("features", 0.5),
        Kernel("two_steps", 0.3, 5.0, 0.1),
        Kernel("contrast", 0.2, 1.0, 0, 2.0),
    ]
    rows, columns = np.array([1, 4]), np.array([0, 4, 8])
    expected = sum(mixture_block((each,), descriptions, rows, columns) for each in kernels)
    torch.testing.assert_close(mixture_block(kernels, descriptions, rows, columns), expected)


@pytest.mark.parametrize("tile", [(1, 1), (7, 3), (64, 1024)])
@pytest.mark.parametrize("sparse", [False, True])
def test_tiles_and_blocks_of_any_size_give_the_same_bits(tile, sparse, monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.random((60, 40)) * (rng.random((60, 40)) < 0.5)
    graph = Graph(edges=rng.integers(0, 60, (2, 90)), x=sp.csr_matrix(x) if sparse else x)
    monkeypatch.setattr(search, "DENSE_SHARE", 2.0 if sparse else 0.0)
    descriptions = Descriptions(graph, Basis.of(graph, Scaling("none")))
    kernels = [Kernel(name, 0.5, 3.0, 0.3, 0.2) for name in ("features", "smoothed_1", "two_steps")]
    nodes, columns = rng.permutation(60), rng.permutation(60)[:50]
    whole = mixture_block(kernels, descriptions, nodes, columns)
    monkeypatch.setattr(module, "TILE", tile[0])
    monkeypatch.setattr(module, "TILE_COLUMNS", tile[1])
    fixed = Similarities(kernels, descriptions, columns)
    for step in (1, 7, 60):
        parts = [fixed.block(nodes[top : top + step]) for top in range(0, 60, step)]
        assert torch.equal(torch.cat(parts), whole)


def test_a_block_of_no_nodes_is_empty():
    descriptions = random_descriptions(0, 9)
    nothing, nodes = np.empty(0, dtype=np.int64), np.arange(9)
    assert mixture_block((Kernel("contrast"),), descriptions, nothing, nodes).shape == (0, 9)
    assert mixture_block((Kernel("contrast"),), descriptions, nodes, nothing).shape == (9, 0)


def test_a_block_goes_where_it_is_wanted():
    descriptions, nodes = random_descriptions(0, 9), np.arange(9)
    kernels = (Kernel("contrast", 0.5), Kernel("two_steps", 0.5))
    out = torch.full((9, 9), 7.0)
    fixed = Similarities(kernels, descriptions, nodes)
    assert fixed.block(nodes, out) is out
    assert torch.equal(out, fixed.block(nodes))


def test_a_block_leaves_the_descriptions_as_they_were():
    descriptions = random_descriptions(0, 9)
    kernels = [Kernel("contrast", features=1.0), Kernel("neighbours", neighbours=1.0)]
    first = mixture_block(kernels, descriptions, np.arange(9), np.arange(9))
    torch.testing.assert_close(
        mixture_block(kernels, descriptions, np.arange(9), np.arange(9)), first, rtol=0, atol=0
    )


# ---------------------------------------------------------------------- words


def test_words_of_a_kernel():
    assert Kernel("rare_targets").words == "the same targets of edges, weighted by rarity"
    assert Kernel("features", features=MENTIONED, neighbours=MENTIONED / 2).words == (
        "similar features, and a similar number of features"
    )
    assert Kernel("neighbours", features=3.0, neighbours=1.0).words == (
        "the same neighbours, and a similar number of features, and a similar number of neighbours"
    )


def test_words_of_a_mixture_by_falling_weight_each_once():
    kernels = [Kernel("pagerank", 0.2), Kernel("features", 0.5), Kernel("pagerank", 0.3, 9.0)]
    assert words_of(kernels) == "joined by similar features; by the same surroundings by PageRank"
    assert words_of(kernels[:1]) == "joined by the same surroundings by PageRank"


def test_dissimilar_nodes_are_not_joined_by_what_similar_ones_share():
    kernels = [Kernel("features", 0.6), Kernel("neighbours", 0.4)]
    assert words_of(kernels, "heterophily") == "joined for lack of similar features; of the same neighbours"
    assert words_of(kernels, "both") == (
        "joined by similar features; by the same neighbours; or for lack of it"
    )


def test_every_description_has_words_of_its_own():
    words = [Kernel(name).words for name in DESCRIPTIONS]
    assert all(words)
    assert len(set(words)) == len(words)
