"""The hint changes nothing, inside an array or far outside it."""

import numba
import numpy as np

from otherhalf.system.prefetch import prefetch, prefetch_row


@numba.njit
def ask(numbers, position, width):
    prefetch(numbers, position)
    prefetch_row(numbers, position, width)
    return numbers.sum()


def test_any_position_of_any_array():
    for numbers in (np.arange(40, dtype=np.float32), np.arange(3, dtype=np.int64), np.empty(0, np.uint32)):
        before = numbers.copy()
        for position in (0, 2, -1, len(numbers), 1 << 40, -(1 << 40)):
            assert ask(numbers, position, 33) == before.sum()
        np.testing.assert_array_equal(numbers, before)


def test_the_compiled_code_has_the_instruction():
    ask(np.arange(4.0), 0, 4)
    assert "prefetch" in next(iter(ask.inspect_asm().values()))
