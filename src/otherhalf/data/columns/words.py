"""Words of texts as a sparse matrix: one row per text, one column per bucket of the hash of a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.columns.hashing import buckets, stable_hashes

WIDTH = 1 << 14
"""Number of buckets."""

_END = "\n"
_WORD = re.compile(r"\n|[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_CHUNK = 20_000
_LONGEST = 100_000
"""Characters of a text that are read; what comes later would hardly change the directions of its words."""


def chunks(texts: npt.NDArray[np.object_]) -> Iterator[slice]:
    """Cut the texts into pieces that fit into memory whatever the number of texts."""
    for start in range(0, len(texts), _CHUNK):
        yield slice(start, min(start + _CHUNK, len(texts)))


def count_words(texts: npt.NDArray[np.object_]) -> sp.csr_matrix:
    """Return how often each bucket of words occurs in each text; a Chinese or Japanese character is a word.

    All texts are searched in one pass, with a mark at the end of each, and only distinct words are hashed.
    """
    joined = _END.join([text[:_LONGEST].replace(_END, " ") for text in texts])
    found = np.array(_WORD.findall(joined.lower()), dtype=object)
    codes, words = pd.factorize(found)
    columns = buckets(stable_hashes(str(word) for word in words), WIDTH)[codes] if len(words) else codes
    ends = found == _END if len(found) else np.zeros(0, dtype=bool)
    rows = np.cumsum(ends)[~ends]
    keys, counts = np.unique(rows * WIDTH + columns[~ends], return_counts=True)
    starts = np.searchsorted(keys, np.arange(len(texts) + 1) * WIDTH)
    shape = (len(texts), WIDTH)
    return sp.csr_matrix((counts.astype(np.float32), keys % WIDTH, starts), shape=shape)


def weighted(counts: sp.csr_matrix, weights: npt.NDArray[np.float32]) -> sp.csr_matrix:
    """Return (1 + log count) times the weight of the bucket, with rows of length 1.

    Each row is summed in its own order, so that its bits depend on no other row.
    """
    data = (1 + np.log(counts.data)) * weights[counts.indices]
    squares = sp.csr_matrix((data.astype(np.float64) ** 2, counts.indices, counts.indptr), shape=counts.shape)
    lengths = np.sqrt(squares @ np.ones(counts.shape[1]))
    scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    rows = np.repeat(scale, np.diff(counts.indptr))
    return sp.csr_matrix(
        ((data * rows).astype(np.float32), counts.indices, counts.indptr), shape=counts.shape
    )
