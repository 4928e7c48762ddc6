r"""Labels of training nodes one and two steps away, as inputs of a classifier.

.. math::
    \mathbf{M}_A = \mathbf{A}\mathbf{Y}, \quad
    \mathbf{M}_{AB} = \mathbf{A}\mathbf{B}\mathbf{Y} - \mathrm{diag}(\mathbf{A}\mathbf{B})\mathbf{Y}

with Y the labels of the training nodes (zero rows for all others) and A, B matrices without a diagonal. The
second term takes away what a walk of two steps brings back to its start, so no node ever reads its own label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.nn.ops.sparse import SparseOperator
from otherhalf.system.arrays import IntArray


@dataclass(frozen=True, eq=False)
class LabelWalk:
    """One or two steps, and the share of each node's walk that returns to it (None for one step)."""

    steps: tuple[SparseOperator, ...]
    returning: Tensor | None = None

    def __call__(self, labels: Tensor) -> Tensor:
        """Return the label histogram that each node reads, ``[N, C]``; linear in ``labels``."""
        message = labels
        for step in reversed(self.steps):
            message = step @ message
        return message if self.returning is None else message - self.returning[:, None] * labels


def label_walks(steps: Sequence[tuple[sp.csr_matrix, ...]]) -> list[LabelWalk]:
    """Return the walks over these matrices, one or two for each walk; a node's first step is over the first.

    Raise ValueError if a matrix has a diagonal: a node would read its own label.
    """
    operators: dict[int, SparseOperator] = {}
    for matrix in (each for walk in steps for each in walk):
        if id(matrix) not in operators:
            if matrix.diagonal().any():
                raise ValueError("a matrix of label messages must have no diagonal: leave out self loops")
            operators[id(matrix)] = SparseOperator.from_scipy(matrix)
    return [
        LabelWalk(tuple(operators[id(each)] for each in walk), _returning(*walk) if len(walk) > 1 else None)
        for walk in steps
    ]


def _returning(first: sp.csr_matrix, second: sp.csr_matrix) -> Tensor:
    """Return diag(A B)."""
    product = first.multiply(second.T.tocsr()).sum(axis=1)
    return torch.from_numpy(np.asarray(product, dtype=np.float32).ravel())


def messages(walks: Sequence[LabelWalk], labels: Tensor) -> Tensor:
    """Return the histograms of all walks side by side."""
    return torch.cat([walk(labels) for walk in walks], dim=1)


def label_rows(codes: IntArray, nodes: IntArray, num_nodes: int, classes: int) -> Tensor:
    """Return Y: 1 at the class of each of ``nodes``, 0 everywhere else."""
    rows = torch.zeros(num_nodes, classes)
    rows[torch.from_numpy(np.array(nodes)), torch.from_numpy(np.array(codes))] = 1.0
    return rows
