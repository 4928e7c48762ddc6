"""The spectrum of I + Â_tÂ_o: by hand, against dense eigenvalues, and where the paper's argument fails."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import otherhalf as oh
from otherhalf import spectral
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.nn.backbone import Architecture
from otherhalf.spectral import filter_accuracy, spectral_range
from otherhalf.system.adjacency import symmetric_adjacency
from otherhalf.training.loop import TrainingSettings


def adjacency(edges, nodes):
    return symmetric_adjacency(np.array(edges, dtype=np.int64).reshape(-1, 2).T, nodes)


def dense_normalized(matrix, normalization="symmetric"):
    """Edge by edge."""
    a = matrix.toarray().astype(float)
    degree = a.sum(axis=1)
    for i, j in np.argwhere(a):
        a[i, j] = 1 / np.sqrt(degree[i] * degree[j]) if normalization == "symmetric" else 1 / degree[i]
    return a


def dense_m(homophilic, heterophilic, normalization="symmetric"):
    a_o, a_t = (dense_normalized(a, normalization) for a in (homophilic, heterophilic))
    return np.eye(len(a_o)) + a_t @ a_o


def real_range(found):
    return found.smallest.real, found.largest.real


def symmetric_range(found):
    return found.symmetric_smallest, found.symmetric_largest


def bounds(found):
    return 1 - found.norm, 1 + found.norm


def complex_ends(found):
    return max(abs(found.smallest.imag), abs(found.largest.imag)) > spectral.ZERO


# ---------------------------------------------------------------------- by hand


def test_ideal_halves_have_eigenvalue_zero():
    # Classes {0, 1} and {2, 3}. x = (1, 1, −1, −1): Â_o x = x and Â_t x = −x, so (I + Â_tÂ_o) x = 0.
    # Both halves are permutations and so is their product, x → (x3, x2, x1, x0): M has the eigenvalues 0, 2.
    found = spectral_range(adjacency([(0, 1), (2, 3)], 4), adjacency([(0, 2), (1, 3)], 4))
    assert real_range(found) == pytest.approx((0, 2))
    assert symmetric_range(found) == pytest.approx((0, 2))
    assert bounds(found) == pytest.approx((0, 2))
    assert found.positive_semidefinite
    assert not found.positive_definite
    assert not complex_ends(found)


def test_a_cycle_of_six_has_complex_eigenvalues():
    # Â_tÂ_o turns the even nodes by two places one way and the odd ones the other: cube roots of 1.
    found = spectral_range(
        adjacency([(0, 1), (2, 3), (4, 5)], 6), adjacency([(1, 2), (3, 4), (5, 0)], 6), seed=3
    )
    assert found.smallest == pytest.approx(0.5 + 1j * np.sqrt(3) / 2)
    assert found.largest == pytest.approx(2)
    assert symmetric_range(found) == pytest.approx((0.5, 2))
    assert complex_ends(found)
    assert found.positive_definite


def test_eigenvalues_do_not_tell_the_quadratic_form():
    # Â_o swaps 0 and 1, Â_t swaps 1 and 2: Â_tÂ_o takes node 0 to node 2 and the others to nothing. M has
    # the eigenvalue 1 only; xᵀMx = ‖x‖² + x0 x2 ranges from ½ to 3/2.
    found = spectral_range(adjacency([(0, 1)], 3), adjacency([(1, 2)], 3))
    assert real_range(found) == pytest.approx((1, 1), abs=1e-6)
    assert symmetric_range(found) == pytest.approx((0.5, 1.5))
    assert bounds(found) == pytest.approx((0, 2))


def test_positive_eigenvalues_are_no_proof_with_row_normalisation():
    # Row i of D⁻¹A_t D⁻¹A_o is (0, 1, 0, …) for every leaf, and (1/10, 0, …) for node 0.
    edge, star = adjacency([(0, 1)], 11), adjacency([(0, leaf) for leaf in range(1, 11)], 11)
    m = dense_m(edge, star, "row")
    x = np.array([0, 2] + 9 * [-1])
    assert x @ m @ x == pytest.approx(-1)
    assert sorted({round(v, 6) for v in np.linalg.eigvals(m).real}) == [1.0, 1.1, 2.0]
    found = spectral_range(edge, star, normalization="row")
    assert real_range(found) == pytest.approx((1, 2))
    assert found.symmetric_smallest < 0
    assert not found.positive_semidefinite
    assert spectral_range(edge, star).positive_semidefinite  # the paper's own normalisation


def test_the_example_of_the_docstring():
    m = np.array([[1.0, 4.0], [0.0, 1.0]])
    x = np.array([1.0, -1.0])
    assert np.linalg.eigvals(m).tolist() == [1, 1]
    assert x @ m @ x == -2


def test_row_normalisation_ends_at_two_without_isolated_nodes():
    path, ring = adjacency([(0, 1), (1, 2), (2, 3)], 4), adjacency([(0, 2), (2, 1), (1, 3), (3, 0)], 4)
    assert spectral_range(path, ring, normalization="row").largest == pytest.approx(2)
    assert spectral_range(path, ring).largest.real < 1.99


@pytest.mark.parametrize("nodes", [1, 2, 250])
def test_without_edges_everything_is_one(nodes):
    empty = adjacency([], nodes)
    found = spectral_range(empty, empty)
    assert (*real_range(found), *symmetric_range(found)) == pytest.approx((1, 1, 1, 1))
    assert found.norm == pytest.approx(0, abs=1e-4)


# ---------------------------------------------------------------------- against dense eigenvalues


def random_halves(nodes, count, seed):
    rng = np.random.default_rng(seed)
    return [symmetric_adjacency(rng.integers(nodes, size=(2, count)), nodes) for _ in range(2)]


@pytest.mark.parametrize("normalization", ["symmetric", "row"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_arpack_equals_the_dense_matrix(monkeypatch, seed, normalization):
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    homophilic, heterophilic = random_halves(60, 90, seed)
    found = spectral_range(homophilic, heterophilic, seed=seed, normalization=normalization)
    m = dense_m(homophilic, heterophilic, normalization)
    values = np.linalg.eigvals(m)
    parts = np.linalg.eigvalsh((m + m.T) / 2)
    assert real_range(found) == pytest.approx((values.real.min(), values.real.max()), abs=1e-7)
    assert np.abs(values - found.smallest).min() < 1e-7
    assert np.abs(values - found.largest).min() < 1e-7
    assert symmetric_range(found) == pytest.approx((parts[0], parts[-1]), abs=1e-7)
    assert found.norm == pytest.approx(np.linalg.norm(m - np.eye(60), 2), abs=1e-7)
    assert max(found.smallest_residual, found.largest_residual, found.symmetric_residual) < 1e-7


def test_arpack_finds_complex_and_zero_ends(monkeypatch):
    # Three cycles of six (½ ± i√3/2) and, for the second, four copies of the ideal halves (0).
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    o = [(6 * c + i, 6 * c + i + 1) for c in range(3) for i in (0, 2, 4)]
    t = [(6 * c + i, 6 * c + (i + 1) % 6) for c in range(3) for i in (1, 3, 5)]
    found = spectral_range(adjacency(o, 18), adjacency(t, 18))
    assert found.smallest == pytest.approx(0.5 + 1j * np.sqrt(3) / 2, abs=1e-7)
    o = [(4 * c + i, 4 * c + i + 1) for c in range(4) for i in (0, 2)]
    t = [(4 * c + i, 4 * c + i + 2) for c in range(4) for i in (0, 1)]
    found = spectral_range(adjacency(o, 16), adjacency(t, 16))
    assert real_range(found) == pytest.approx((0, 2), abs=1e-7)
    assert not found.positive_definite


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12), st.integers(0, 20), st.integers(0, 2**20))
def test_the_ranges_lie_within_each_other(nodes, count, seed):
    found = spectral_range(*random_halves(nodes, count, seed))
    small = 1e-6  # σ is off by the root of a rounding error where it is 0
    ends = [0, bounds(found)[0], found.symmetric_smallest, found.smallest.real]
    ends += [found.largest.real, found.symmetric_largest, bounds(found)[1], 2]
    assert all(a <= b + small for a, b in pairwise(ends))
    assert found.positive_semidefinite
    assert 0 <= found.smallest.imag <= 1 + small
    assert max(found.smallest_residual, found.largest_residual, found.symmetric_residual) < small


def test_the_same_seed_gives_the_same_bits():
    halves = random_halves(300, 900, 5)
    assert spectral_range(*halves, seed=1) == spectral_range(*halves, seed=1)
    assert spectral_range(*halves, seed=1).smallest == pytest.approx(spectral_range(*halves, seed=2).smallest)


def test_plain_values_can_be_json():
    values = spectral_range(adjacency([(0, 1)], 3), adjacency([(1, 2)], 3)).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["positive_definite"] is True


# ---------------------------------------------------------------------- refusals


def test_halves_of_two_graphs_are_refused():
    with pytest.raises(InputError, match="3 and 4 nodes: give two halves of one graph"):
        spectral_range(adjacency([(0, 1)], 3), adjacency([(0, 1)], 4))


def test_an_unknown_normalization_is_refused():
    with pytest.raises(InputError, match="normalization must be one of symmetric, row, not"):
        spectral_range(adjacency([(0, 1)], 3), adjacency([(0, 1)], 3), normalization="column")


def test_more_vectors_are_tried_before_it_gives_up(monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_NODES", 0)
    halves = random_halves(300, 700, 0)
    expected = spectral_range(*halves)
    monkeypatch.setattr(spectral, "ATTEMPTS", ((3, 1), (120, 1000)))
    assert spectral_range(*halves).smallest == pytest.approx(expected.smallest, abs=1e-7)
    monkeypatch.setattr(spectral, "ATTEMPTS", ((3, 1),))
    with pytest.raises(RuntimeError, match="did not find the eigenvalue at the end 'SR'"):
        spectral_range(*halves)


# ---------------------------------------------------------------------- filters

SMALL = Architecture(hidden=8, dropout=0.2)
SHORT = TrainingSettings(epochs=40, patience=40)


@pytest.fixture(scope="module")
def alternating():
    """Neighbours are always of another class, and own features say little: a high-pass filter's graph."""
    graph = contextual_sbm(300, 2, 8, average_degree=12, homophily=0.0, signal=0.7, seed=0)
    return graph, oh.split(graph, "uniform", seed=0)


def test_filter_accuracy_is_a_record_that_a_seed_determines(alternating):
    first = filter_accuracy(*alternating, "low", 0, architecture=SMALL, training=SHORT)
    assert first == filter_accuracy(*alternating, "low", 0, architecture=SMALL, training=SHORT)
    assert first.keys() == {"test", "val", "epochs"}
    assert 0 <= first["test"] <= 1
    assert first["epochs"] <= 40


def test_the_high_pass_filter_is_better_where_neighbours_differ(alternating):
    low, high = (
        filter_accuracy(*alternating, kind, 0, architecture=SMALL, training=SHORT)["test"]
        for kind in ("low", "high")
    )
    assert high > low + 0.1


def test_filter_accuracy_leaves_the_callers_random_state(alternating):
    before = torch.get_rng_state()
    filter_accuracy(*alternating, "high", 0, architecture=SMALL, training=TrainingSettings(epochs=1))
    assert torch.equal(before, torch.get_rng_state())
