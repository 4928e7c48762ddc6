"""Random numbers that a seed alone determines."""

from __future__ import annotations

import numpy as np

from otherhalf.errors import InputError


def generator(seed: int) -> np.random.Generator:
    """A generator of its own for this seed, which neither reads nor moves numpy's global state."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"the seed {seed!r} is not a whole number of 0 or more: give such a number")
    return np.random.default_rng(int(seed))
