"""Lanes in a compiled function do what numpy does, number by number."""

import numba
import numpy as np

from otherhalf.nn.ops.lanes import LANES, everywhere, load, plus, store, times, zeros


@numba.njit
def mix(numbers, out, position, factor):
    first, second = load(numbers, position), load(numbers, position + LANES)
    store(out, position, plus(first, times(everywhere(factor), second)))
    store(out, position + LANES, zeros())


def test_a_sum_and_a_product_by_hand():
    """Positions need not be multiples of anything; small integers have no rounding."""
    for position in (0, 1, 7):
        numbers = np.arange(position + 2 * LANES, dtype=np.float32)
        out = np.full(len(numbers) + 1, 9, np.float32)
        mix(numbers, out, position, np.float32(3))
        first, second = numbers[position:][:LANES], numbers[position + LANES :]
        assert out[position:][:LANES].tolist() == (first + 3 * second).tolist()
        assert out[position + LANES : -1].tolist() == [0] * LANES
        assert out[:position].tolist() == [9] * position
        assert out[-1] == 9
