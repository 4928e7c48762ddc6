"""The learning-to-rank loss (Section 4.2)."""

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional as F

from otherhalf.complement.pairs import ListedPairs, pair_products
from otherhalf.complement.search import cosines, top_k, unit_rows
from otherhalf.nn.ops.compiled import over_rows
from otherhalf.system.arrays import FloatArray, IntArray

LEAST_PAIRS = 10_000_000
"""Pairs of a training node and a candidate from which an inverted index is worth loading its kernel
(10 ms, or 0.9 s where it must be compiled): so many pairs of Coauthor CS take 0.47 s without it and 0.08 s
with it."""

ABSENT = -1
"""Fills the empty places of a ranking list shorter than 2K (a class with fewer than K other nodes)."""


def ranking_lists(
    x: FloatArray | sp.csr_matrix,
    y: IntArray,
    nodes: IntArray,
    k: int,
    *,
    max_candidates: int | None = None,
    seed: int = 0,
) -> Tensor:
    r"""Return the ranking list :math:`\mathcal{R}_i` of every training node, as positions in ``nodes``.

    .. math::
        \mathcal{R}_i = L^{intra}_i[1:K] \,\|\, L^{inter}_i[-K:]

    where :math:`L^{intra}_i` holds the other training nodes of the class of i, by falling cosine of the raw
    features, and :math:`L^{inter}_i` those of the other classes, also by falling cosine: first the K most
    similar nodes of its class, then the K least similar of the others. Among equal cosines, the node that
    comes first in ``nodes`` is chosen first.

    The lists are built by classes and row blocks, or row by row where rows stay sparse in
    :func:`otherhalf.complement.search.unit_rows`; never with B × B numbers in memory.

    Args:
        x: ``[N, D]`` raw features.
        y: ``[N]`` class codes; only those of ``nodes`` are read.
        nodes: The B training nodes.
        k: K.
        max_candidates: Most nodes that may be in the lists, drawn at random (Section 6.4); None for all.
        seed: Seed of that draw.

    Returns:
        ``[B, 2K]`` positions in ``nodes``, intra-class ones first, :data:`ABSENT` in empty places.
    """
    unit = unit_rows(x[nodes])
    labels = y[nodes]
    allowed = np.ones(len(nodes), dtype=bool)
    if max_candidates is not None and max_candidates < len(nodes):
        chosen = np.random.default_rng(seed).choice(len(nodes), max_candidates, replace=False)
        allowed = np.zeros(len(nodes), dtype=bool)
        allowed[chosen] = True
    if sp.issparse(unit) and by_index(len(nodes), int(allowed.sum())):
        return _by_index(unit, labels, np.flatnonzero(allowed), k)
    lists = torch.full((len(nodes), 2 * k), ABSENT, dtype=torch.int64)
    for code in np.unique(labels):
        members = torch.from_numpy(np.flatnonzero(labels == code))
        same = torch.from_numpy(np.flatnonzero((labels == code) & allowed))
        others = torch.from_numpy(np.flatnonzero((labels != code) & allowed))
        if len(same):
            nearest, _ = top_k(cosines(unit, same), members, len(same), k, largest=True)
            lists[members, :k] = _at(same, nearest)
        if len(others):
            farthest, _ = top_k(cosines(unit, others), members, len(others), k, largest=False)
            lists[members, k:] = _at(others, farthest).flip(1)
    return lists


def by_index(nodes: int, candidates: int) -> bool:
    """Return whether lists of so many nodes are made by an inverted index, if their features are sparse."""
    return nodes * candidates >= LEAST_PAIRS


def _by_index(unit: sp.csr_matrix, labels: IntArray, candidates: IntArray, k: int) -> Tensor:
    """Return the ranking lists of sparse unit rows, by an inverted index of the candidates."""
    from otherhalf.complement.ranking_kernels import rank_rows  # compiled when it is first needed

    unit.sort_indices()  # each cosine is a sum in the order of the columns
    index = unit[candidates].tocsc()
    near, far = (np.full((len(labels), k), ABSENT) for _ in range(2))
    matrix = unit.indices.astype(np.int32, copy=False), unit.data
    by_column = index.indptr.astype(np.int32), index.indices.astype(np.int32, copy=False), index.data
    work = 1 + index.nnz // max(1, unit.shape[1])
    over_rows(
        rank_rows, unit.indptr.astype(np.int32), work, *matrix, *by_column,
        labels.astype(np.int64), candidates, near, far,
    )  # fmt: skip
    return torch.from_numpy(np.concatenate([near[:, ::-1], far], axis=1))


def true_scores(lists: Tensor) -> Tensor:
    r"""Return the ground truth :math:`\mathbf{y}_{v_i}`: the number of nodes after each node of a list.

    "The position of each node in :math:`\mathcal{R}_i` determines its true ranking": the first of n listed
    nodes scores n − 1, the last 0. Empty places get −∞, which is probability 0.
    """
    present = lists != ABSENT
    below = present.flip(1).cumsum(1).flip(1) - 1
    return below.to(torch.float32).masked_fill(~present, float("-inf"))


def ranking_loss(z: Tensor, lists: Tensor, scores: Tensor, *, pairs: ListedPairs | None = None) -> Tensor:
    r"""Return the loss of ListNet (Cao et al. 2007): cross-entropy of the true and the predicted ranking.

    .. math::
        \hat{\mathbf{y}}_i = \mathbf{z}_i^T \mathbf{z}[\mathcal{R}_i], \qquad
        \mathcal{L}_{rank} = -\sum_{i=1}^{B} p(\mathbf{y}_i) \log p(\hat{\mathbf{y}}_i)

    with p the softmax over one list. A node whose list is empty adds nothing.

    Args:
        z: ``[B, d]`` embeddings of the training nodes.
        lists: ``[B, L]`` positions in z (:func:`ranking_lists`).
        scores: ``[B, L]`` true scores (:func:`true_scores`).
        pairs: ``ListedPairs(lists)``, to prepare it once for many calls with the same lists.
    """
    pairs = pairs or ListedPairs(lists)
    present = pairs.present
    # A finite number in place of −∞: its probability is 0 too, and 0 · log 0 stays 0, not NaN.
    lowest = z.new_full(lists.shape, torch.finfo(z.dtype).min)
    predicted = lowest.masked_scatter(present, pair_products(z, pairs))
    truth = torch.nan_to_num(F.softmax(scores, dim=1), nan=0.0)
    return -(truth * F.log_softmax(predicted, dim=1)).masked_fill(~present, 0.0).sum()


def _at(candidates: Tensor, index: Tensor) -> Tensor:
    return torch.where(index >= 0, candidates[index.clamp(min=0)], ABSENT)
