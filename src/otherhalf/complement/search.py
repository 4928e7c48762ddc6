"""Exact top-K search by row blocks: never N × N in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.diagnosis.similarity import row_norms
from otherhalf.nn.ops.dense import dense_product
from otherhalf.system.graph_checks import FloatArray

BLOCK_ENTRIES = 16_000_000
"""Similarities held at once (64 MB as float32; the selection needs about three times that)."""

DENSE_SHARE = 0.03
"""Sparse rows fuller than this are made dense. Products of the two kinds cost the same at about a tenth."""


def top_k(
    similarities: Callable[[Tensor], Tensor],
    queries: Tensor,
    num_candidates: int,
    k: int,
    *,
    largest: bool,
    on_rows: Callable[[int], None] | None = None,
) -> tuple[Tensor, Tensor]:
    """The k most (``largest``) or least similar candidates of every query, best first.

    Among equal similarities the candidate with the lower index comes first, so the result does not depend
    on blocks or threads. NaN marks a candidate that may not be chosen (the query itself); where fewer than
    k candidates remain, the index is −1 and the similarity NaN.

    Args:
        similarities: Maps a block of queries ``[b]`` to their similarities ``[b, num_candidates]``, in memory
            of its own, which the search then overwrites.
        queries: What to search for, in whatever terms ``similarities`` understands.
        num_candidates: Number of candidates.
        k: How many to find.
        largest: Most similar rather than least similar.
        on_rows: Told how many queries each finished block had.

    Returns:
        ``[Q, k]`` indices (int64) and similarities.
    """
    width = min(k, num_candidates)
    indices = torch.full((len(queries), k), -1, dtype=torch.int64)
    values = torch.full((len(queries), k), float("nan"))
    step = max(1, BLOCK_ENTRIES // max(num_candidates, 1))
    for start in range(0, len(queries), step):
        block = similarities(queries[start : start + step])
        found, scores = _select(block, width, largest)
        indices[start : start + len(block), :width] = found
        values[start : start + len(block), :width] = scores
        if on_rows is not None:
            on_rows(len(block))
    return indices, values


def _select(block: Tensor, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """Top-k of every row with ties to the lower column, NaN excluded; ``block`` is used up."""
    # Written as "the largest of s", with s = −similarity when the least are wanted.
    s = block if largest else block.neg_()
    s.nan_to_num_(nan=float("-inf"))
    # One more than k is looked up: the k columns are certain unless the next one has the same value.
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
    # A key that orders by value, then by falling column: the float's bits, made monotone, above the column.
    # Adding 0 turns −0 into 0, whose bits differ though the two are equal.
    bits = (s + 0.0).view(torch.int32)
    monotone = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    column = torch.arange(s.shape[1] - 1, -1, -1, dtype=torch.int64)
    keys = (monotone.to(torch.int64) << 32) | column
    return torch.topk(keys, k, dim=1, sorted=False).indices


def dot_products(z: Tensor, candidates: Tensor, *, exclude_self: bool) -> Callable[[Tensor], Tensor]:
    """z_i · z_j of query nodes i against candidate nodes j (both index ``z``)."""
    columns = z[candidates]
    position = torch.full((len(z),), -1, dtype=torch.int64)
    position[candidates] = torch.arange(len(candidates))

    def similarities(queries: Tensor) -> Tensor:
        block = dense_product(z[queries], columns.T)
        return _without_self(block, position[queries]) if exclude_self else block

    return similarities


def cosines(unit: FloatArray | sp.csr_matrix, candidates: Tensor) -> Callable[[Tensor], Tensor]:
    """cos(x_i, x_j) of query nodes i against candidate nodes j ≠ i, from the :func:`unit_rows` of x."""
    chosen = candidates.numpy()
    position = torch.full((unit.shape[0],), -1, dtype=torch.int64)
    position[candidates] = torch.arange(len(candidates))
    if sp.issparse(unit):
        columns = unit[chosen]
        csr = torch.sparse_csr_tensor(
            torch.from_numpy(columns.indptr.astype(np.int32)),
            torch.from_numpy(columns.indices.astype(np.int32)),
            torch.from_numpy(columns.data),
            size=columns.shape,
            check_invariants=False,
        )

        def product(queries: Tensor) -> Tensor:
            return (csr @ torch.from_numpy(unit[queries.numpy()].toarray().T.copy())).T
    else:
        dense = torch.from_numpy(np.asarray(unit))
        others = dense[candidates]

        def product(queries: Tensor) -> Tensor:
            return dense_product(dense[queries], others.T)

    return lambda queries: _without_self(product(queries), position[queries])


def unit_rows(x: FloatArray | sp.csr_matrix) -> FloatArray | sp.csr_matrix:
    """Every row divided by its Euclidean norm; zero rows stay zero, so their cosine is 0 with all.

    Sparse rows fuller than :data:`DENSE_SHARE` come back dense.
    """
    norms = row_norms(x)
    inverse = np.zeros_like(norms)
    np.divide(1.0, norms, out=inverse, where=norms > 0)
    scale = inverse.astype(np.float32)
    if not sp.issparse(x):
        return np.asarray(x * scale[:, None])
    unit = sp.csr_matrix(sp.diags(scale) @ x)
    full = unit.nnz > DENSE_SHARE * np.prod(unit.shape, dtype=float)
    return unit.toarray() if full else unit


def _without_self(block: Tensor, column: Tensor) -> Tensor:
    rows = torch.arange(len(block))[column >= 0]
    block = block.contiguous()
    block[rows, column[column >= 0]] = float("nan")
    return block
