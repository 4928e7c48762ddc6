"""Exact top-K search in row blocks: never N × N numbers in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.diagnosis.similarity import row_norms
from otherhalf.nn.ops.dense import dense_product
from otherhalf.nn.ops.products import to_torch
from otherhalf.system.arrays import FloatArray

BLOCK_ENTRIES = 16_000_000
"""Similarities in memory at a time (64 MB as float32; the selection needs about three times that)."""

DENSE_SHARE = 0.03
"""Sparse rows with a larger share of nonzeros become dense. Their products cost the same at about a tenth;
those of :data:`otherhalf.nn.inputs.DENSE_SHARE`, with narrow weights, at about a third."""


def top_k(
    similarities: Callable[[Tensor], Tensor],
    queries: Tensor,
    num_candidates: int,
    k: int,
    *,
    largest: bool,
    on_rows: Callable[[int], None] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the k most (``largest``) or least similar candidates of every query, best first.

    Among equal similarities the candidate with the lower index comes first, so the result does not depend
    on blocks or threads. NaN marks a candidate that must not be chosen (the query itself); if fewer than k
    candidates remain, the index is −1 and the similarity NaN.

    Args:
        similarities: Maps a block of queries ``[b]`` to a new tensor of their similarities
            ``[b, num_candidates]``, which the search overwrites.
        queries: ``[Q]``, as ``similarities`` reads them.
        num_candidates: Number of candidates.
        k: Number of candidates per query.
        largest: Whether to return the most similar candidates, or the least similar ones.
        on_rows: Progress callback (number of queries) after each block.

    Returns:
        ``[Q, k]`` indices (int64) and similarities.
    """
    width = min(k, num_candidates)
    indices = torch.full((len(queries), k), -1, dtype=torch.int64)
    values = torch.full((len(queries), k), float("nan"))
    step = block_rows(num_candidates)
    for start in range(0, len(queries), step):
        block = similarities(queries[start : start + step])
        rows = slice(start, start + len(block))
        indices[rows, :width], values[rows, :width] = _select(block, width, largest)
        if on_rows is not None:
            on_rows(len(block))
    return indices, values


def block_rows(num_candidates: int) -> int:
    """Return how many queries are compared at a time."""
    return max(1, BLOCK_ENTRIES // max(num_candidates, 1))


def _select(block: Tensor, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """Return the top k of every row, lower columns first among ties, without NaN; overwrite ``block``."""
    # The largest of s, with s = −similarity for the least similar.
    s = block if largest else block.neg_()
    s.nan_to_num_(nan=float("-inf"))
    # Search k + 1: the first k columns are certain unless the next one has the same value.
    beyond = min(k + 1, s.shape[1])
    values, columns = torch.topk(s, beyond, dim=1, sorted=True)
    tied = values[:, k - 1] == values[:, beyond - 1] if beyond > k else torch.zeros(len(s), dtype=torch.bool)
    values, columns = values[:, :k], columns[:, :k]
    if bool(tied.any()):
        columns[tied] = _select_tied(s[tied], k)
        values[tied] = s[tied].gather(1, columns[tied])
    by_column, order = columns.sort(dim=1)
    by_value, order_by_value = values.gather(1, order).sort(dim=1, descending=True, stable=True)
    columns = by_column.gather(1, order_by_value)
    excluded = by_value == float("-inf")
    scores = by_value if largest else -by_value
    return columns.masked_fill(excluded, -1), scores.masked_fill(excluded, float("nan"))


def _select_tied(s: Tensor, k: int) -> Tensor:
    # A key that orders by value, then by falling column: the float's bits, made monotone, and the column.
    # −0 and 0 are equal but have different bits; adding 0 makes both 0.
    bits = (s + 0.0).view(torch.int32)
    monotone = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    column = torch.arange(s.shape[1] - 1, -1, -1, dtype=torch.int64)
    keys = (monotone.to(torch.int64) << 32) | column
    return torch.topk(keys, k, dim=1, sorted=False).indices


def dot_products(z: Tensor, candidates: Tensor, *, exclude_self: bool) -> Callable[[Tensor], Tensor]:
    """Return the similarities z_i · z_j of query nodes i and candidate nodes j (both index ``z``)."""
    columns = z[candidates]
    position = torch.full((len(z),), -1, dtype=torch.int64)
    position[candidates] = torch.arange(len(candidates))

    def similarities(queries: Tensor) -> Tensor:
        block = dense_product(z[queries], columns.T)
        return _without_self(block, position[queries]) if exclude_self else block

    return similarities


def cosines(unit: FloatArray | sp.csr_matrix, candidates: Tensor) -> Callable[[Tensor], Tensor]:
    """Return the similarities cos(x_i, x_j) of query nodes i and candidates j ≠ i, given unit rows of x."""
    position = torch.full((unit.shape[0],), -1, dtype=torch.int64)
    position[candidates] = torch.arange(len(candidates))
    if sp.issparse(unit):
        csr = to_torch(unit[candidates.numpy()])

        def product(queries: Tensor) -> Tensor:
            return (csr @ torch.from_numpy(unit[queries.numpy()].toarray().T.copy())).T
    else:
        dense = torch.from_numpy(np.asarray(unit))
        others = dense[candidates]

        def product(queries: Tensor) -> Tensor:
            return dense_product(dense[queries], others.T)

    return lambda queries: _without_self(product(queries), position[queries])


LEAST_FACTOR = 1e-30
"""Factors of rows that are smaller than this, or larger than its reciprocal, are taken in double precision:
those of about 10⁻³⁸ and 10³⁸ would become 0 and infinite in single precision."""


def unit_rows(x: FloatArray | sp.csr_matrix, *, dense: bool | None = None) -> FloatArray | sp.csr_matrix:
    """Return every row divided by its Euclidean norm; zero rows stay zero, so all their cosines are 0.

    Sparse rows that fill more than :data:`DENSE_SHARE` of their matrix become dense, unless ``dense`` says.
    """
    norms = row_norms(x)
    inverse = np.zeros_like(norms)
    np.divide(1.0, norms, out=inverse, where=norms > 0)
    extreme = (inverse > 0) & ((inverse < LEAST_FACTOR) | (inverse > 1 / LEAST_FACTOR))
    kind: Any = np.float64 if extreme.any() else np.float32
    x, scale = x.astype(kind, copy=False), inverse.astype(kind)
    if not sp.issparse(x):
        return np.asarray(x * scale[:, None], dtype=np.float32)
    unit = sp.csr_matrix(sp.diags(scale) @ x, dtype=np.float32)
    full = fills(unit.nnz, unit.shape) if dense is None else dense
    return unit.toarray() if full else unit


def fills(entries: int, shape: tuple[int, int]) -> bool:
    """Return whether a sparse matrix has so many entries that it is better dense."""
    return entries > DENSE_SHARE * float(shape[0]) * shape[1]


def _without_self(block: Tensor, column: Tensor) -> Tensor:
    rows = torch.arange(len(block))[column >= 0]
    block = block.contiguous()
    block[rows, column[column >= 0]] = float("nan")
    return block
