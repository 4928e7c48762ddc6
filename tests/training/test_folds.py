"""Folds: every class is spread evenly, every node has one fold, and the seed decides which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.training.folds import stratified_folds


def test_two_folds_by_hand():
    folds = stratified_folds(np.array([0, 0, 1, 1]), 2, seed=0)
    # One node of each class in each fold.
    assert sorted(folds[:2]) == sorted(folds[2:]) == [0, 1]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 7), st.integers(0, 1000))
def test_folds_have_equal_shares_of_every_class_up_to_one_node(codes, count, seed):
    codes = np.array(codes)
    folds = stratified_folds(codes, count, seed)
    assert folds.shape == codes.shape
    for nodes in (slice(None), *(codes == c for c in np.unique(codes))):
        sizes = np.bincount(folds[nodes], minlength=count)
        assert len(sizes) == count  # no fold beyond the last
        assert sizes.max() - sizes.min() <= 1


def test_a_class_smaller_than_the_number_of_folds():
    folds = stratified_folds(np.array([0] * 10 + [1]), 5, seed=0)
    assert np.bincount(folds[:10]).tolist() == [2] * 5
    assert 0 <= folds[10] < 5


def test_the_seed_decides():
    codes = np.arange(40) % 3
    first = stratified_folds(codes, 4, 0)
    np.random.seed(5)  # noqa: NPY002
    np.testing.assert_array_equal(stratified_folds(codes, 4, 0), first)
    assert (stratified_folds(codes, 4, 1) != first).any()


@pytest.mark.parametrize("node", [0, 7, 23])
def test_no_node_is_always_in_the_same_fold(node):
    codes = np.arange(24) % 3
    assert {int(stratified_folds(codes, 4, seed)[node]) for seed in range(60)} == {0, 1, 2, 3}
