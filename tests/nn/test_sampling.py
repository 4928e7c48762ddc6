"""Samples are edges of the graph, uniform without replacement, and the same for the same seed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.nn.sampling import ALL, NeighbourSampling


def random_rows(nodes, density, seed):
    return sp.random(nodes, nodes, density=density, random_state=seed, format="csr", dtype=np.float32)


@given(
    nodes=st.integers(1, 30),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    fanout=st.lists(st.sampled_from([ALL, 1, 2, 3, 7, 100]), min_size=1, max_size=3),
    seed=st.integers(0, 100),
)
@settings(max_examples=80, deadline=None)
def test_a_sample_is_a_part_of_the_graph(nodes, density, fanout, seed):
    matrix = random_rows(nodes, density, seed)
    sampling = NeighbourSampling(matrix, fanout)
    seeds = np.random.default_rng(seed).permutation(nodes)[: 1 + nodes // 4]
    found = sampling.sample(seeds, seed)
    np.testing.assert_array_equal(found.nodes[: found.within[0]], seeds)
    assert len(set(found.nodes.tolist())) == len(found.nodes) == found.within[-1]
    assert len(found.crow) == found.within[-2] + 1
    for row in range(len(found.crow) - 1):
        node, part = found.nodes[row], slice(found.crow[row], found.crow[row + 1])
        entries = found.entry[part]
        assert len(set(entries.tolist())) == len(entries)
        assert ((entries >= matrix.indptr[node]) & (entries < matrix.indptr[node + 1])).all()
        np.testing.assert_array_equal(found.nodes[found.col[part]], matrix.indices[entries])
        hop = int(np.searchsorted(found.within, row, side="right"))
        degree = int(np.diff(matrix.indptr)[node])
        assert len(entries) == (degree if fanout[hop] == ALL else min(degree, fanout[hop]))
    again = NeighbourSampling(matrix, fanout).sample(seeds, seed)
    twice = sampling.sample(seeds, seed)  # nothing is left of the sample before
    for other in (again, twice):
        np.testing.assert_array_equal(found.entry, other.entry)
        np.testing.assert_array_equal(found.nodes, other.nodes)


@pytest.mark.parametrize(("degree", "fanout"), [(40, 3), (5, 4)])  # Floyd's draw, and one pass
def test_every_neighbour_is_as_likely(degree, fanout):
    star = sp.csr_matrix(
        (np.ones(degree), (np.zeros(degree, int), np.arange(1, degree + 1))), (degree + 1,) * 2
    )
    sampling, draws = NeighbourSampling(star, [fanout]), 4000
    counts, pairs = np.zeros(degree), 0
    for seed in range(draws):
        entry = sampling.sample(np.array([0]), seed).entry
        counts[entry] += 1
        pairs += {0, degree - 1} <= set(entry.tolist())
    share = fanout / degree
    assert np.abs(counts - draws * share).max() < 4.5 * (draws * share * (1 - share)) ** 0.5
    both = draws * share * (fanout - 1) / (degree - 1)
    assert abs(pairs - both) < 4.5 * both**0.5


def test_nodes_draw_apart_and_hops_too():
    """Two nodes with the same neighbours do not draw the same ones, nor does a node with another seed."""
    wide = sp.csr_matrix(np.concatenate([np.ones((2, 102)), np.zeros((100, 102))]).astype(np.float32))
    found = NeighbourSampling(wide, [10]).sample(np.array([0, 1]), 0)
    first, second = np.split(found.nodes[found.col], 2)
    other = NeighbourSampling(wide, [10]).sample(np.array([0]), 1)
    assert set(first.tolist()) != set(second.tolist())
    assert set(first.tolist()) != set(other.nodes[other.col].tolist())


def test_bad_input():
    matrix = random_rows(5, 0.5, 0)
    for fanout in ([], [0], [2, -2]):
        with pytest.raises(InputError, match="fanout must be numbers ≥ 1"):
            NeighbourSampling(matrix, fanout)
    sampling = NeighbourSampling(matrix, [2])
    for seeds in ([], [1, 1]):
        with pytest.raises(InputError, match="each once: leave out repeats"):
            sampling.sample(np.array(seeds, dtype=np.int64), 0)
    assert len(sampling.sample(np.array([1]), 0).nodes) >= 1
