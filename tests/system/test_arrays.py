import pickle
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.system.arrays import (
    Frozen,
    IntArray,
    column_moments,
    csr_of_parts,
    distinct_keys,
    frozen,
    sha256_of,
)


@dataclass(frozen=True, eq=False)
class Value(Frozen):
    numbers: IntArray
    name: str = "a"


def test_a_frozen_array_is_a_view_and_leaves_the_original_writable():
    array = np.arange(3)
    view = frozen(array)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 7
    array[0] = 5
    assert view.tolist() == [5, 1, 2]


def test_a_frozen_sparse_matrix_is_the_same_matrix():
    matrix = sp.csr_matrix(np.eye(2))
    assert frozen(matrix) is matrix
    for part in (matrix.data, matrix.indices, matrix.indptr):
        assert not part.flags.writeable


@pytest.mark.parametrize("value", ["text", 3, None, (1, 2)])
def test_other_values_stay_as_they_are(value):
    assert frozen(value) is value


@pytest.mark.parametrize("again", [deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_has_the_fields_read_only_and_nothing_else(again):
    value = Value(frozen(np.arange(3)), "b")
    object.__setattr__(value, "cached", np.ones(5))
    copied = again(value)
    assert (copied.numbers.tolist(), copied.name) == ([0, 1, 2], "b")
    assert not copied.numbers.flags.writeable
    assert "cached" not in vars(copied)


@given(st.lists(st.integers(0, 2**62)))
def test_distinct_keys(keys):
    assert distinct_keys(np.array(keys, dtype=np.int64)).tolist() == sorted(set(keys))


def test_the_hash_depends_on_values_types_and_shapes_and_not_on_storage():
    numbers = np.arange(6, dtype=np.int64)
    same = sha256_of([numbers])
    assert sha256_of([np.arange(12)[::2] // 2]) == same
    others = (numbers[::-1], numbers.reshape(2, 3), numbers.astype(np.int32))
    assert len({same, sha256_of([numbers, numbers]), *(sha256_of([other]) for other in others)}) == 5


def test_column_moments_by_hand():
    mean, deviation = column_moments(np.array([[1, 5, 0], [3, 5, 3]], dtype=np.float32))
    assert mean.tolist() == [2, 5, 1.5]
    assert deviation.tolist() == [1, 1, 1.5]  # that of the constant column, 0, is given as 1
    assert mean.dtype == deviation.dtype == np.float64


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([0, 1], [0, 2, 1]),
        ([0, 1], [0, 5, 0]),  # scipy's own check accepts it, and writes beyond its arrays later
        ([0, 1], [0, -1, 2]),
        ([0, 1], [0, 1, 3]),
        ([0, 7], [0, 1, 2]),
        ([0, -1], [0, 1, 2]),
        ([0, 1], [0, 2]),
    ],
)
def test_parts_that_make_no_matrix(indices, indptr):
    with pytest.raises(ValueError, match=r"."):
        csr_of_parts(np.ones(2), np.array(indices), np.array(indptr), (2, 2))


def test_parts_that_make_a_matrix():
    made = csr_of_parts(np.array([3.0, 4.0]), np.array([1, 0]), np.array([0, 1, 2]), (2, 2), np.float32)
    assert made.toarray().tolist() == [[0, 3], [4, 0]]
    assert csr_of_parts(np.zeros(0), np.zeros(0, int), np.zeros(1, int), (0, 3)).shape == (0, 3)
