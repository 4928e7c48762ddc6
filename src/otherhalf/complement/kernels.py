r"""Similarities of nodes as positive definite kernels, so that ridge regression can use them.

.. math::
    k(i, j) = \exp(s\,(\cos(\mathbf{b}_i, \mathbf{b}_j) - 1) - f\,(m_i - m_j)^2 - n\,(d_i - d_j)^2)

with :math:`\mathbf{b}` the unit rows of a description, m = log(1 + sum of the absolute features) and
d = log(1 + number of neighbours). A mixture is a weighted mean of several. A zero row has the cosine 0 with
every row, itself too; the kernel is positive definite with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from otherhalf.complement.descriptions import MAGNITUDE_WORDS, Descriptions, words_of_description
from otherhalf.nn.ops.dense import dense_product
from otherhalf.system.arrays import IntArray

BLOCK_ROWS = 1024

MENTIONED = 0.5
"""A magnitude is mentioned in words if its factor is at least this."""


@dataclass(frozen=True)
class Kernel:
    """One kernel of a mixture.

    Attributes:
        description: What is compared.
        weight: Its share of the mixture.
        sharpness: s.
        features: f.
        neighbours: n.
    """

    description: str
    weight: float = 1.0
    sharpness: float = 2.0
    features: float = 0.0
    neighbours: float = 0.0

    @property
    def words(self) -> str:
        """What two nodes share that are similar by this kernel."""
        parts = [words_of_description(self.description)]
        parts += [words for name, words in MAGNITUDE_WORDS.items() if getattr(self, name) >= MENTIONED]
        return ", and ".join(parts)

    def block(self, descriptions: Descriptions, rows: IntArray, columns: IntArray) -> Tensor:
        """Return weight · k(i, j) for the nodes i of ``rows`` and j of ``columns``."""
        values = cosines(descriptions, self.description, rows, columns)
        values.sub_(1.0).mul_(self.sharpness)
        for name in MAGNITUDE_WORDS:
            if factor := getattr(self, name):
                m = torch.from_numpy(descriptions.magnitudes[name])
                difference = m[torch.from_numpy(rows)][:, None] - m[torch.from_numpy(columns)][None]
                values.addcmul_(difference, difference, value=-factor)
        return values.exp_().mul_(self.weight)


def mixture_block(
    kernels: Sequence[Kernel], descriptions: Descriptions, rows: IntArray, columns: IntArray
) -> Tensor:
    """Return the weighted sum of the kernels, as :meth:`Kernel.block`."""
    total = kernels[0].block(descriptions, rows, columns)
    for kernel in kernels[1:]:
        total += kernel.block(descriptions, rows, columns)
    return total


def words_of(kernels: Sequence[Kernel], kind: str = "homophily") -> str:
    """Return what joins the nodes, by falling weight: "joined by the same neighbours, weighted by rarity".

    Args:
        kernels: The mixture.
        kind: Kind of the half; dissimilar nodes are "joined for lack of" what similar ones share.
    """
    ordered = sorted(kernels, key=lambda kernel: -kernel.weight)
    shared = list(dict.fromkeys(kernel.words for kernel in ordered))
    if kind == "heterophily":
        return "joined for lack of " + "; of ".join(shared)
    return "joined by " + "; by ".join(shared) + ("; or for lack of it" if kind == "both" else "")


def cosines(descriptions: Descriptions, name: str, rows: IntArray, columns: IntArray) -> Tensor:
    """Return the cosines of a description between nodes."""
    unit = descriptions.rows(name)
    if isinstance(unit, np.ndarray):
        dense = torch.from_numpy(unit)
        return dense_product(dense[torch.from_numpy(rows)], dense[torch.from_numpy(columns)].T)
    others = unit[columns].T.tocsr()
    values = torch.empty(len(rows), len(columns))
    for start in range(0, len(rows), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        (unit[rows[part]] @ others).toarray(out=values[part].numpy())
    return values
