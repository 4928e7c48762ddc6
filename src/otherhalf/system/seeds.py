"""Random numbers that depend on a seed alone."""

import numpy as np

from otherhalf.errors import InputError

SEEDS = 1 << 64
"""Number of seeds: torch has no more."""


def generator(seed: int) -> np.random.Generator:
    """Return a new generator for this seed. It neither reads nor changes numpy's global state."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"the seed must be an integer ≥ 0, not {seed!r}")
    if seed >= SEEDS:
        raise InputError("the seed must be less than 2⁶⁴: give a smaller one")
    return np.random.default_rng(int(seed))
