"""Products with a constant sparse matrix, fast in both directions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from otherhalf.nn.ops.dense import dense_product
from otherhalf.nn.ops.dropout import dropout
from otherhalf.nn.ops.products import (
    SideBySide,
    SparseMatrix,
    product,
    to_torch,
    transposed,
    with_values,
)
from otherhalf.system.arrays import FloatArray, IntArray

# torch warns once per process. Nothing here depends on what may still change.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


class _SparseProduct(torch.autograd.Function):
    """M H for a constant M: the gradient with respect to H is Mᵀ G, one more CSR product.

    Autograd would transpose M in every backward pass, which doubles the time.
    """

    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, transpose: SparseMatrix, dense: Tensor) -> Tensor:
        ctx.transpose = transpose
        return product(matrix, dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        return None, None, product(ctx.transpose, grads[0].contiguous())


class SparseOperator:
    r"""A constant sparse matrix :math:`\mathbf{M}`, kept with its transpose for the backward pass.

    ``operator @ h`` is differentiable in ``h``. A symmetric matrix shares one copy for both.

    Args:
        matrix: M.
        transpose: Mᵀ; the same object as ``matrix`` if M is symmetric.
        transpose_order: Positions of Mᵀ's entries in M: ``transpose.values() == matrix.values()[order]``.
            Without it, entries cannot be dropped.
    """

    def __init__(
        self, matrix: SparseMatrix, transpose: SparseMatrix, transpose_order: Tensor | None = None
    ) -> None:
        self.matrix = matrix
        self.transpose = transpose
        self._transpose_order = transpose_order

    @property
    def transpose_order(self) -> Tensor:
        """Positions of the transpose's entries in M."""
        if self._transpose_order is None:
            raise ValueError("this operator was made without the order of its transpose")
        return self._transpose_order

    @property
    def symmetric(self) -> bool:
        """Whether M was given as symmetric."""
        return self.transpose is self.matrix

    @classmethod
    def from_scipy(cls, matrix: sp.spmatrix, *, symmetric: bool = False) -> SparseOperator:
        """Return the operator of a scipy matrix; with ``symmetric``, the caller guarantees M = Mᵀ."""
        csr = sp.csr_matrix(matrix, dtype=np.float32)
        if not csr.has_canonical_format:
            csr = csr.copy()  # it may share its arrays with the caller's matrix
            csr.sum_duplicates()
        forward = to_torch(csr)
        if symmetric:
            return cls(forward, forward)
        return cls(forward, *transposed(csr))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return rows, columns

    def __matmul__(self, dense: Tensor) -> Tensor:
        if not (dense.requires_grad and torch.is_grad_enabled()):
            return product(self.matrix, dense)
        result: Tensor = _SparseProduct.apply(self.matrix, self.transpose, dense)  # type: ignore[no-untyped-call]
        return result

    def to(self, device: torch.device | str) -> SparseOperator:
        """Return the same operator on another device."""
        if self.matrix.device == torch.device(device):
            return self
        matrix = self.matrix.to(device)
        if self.symmetric:
            return SparseOperator(matrix, matrix)
        order = None if self._transpose_order is None else self._transpose_order.to(device)
        return SparseOperator(matrix, self.transpose.to(device), order)

    def rows(self, nodes: IntArray) -> SparseOperator:
        """Return the operator of these rows of M."""
        blocks = self.matrix.blocks if isinstance(self.matrix, SideBySide) else (self.matrix,)
        chosen = sp.hstack([_to_scipy(block)[nodes] for block in blocks], format="csr")
        return SparseOperator.from_scipy(chosen).to(self.matrix.device)

    def transposed(self) -> SparseOperator:
        """Return Mᵀ without a copy."""
        return self if self.symmetric else SparseOperator(self.transpose, self.matrix)

    def dropout(self, p: float) -> SparseOperator:
        """Drop stored entries with probability ``p`` and scale the others, like dropout of a dense input."""
        if p == 0.0:
            return self
        if self.symmetric:
            raise ValueError("dropout would break the symmetry of this operator: use symmetric=False")
        if self._transpose_order is None:
            raise ValueError("dropout needs an operator made by from_scipy, not its transpose")
        values = dropout(self.matrix.values(), p)
        return SparseOperator(
            with_values(self.matrix, values),
            with_values(self.transpose, values.index_select(0, self._transpose_order)),
            self._transpose_order,
        )


