"""A hash of texts that is the same in every process, on every machine and in every version of Python."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from otherhalf.system.arrays import IntArray


def stable_hashes(texts: Iterable[str]) -> IntArray:
    """Return 64 bits of BLAKE2 for each text, as whole numbers with a sign, which torch can hold."""
    digests = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<i8").astype(np.int64)


def buckets(hashes: IntArray, count: int) -> IntArray:
    """Return the bucket of each hash, from 0 to ``count`` − 1."""
    return ((hashes.view(np.uint64) >> np.uint64(8)) % np.uint64(count)).astype(np.int64)


def signs(hashes: IntArray) -> npt.NDArray[np.float32]:
    """Return +1 or −1 for each hash, by a bit that decides no bucket: so collisions cancel out on average."""
    return np.where(hashes & 1, np.float32(1), np.float32(-1))


def short_text(text: str, longest: int = 60) -> str:
    """Return a text for the name of a column: a long one is cut, and a part of its hash keeps it distinct."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}…{blake2b(text.encode(), digest_size=3).hexdigest()}"
