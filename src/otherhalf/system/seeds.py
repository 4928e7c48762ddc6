"""Random numbers that depend on a seed alone."""

import numpy as np

from otherhalf.errors import InputError


def generator(seed: int) -> np.random.Generator:
    """Return a new generator for this seed. It neither reads nor changes numpy's global state."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"the seed must be an integer ≥ 0, not {seed!r}")
    return np.random.default_rng(int(seed))
