"""A CSR matrix times a dense one, in blocks that stay in the cache."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from otherhalf.nn.ops.compiled import over_rows
from otherhalf.nn.ops.kernels import add_rows

BLOCK = 1000
"""Columns of a block. As many rows of the dense matrix, 512 kB if it is 128 wide, fit in a core's cache."""

ENTRIES_PER_BLOCK_ROW = 16
"""Mean entries per row of a block from which a matrix is divided; with fewer, the rows cost more."""

NARROWEST = 32
"""Columns of a dense matrix from which the compiled product is faster than torch's, by MKL: with 64 to 256 it
takes 0.4 to 0.6 of the time, with 10 up to twice as much (one core of an AMD EPYC, three graphs)."""


class SideBySide:
    r"""A wide sparse matrix :math:`[\mathbf{M}_1 | \mathbf{M}_2 | \dots]` as CSR blocks.

    A row of the transposed features has entries at nodes everywhere. Without blocks, each row reads the dense
    matrix from one end to the other; block after block, all rows read one part of it.
    """

    def __init__(self, blocks: Sequence[Tensor]) -> None:
        self.blocks = tuple(blocks)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    @property
    def device(self) -> torch.device:
        """Device of the blocks."""
        return self.blocks[0].device

    def values(self) -> Tensor:
        """Return the entries, block after block."""
        return torch.cat([block.values() for block in self.blocks])

    def to(self, device: torch.device | str) -> SideBySide:
        """Return the same matrix on another device."""
        return SideBySide([block.to(device) for block in self.blocks])

    def to_dense(self) -> Tensor:
        """Return the dense matrix."""
        return torch.cat([block.to_dense() for block in self.blocks], dim=1)


SparseMatrix = Tensor | SideBySide


def product(matrix: SparseMatrix, dense: Tensor) -> Tensor:
    """Return M H, without a gradient."""
    blocks = matrix.blocks if isinstance(matrix, SideBySide) else (matrix,)
    rows, columns = matrix.shape
    if dense.dim() != 2 or dense.shape[0] != columns:  # compiled code would read out of bounds
        raise ValueError(f"a {rows} × {columns} matrix cannot be multiplied by one of {tuple(dense.shape)}")
    result = dense.new_empty(rows, dense.shape[1])
    dense = dense.detach().contiguous()
    compiled = is_compiled(blocks, dense)
    top = 0
    for block in blocks:
        part = dense[top : top + block.shape[1]]
        if compiled:
            add_product(block, part, result, reset=top == 0)
        else:
            # beta = 0 overwrites the result; the operator @ would fill it with zeros before.
            torch.addmm(result, block, part, beta=float(top > 0), out=result)
        top += block.shape[1]
    return result


def is_compiled(matrices: Sequence[SparseMatrix], dense: Tensor) -> bool:
    """Return whether the compiled product takes each of these matrices times this dense one."""
    if dense.device.type != "cpu" or dense.dtype != torch.float32 or dense.shape[1] < NARROWEST:
        return False
    return all(isinstance(each, Tensor) and arrays_of(each) is not None for each in matrices)


Arrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float32]]
"""The starts of the rows of a CSR matrix, the columns of its entries, and the entries."""

# On a small graph, to ask a tensor for its arrays takes longer than the product.
_ARRAYS: MutableMapping[Tensor, Arrays | None] = WeakTensorKeyDictionary()


def arrays_of(matrix: Tensor) -> Arrays | None:
    """Return the memory of a CSR tensor; None if it has other types than :func:`to_torch` gives."""
    try:
        return _ARRAYS[matrix]
    except KeyError:
        crow, col, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
        usual = crow.dtype == torch.int32 and values.dtype == torch.float32 and values.device.type == "cpu"
        found = (crow.numpy(), col.numpy(), values.numpy()) if usual else None
        _ARRAYS[matrix] = found
        return found


def add_product(matrix: Tensor, dense: Tensor, out: Tensor, *, reset: bool) -> None:
    """Add M H to ``out``; with ``reset``, overwrite it."""
    arrays = arrays_of(matrix)
    assert arrays is not None
    crow, col, values = arrays
    over_rows(add_rows, crow, dense.shape[1], col, values, dense.numpy(), out.numpy(), reset)


def transposed(csr: sp.csr_matrix) -> tuple[SparseMatrix, Tensor]:
    """Return Mᵀ, in blocks if that is faster, and the positions of its entries among those of M."""
    rows, columns = csr.shape
    starts = range(0, rows, BLOCK)
    if len(starts) < 2 or csr.nnz < ENTRIES_PER_BLOCK_ROW * columns * len(starts):
        starts = range(0, max(rows, 1), max(rows, 1))
    # The transposed positions of the entries: values that change later (dropout) need no other transposition.
    positions = sp.csr_matrix((np.arange(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
    blocks, order = [], []
    for top in starts:
        part = slice(top, top + starts.step)
        blocks.append(to_torch(csr[part].T.tocsr()))
        order.append(positions[part].T.tocsr().data)
    transpose: SparseMatrix = blocks[0] if len(blocks) == 1 else SideBySide(blocks)
    return transpose, torch.from_numpy(np.concatenate(order).astype(np.int64))


def to_torch(csr: sp.csr_matrix) -> Tensor:
    """Return the same matrix as a CSR tensor."""
    # MKL's product reads int32 indices directly; int64 ones would be copied at every call.
    return torch.sparse_csr_tensor(
        torch.from_numpy(csr.indptr.astype(np.int32)),
        torch.from_numpy(csr.indices.astype(np.int32)),
        torch.from_numpy(csr.data.astype(np.float32)),
        size=csr.shape,
        check_invariants=False,
    )


def with_values(matrix: SparseMatrix, values: Tensor) -> SparseMatrix:
    """Return the same pattern with other entries."""
    if isinstance(matrix, SideBySide):
        parts = torch.split(values, [block.values().numel() for block in matrix.blocks])
        return SideBySide([_with_values(*each) for each in zip(matrix.blocks, parts, strict=True)])
    return _with_values(matrix, values)


def _with_values(matrix: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        matrix.crow_indices(), matrix.col_indices(), values, size=matrix.shape, check_invariants=False
    )
