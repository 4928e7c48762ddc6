import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.system.seeds import generator


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), 2**64 - 2])
def test_the_seed_alone_decides_and_the_global_state_is_not_touched(seed):
    np.random.seed(1)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    first = generator(seed).random(4).tolist()
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert generator(seed).random(4).tolist() == first
    assert generator(int(seed) + 1).random(4).tolist() != first


@pytest.mark.parametrize("seed", [-1, 0.5, 1.0, True, "1", None])
def test_other_values_are_refused(seed):
    with pytest.raises(InputError, match=f"the seed must be an integer ≥ 0, not {seed!r}"):
        generator(seed)


@pytest.mark.parametrize("seed", [2**64, 10**400])
def test_larger_seeds_than_those_of_torch_are_refused(seed):
    with pytest.raises(InputError, match="the seed must be less than 2⁶⁴"):
        generator(seed)
