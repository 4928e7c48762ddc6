"""A CSR matrix times a dense one, arranged so that what is read again and again stays in the cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.nn.ops.compiled import over_rows
from otherhalf.nn.ops.kernels import add_rows

BLOCK = 1000
"""Columns of a block: as many rows of the dense matrix, 512 kB if it is 128 wide, stay in a core's cache."""

ENTRIES_PER_BLOCK_ROW = 16
"""A matrix is cut only where a row of a block keeps so many entries; with fewer, the rows cost more."""


NARROWEST = 32
"""Columns of a dense matrix from which our own product is faster than MKL's, which torch has: with 64 to 256
it takes 0.4 to 0.6 of the time, with 10 up to twice as much (one core of an AMD EPYC, three graphs)."""


class SideBySide:
    r"""A wide sparse matrix :math:`[\mathbf{M}_1 | \mathbf{M}_2 | \dots]` as CSR blocks.

    A row of the transposed features has entries all over the nodes. Multiplied whole, each row reads the
    dense matrix from one end to the other; multiplied block after block, all rows read one part of it.
    """

    def __init__(self, blocks: Sequence[Tensor]) -> None:
        self.blocks = tuple(blocks)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.blocks[0].device

    def values(self) -> Tensor:
        """The entries, those of the first block first."""
        return torch.cat([block.values() for block in self.blocks])

    def with_values(self, values: Tensor) -> SideBySide:
        """The same pattern with other entries, in the order of :meth:`values`."""
        blocks, first = [], 0
        for block in self.blocks:
            count = block.values().numel()
            blocks.append(_with_values(block, values[first : first + count]))
            first += count
        return SideBySide(blocks)

    def to(self, device: torch.device | str) -> SideBySide:
        """The same matrix on another device."""
        return SideBySide([block.to(device) for block in self.blocks])

    def to_dense(self) -> Tensor:
        """All of it."""
        return torch.cat([block.to_dense() for block in self.blocks], dim=1)


SparseMatrix = Tensor | SideBySide


def product(matrix: SparseMatrix, dense: Tensor) -> Tensor:
    """M H, without a gradient."""
    blocks = matrix.blocks if isinstance(matrix, SideBySide) else (matrix,)
    rows, columns = matrix.shape
    if dense.dim() != 2 or dense.shape[0] != columns:  # what is compiled would read past the end
        raise ValueError(f"a {rows} × {columns} matrix cannot be multiplied by one of {tuple(dense.shape)}")
    result = dense.new_empty(rows, dense.shape[1])
    dense = dense.detach().contiguous()
    usual = dense.device.type == "cpu" and dense.dtype == torch.float32 and dense.shape[1] >= NARROWEST
    usual = usual and all(_as_compiled(block) for block in blocks)
    top = 0
    for block in blocks:
        part = dense[top : top + block.shape[1]]
        if usual:
            _add_product(block, part, result, anew=top == 0)
        else:
            # Into memory as it is (beta = 0 overwrites it): the operator @ would fill it with zeros first.
            torch.addmm(result, block, part, beta=float(top > 0), out=result)
        top += block.shape[1]
    return result


def _as_compiled(block: Tensor) -> bool:
    """Whether it has the types that :func:`to_torch` gives."""
    return block.crow_indices().dtype == torch.int32 and block.values().dtype == torch.float32


def _add_product(matrix: Tensor, dense: Tensor, out: Tensor, *, anew: bool) -> None:
    """Add M H to ``out``, which is overwritten if ``anew``."""
    entries = (matrix.col_indices().numpy(), matrix.values().numpy())
    over_rows(
        add_rows, matrix.crow_indices().numpy(), dense.shape[1], *entries, dense.numpy(), out.numpy(), anew
    )


def transposed(csr: sp.csr_matrix) -> tuple[SparseMatrix, Tensor]:
    """Mᵀ, cut into blocks where that pays, and the order in which it holds the entries of M."""
    rows, columns = csr.shape
    starts = range(0, rows, BLOCK)
    if len(starts) < 2 or csr.nnz < ENTRIES_PER_BLOCK_ROW * columns * len(starts):
        starts = range(0, max(rows, 1), max(rows, 1))
    # Transposing the entries' positions says where each of them goes, so that values changed later (dropout)
    # can follow without another transposition.
    positions = sp.csr_matrix((np.arange(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
    blocks, order = [], []
    for top in starts:
        part = slice(top, top + starts.step)
        blocks.append(to_torch(csr[part].T.tocsr()))
        order.append(positions[part].T.tocsr().data)
    whole: SparseMatrix = blocks[0] if len(blocks) == 1 else SideBySide(blocks)
    return whole, torch.from_numpy(np.concatenate(order).astype(np.int64))


def to_torch(csr: sp.csr_matrix) -> Tensor:
    """The same matrix as a CSR tensor."""
    # int32 indices are what MKL's product takes as they are; int64 ones would be copied at every call.
    return torch.sparse_csr_tensor(
        torch.from_numpy(csr.indptr.astype(np.int32)),
        torch.from_numpy(csr.indices.astype(np.int32)),
        torch.from_numpy(csr.data.astype(np.float32)),
        size=csr.shape,
        check_invariants=False,
    )


def with_values(matrix: SparseMatrix, values: Tensor) -> SparseMatrix:
    """The same pattern with other entries."""
    if isinstance(matrix, SideBySide):
        return matrix.with_values(values)
    return _with_values(matrix, values)


def _with_values(matrix: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        matrix.crow_indices(), matrix.col_indices(), values, size=matrix.shape, check_invariants=False
    )
