r"""Similarities of nodes as positive definite kernels, so that ridge regression can use them.

.. math::
    k(i, j) = \exp(s\,(\cos(\mathbf{b}_i, \mathbf{b}_j) - 1) - f\,(m_i - m_j)^2 - n\,(d_i - d_j)^2)

with :math:`\mathbf{b}` the unit rows of a description, m = log(1 + sum of the absolute features) and
d = log(1 + number of neighbours). A mixture is a weighted mean of several. A zero row has the cosine 0 with
every row, itself too; the kernel is positive definite with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.complement.descriptions import MAGNITUDE_WORDS, Descriptions, words_of_description
from otherhalf.complement.kernel_loops import add_kernel
from otherhalf.nn.magnitudes import Rows
from otherhalf.nn.ops.dense import dense_product
from otherhalf.nn.ops.sparse_rows import dense_rows
from otherhalf.system.arrays import FloatArray, IntArray

TILE, TILE_COLUMNS = 1 << 18, 1024
"""Numbers of a tile (1 MB), and its most columns."""

LARGE = 100_000
"""Nodes of the fitted graph from which kernels are computed in one pass."""

Others: TypeAlias = Tensor | sp.csr_matrix

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


class Similarities:
    """A mixture of kernels between any nodes and fixed ones, whose rows are computed once.

    Blocks are computed in tiles that stay in the cache: the kernels need several passes over each number, and
    each pass over memory would take longer than the product. A value does not depend on its tile.

    Args:
        kernels: The mixture.
        descriptions: Descriptions of all these nodes.
        columns: The fixed nodes.
    """

    def __init__(self, kernels: Sequence[Kernel], descriptions: Descriptions, columns: IntArray) -> None:
        self.kernels, self.descriptions, self.columns = kernels, descriptions, columns
        self._others = [_others(descriptions.rows(each.description, columns)) for each in kernels]
        self._magnitudes = {name: _tensor(descriptions.magnitude(name, columns)) for name in MAGNITUDE_WORDS}

    def block(self, nodes: IntArray, out: Tensor | None = None) -> Tensor:
        """Return Σ weight · k(i, j) for the nodes i and all fixed nodes j, in ``out`` if given."""
        total = torch.empty(len(nodes), len(self.columns)) if out is None else out
        if total.numel() == 0:
            return total
        if self.descriptions.basis.num_known > LARGE:
            return self._in_one_pass(nodes, total)
        own = {name: _tensor(self.descriptions.magnitude(name, nodes)) for name in MAGNITUDE_WORDS}
        difference = torch.empty(max(len(self.columns), min(total.numel(), TILE)))
        for index, kernel in enumerate(self.kernels):
            rows, others = self.descriptions.rows(kernel.description, nodes), self._others[index]
            for tile, values in _tiles_of_cosines(rows, others, total.shape):
                values.sub_(1.0).mul_(kernel.sharpness)
                for name, magnitude in self._magnitudes.items():
                    if factor := getattr(kernel, name):
                        apart = difference[: values.numel()].view(values.shape)
                        torch.sub(own[name][tile[0], None], magnitude[None, tile[1]], out=apart)
                        values.addcmul_(apart, apart, value=-factor)
                values.exp_().mul_(kernel.weight)
                if index:
                    total[tile] += values
                else:
                    total[tile] = values
        return total

    def _in_one_pass(self, nodes: IntArray, total: Tensor) -> Tensor:
        own, others = (
            tuple(self.descriptions.magnitude(name, each) for name in ("features", "neighbours"))
            for each in (nodes, self.columns)
        )
        for index, kernel in enumerate(self.kernels):
            rows = self.descriptions.rows(kernel.description, nodes)
            factors = kernel.weight, kernel.sharpness, kernel.features, kernel.neighbours
            for (part, columns), values in _tiles_of_cosines(rows, self._others[index], total.shape):
                add_kernel(
                    values.contiguous().numpy(),
                    total[part].numpy(),
                    columns.start,
                    (own[0][part], own[1][part]),
                    (others[0][columns], others[1][columns]),
                    factors,
                    first=not index,
                )
        return total


def mixture_block(
    kernels: Sequence[Kernel], descriptions: Descriptions, rows: IntArray, columns: IntArray
) -> Tensor:
    """Return the weighted sum of the kernels between nodes (:class:`Similarities`)."""
    return Similarities(kernels, descriptions, columns).block(rows)


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
    values = torch.empty(len(rows), len(columns))
    others = _others(descriptions.rows(name, columns))
    for tile, part in _tiles_of_cosines(descriptions.rows(name, rows), others, values.shape):
        values[tile] = part
    return values


def _others(unit: Rows) -> Others:
    """Return unit rows as the right side of the product."""
    return _tensor(unit) if isinstance(unit, np.ndarray) else unit.T.tocsr()


def _tiles_of_cosines(
    rows: Rows, others: Others, shape: tuple[int, ...]
) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Yield where each tile is, and its cosines, which may be overwritten."""
    count, width = shape
    if isinstance(rows, np.ndarray):
        dense = _tensor(rows)
        across = min(width, TILE_COLUMNS)
        down = max(1, TILE // max(1, across))
        for left in range(0, width, max(1, across)):
            columns = slice(left, min(left + across, width))
            for top in range(0, count, down):
                part = slice(top, min(top + down, count))
                yield (part, columns), _dense_tile(dense[part], others[columns])
        return
    down = max(1, TILE // max(1, width))
    values = torch.empty(min(down, count), width)
    for top in range(0, count, down):
        part = slice(top, min(top + down, count))
        tile = values[: part.stop - top]
        dense_rows(rows[part], others, tile.numpy())
        yield (part, slice(0, width)), tile


def _dense_tile(rows: Tensor, others: Tensor) -> Tensor:
    """Return the products of all rows. A single one is taken twice: alone, it would be summed otherwise."""
    left, right = (torch.cat([part, part]) if len(part) == 1 else part for part in (rows, others))
    return dense_product(left, right.T)[: len(rows), : len(others)]


def _tensor(values: FloatArray) -> Tensor:
    return torch.from_numpy(np.require(values, np.float32, "W"))
