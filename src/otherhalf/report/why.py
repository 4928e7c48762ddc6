r"""Why a node has its prediction: what each labelled node adds to its score in the spread of labels.

The spread is a ridge regression with a kernel k over the anchors, so a score is a sum:

.. math::
    S_{ic} = \tau\Bigl(\sum_j k_{ij}\,\tilde{b}_{jc} - \tilde{o}_{ic}\Bigr)

:math:`\tilde{b}_j` is row j of the dual less its mean over classes. :math:`\tilde{o}_i` is likewise what a
training node's own label added, which its score leaves out. So anchor j adds exactly
:math:`\tau\,k_{ij}\,\tilde{b}_{jc}` to the score of class c. What a training node's own row adds, less
:math:`\tilde{o}_i`, is listed apart, as the node's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from otherhalf.complement.descriptions import Descriptions
from otherhalf.complement.kernel_half import Spread
from otherhalf.complement.search import top_k
from otherhalf.graph import Graph
from otherhalf.system.arrays import FloatArray, IntArray

BLOCK_ENTRIES = 8_000_000
"""Similarities in memory at a time (32 MB)."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the scores of some nodes are made of.

    Attributes:
        scores: ``[n, C]``: S of these nodes.
        sources: ``[n, m]``: the nodes that add most to the score of the class in question, by absolute value,
            the lower number first among equal ones; −1 where there are fewer.
        values: ``[n, m]``: what each of them adds; 0 where there is none.
        own: ``[n]``: what a training node's own row adds, without its own label; 0 for all other nodes.
        others: ``[n]``: what all other anchors add together.
    """

    scores: FloatArray
    sources: IntArray
    values: FloatArray
    own: FloatArray
    others: FloatArray


def contributions(
    spread: Spread, graph: Graph, nodes: IntArray, classes: IntArray, most: int
) -> Contributions:
    """Return what the score of one class of each node is made of.

    Args:
        spread: The fitted spread.
        graph: The fitted graph.
        nodes: ``[n]`` nodes.
        classes: ``[n]`` the class in question of each.
        most: Number of anchors that are listed for each node.
    """
    descriptions = spread.descriptions(graph, nodes)
    order = np.argsort(spread.anchors, kind="stable")
    anchors, dual = spread.anchors[order], _centred(spread.fitted.dual)[torch.from_numpy(order)]
    position = np.full(graph.num_nodes, -1)
    position[anchors] = np.arange(len(anchors))
    left_out = np.zeros((len(nodes), dual.shape[1]))
    row_of = np.full(graph.num_nodes, -1)
    row_of[spread.train] = np.arange(len(spread.train))
    taught = row_of[nodes] >= 0
    left_out[taught] = _centred(spread.fitted.own)[torch.from_numpy(row_of[nodes][taught])].numpy()

    parts = [
        _block(spread, descriptions, anchors, dual, position, nodes[part], classes[part], most)
        for part in _blocks(len(nodes), len(anchors))
    ]
    raw, found, values, own, total = (np.concatenate(each) for each in zip(*parts, strict=True))
    rows, tau = np.arange(len(nodes)), spread.temperature
    scores = tau * (raw - left_out)
    own = tau * (own - left_out[rows, classes])
    values = tau * values
    sources = np.where(found >= 0, anchors[found], -1)
    return Contributions(
        scores.astype(np.float32),
        sources,
        values.astype(np.float32),
        own.astype(np.float32),
        (tau * total - values.sum(axis=1)).astype(np.float32),
    )


def _centred(rows: Tensor) -> Tensor:
    rows = rows.double()
    return (rows - rows.mean(dim=1, keepdim=True)).float()


def _blocks(rows: int, columns: int) -> list[slice]:
    step = max(1, BLOCK_ENTRIES // max(1, columns))
    return [slice(start, min(start + step, rows)) for start in range(0, max(rows, 1), step)]


def _block(
    spread: Spread,
    descriptions: Descriptions,
    anchors: IntArray,
    dual: Tensor,
    position: IntArray,
    nodes: IntArray,
    classes: IntArray,
    most: int,
) -> tuple[npt.NDArray[np.float64], ...]:
    """Return, without the temperature: scores, places, values, the own row's, and the sum of all others'."""
    similarities = spread.similarities(descriptions, nodes, anchors)
    raw = similarities @ dual
    added = similarities.mul_(dual.T[torch.from_numpy(classes)])
    place = position[nodes]
    inside = np.flatnonzero(place >= 0)
    at = torch.from_numpy(inside), torch.from_numpy(place[inside])
    own = torch.zeros(len(nodes))
    own[at[0]] = added[at]
    added[at] = 0.0
    sizes = added.abs()
    sizes[at] = float("nan")  # not among the others
    found, _ = top_k(lambda rows: sizes[rows], torch.arange(len(nodes)), len(anchors), most, largest=True)
    values = added.gather(1, found.clamp_min(0)).masked_fill(found < 0, 0.0)
    total = added.sum(dim=1, dtype=torch.float64)
    return raw.double().numpy(), found.numpy(), values.double().numpy(), own.double().numpy(), total.numpy()
