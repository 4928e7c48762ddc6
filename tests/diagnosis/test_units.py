from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.similarity import GRID
from otherhalf.diagnosis.units import BAG_COLUMNS, UnitFree
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.nn.inputs import Scaling


def array(rows) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


# ---------------------------------------------------------------------- which scaling


def test_sparse_features_stay_as_they_are():
    x = sp.csr_matrix(array([[0, 5], [7, 0], [0, 1]]))
    free = UnitFree.of(x)
    assert free.x is x
    assert free.scaling == "none"


def test_a_dense_bag_of_words_stays_as_it_is_and_a_few_columns_of_counts_do_not():
    x = np.zeros((10, BAG_COLUMNS), dtype=np.float32)
    x[:, : BAG_COLUMNS // 2] = np.arange(1, 11)[:, None]
    free = UnitFree.of(x)
    assert free.x is x
    assert free.scaling == "none"
    assert UnitFree.of(x[:, 1:]).scaling == "standard"  # too few columns
    assert UnitFree.of(x - array([2] + [0] * (BAG_COLUMNS - 1))).scaling == "standard"  # a negative value
    x[:, BAG_COLUMNS // 2] = 0.5
    assert UnitFree.of(x).scaling == "standard"  # more than half are not 0


def test_columns_of_two_values_become_0_and_1():
    """A constant column says nothing: it becomes 0."""
    free = UnitFree.of(array([[0, 2, -1e38, 7], [1, 1, 3e38, 7], [1, 2, -1e38, 7]]))
    assert free.scaling == "binary"
    assert free.x.tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]
    assert free.x.dtype == np.float32
    assert free.used_columns() == 3


def test_other_columns_are_standardised_by_hand():
    """(1, 2, 3) has mean 2 and deviation √(2/3); a constant column becomes 0."""
    free = UnitFree.of(array([[1, 0, 5], [2, 0, 5], [3, 3, 5]]))
    assert free.scaling == "standard"
    step = np.sqrt(3 / 2)
    np.testing.assert_allclose(free.x[:, 0], [-step, 0, step], rtol=1e-6)
    np.testing.assert_allclose(free.x[:, 1], [-np.sqrt(0.5), -np.sqrt(0.5), np.sqrt(2)], rtol=1e-6)
    assert free.x[:, 2].tolist() == [0, 0, 0]
    assert free.used_columns() == 2


def test_models_standardise_the_same_way():
    x = np.random.default_rng(0).normal(3, 2, size=(50, 4)).astype(np.float32)
    scaled = Scaling.fit(x, "standard").apply(x)
    np.testing.assert_allclose(UnitFree.of(x).x, scaled, atol=2 / GRID)


def test_large_numbers_do_not_overflow():
    free = UnitFree.of(array([[3e38], [-3e38], [1e38], [0]]))
    assert np.isfinite(free.x).all()
    assert free.x.std() == pytest.approx(1)


def test_used_columns_of_sparse_features():
    assert UnitFree.of(sp.csr_matrix(array([[0, 5, 0], [0, 1, 2]]))).used_columns() == 2


# ---------------------------------------------------------------------- units play no part

# Powers of ten, and feet in metres; offsets such as those between years or temperature scales.
FACTORS = st.sampled_from([0.001, 0.3048, 1.0, 1000.0])
OFFSETS = st.sampled_from([-1970.0, 0.0, 273.15])


@given(
    changes=st.lists(st.tuples(FACTORS, OFFSETS), min_size=2, max_size=5),
    homophily=st.sampled_from([0.1, 0.9]),
    seed=st.integers(0, 50),
)
@settings(max_examples=30, deadline=None)
def test_the_unit_of_a_column_changes_neither_d_nor_the_verdict(changes, homophily, seed):
    graph = contextual_sbm(150, num_features=len(changes), homophily=homophily, seed=seed)
    factors, offsets = np.array(changes).T
    before = diagnose(graph, draws=3, simple=False)
    after = diagnose(replace(graph, x=graph.x * factors + offsets * factors), draws=3, simple=False)
    # Rounding may move a pair across the border of a cell of the grid: D then changes by a pair in 750.
    assert after.ks == pytest.approx(before.ks, abs=3 / graph.num_edges)
    assert after.scaling == before.scaling == "standard"
    if abs(before.ks - before.threshold) > 3 / graph.num_edges:
        assert after.tendency == before.tendency


@given(
    x=st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=20, max_size=20),
    factors=st.tuples(*[FACTORS] * 3),
    offsets=st.tuples(*[OFFSETS] * 3),
)
@settings(max_examples=30, deadline=None)
def test_nor_do_other_names_for_0_and_1(x, factors, offsets):
    given_names, others = array(x), np.array(x) * factors + offsets
    assert np.array_equal(UnitFree.of(given_names).x, UnitFree.of(others.astype(np.float32)).x)


def test_a_unit_would_have_changed_raw_cosines():
    """The test above can fail: without scaling the unit of one column decides the verdict."""
    graph = contextual_sbm(1000, num_features=3, num_classes=3, homophily=0.95, signal=3)
    large = replace(graph, x=sp.csr_matrix(graph.x * [1, 1, 1e4]))  # sparse features are not scaled
    raw = diagnose(replace(graph, x=sp.csr_matrix(graph.x)), simple=False)
    assert raw.ks - diagnose(large, simple=False).ks > 0.05