def _to_scipy(matrix: Tensor) -> sp.csr_matrix:
    crow, col, values = (
        each.cpu().numpy() for each in (matrix.crow_indices(), matrix.col_indices(), matrix.values())
    )
    return sp.csr_matrix((values, col, crow), shape=tuple(matrix.shape))


Features = Tensor | SparseOperator
"""Node features: a dense ``[N, D]`` tensor, or a sparse matrix of that shape."""


def mapped(x: Features, weight: Tensor) -> Tensor:
    """Return X W for dense or sparse features."""
    return x @ weight if isinstance(x, SparseOperator) else dense_product(x, weight)


def normalized_matrix(adjacency: sp.spmatrix, *, self_loops: bool = False) -> sp.csr_matrix:
    r"""Return :math:`\hat{\mathbf{A}} = \mathbf{D}^{-1/2}\mathbf{A}\mathbf{D}^{-1/2}` of an undirected graph.

    The paper's normalisation (Section 3) has no self loops; ``self_loops=True`` adds them first, as GCN
    does. The row of a node without neighbours is zero.
    """
    matrix, degree = _with_degree(adjacency, self_loops)
    scale = _reciprocal(np.sqrt(degree))
    return scaled(matrix, scale, scale)


def scaled(matrix: sp.csr_matrix, rows: FloatArray, columns: FloatArray) -> sp.csr_matrix:
    """Return diag(rows) M diag(columns), with the bits of three sparse matrices' product, in less time."""
    values = np.repeat(rows, np.diff(matrix.indptr))
    values *= matrix.data
    values *= columns[matrix.indices]
    # Copies: a graph's own arrays are read-only, which compiled products do not take.
    return sp.csr_matrix((values, matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)


def mean_matrix(adjacency: sp.spmatrix, *, self_loops: bool = False) -> sp.csr_matrix:
    r"""Return :math:`\mathbf{D}^{-1}\mathbf{A}`, the mean over the neighbours; 0 for a node without any."""
    matrix, degree = _with_degree(adjacency, self_loops)
    return sp.csr_matrix(sp.diags(_reciprocal(degree)) @ matrix)


def normalized_adjacency(adjacency: sp.spmatrix, *, self_loops: bool = False) -> SparseOperator:
    """Return :func:`normalized_matrix` as an operator."""
    return SparseOperator.from_scipy(normalized_matrix(adjacency, self_loops=self_loops), symmetric=True)


def mean_adjacency(adjacency: sp.spmatrix, *, self_loops: bool = False) -> SparseOperator:
    """Return :func:`mean_matrix` as an operator."""
    return SparseOperator.from_scipy(mean_matrix(adjacency, self_loops=self_loops))


def with_loops(adjacency: sp.spmatrix, nodes: IntArray | None = None) -> sp.csr_matrix:
    """Return A with a self loop at every node, as heavy as the mean of the node's edges (1 without any).

    So the unit of the weights does not matter. Without weights it is A + I.

    Args:
        adjacency: A, or some of its rows.
        nodes: The nodes that the rows are of, if not all.
    """
    matrix = sp.csr_matrix(adjacency, dtype=np.float32)
    count = np.diff(matrix.indptr)
    sums = np.asarray(matrix.sum(axis=1), dtype=np.float32).ravel()
    mean = np.divide(sums, count, out=np.ones_like(sums), where=count > 0)
    if nodes is None:
        loops = sp.diags(mean, format="csr", dtype=np.float32)
    else:
        loops = sp.csr_matrix((mean, nodes, np.arange(len(nodes) + 1)), shape=matrix.shape)
    return sp.csr_matrix(matrix + loops)


def _with_degree(adjacency: sp.spmatrix, self_loops: bool) -> tuple[sp.csr_matrix, FloatArray]:
    matrix = with_loops(adjacency) if self_loops else sp.csr_matrix(adjacency, dtype=np.float32)
    return matrix, np.asarray(matrix.sum(axis=1)).ravel()


def _reciprocal(values: FloatArray) -> FloatArray:
    """Return 1/v, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0).astype(np.float32)
