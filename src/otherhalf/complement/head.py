"""The head: Z_gc = MLP(Z_gnn), trained by grouping and ranking loss (Section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.complement.grouping import grouping_loss
from otherhalf.complement.pairs import ListedPairs
from otherhalf.complement.ranking import ranking_lists, ranking_loss, true_scores
from otherhalf.complement.search import dot_products, top_k
from otherhalf.estimators.settings import HeadSettings
from otherhalf.graph import Graph, Split
from otherhalf.nn.ops.dropout import dropout
from otherhalf.system.graph_checks import IntArray
from otherhalf.training.loop import Checkpoint, History, seeded, train

VALIDATION_K = 10
"""How many training nodes are looked up for each validation node to tell how good the embedding is."""

VALIDATION_NODES = 1_000
VALIDATION_CANDIDATES = 5_000
"""A sample of so many validation nodes, and training nodes to find, is enough for that at every epoch."""


class Head(nn.Module):
    """An MLP over the encoder's embedding."""

    def __init__(self, width_in: int, settings: HeadSettings) -> None:
        super().__init__()
        widths = [width_in, *[settings.width] * settings.layers]
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise(widths))
        self.dropout = settings.dropout

    def forward(self, z: Tensor) -> Tensor:
        """Z_gc."""
        for index, layer in enumerate(self.layers):
            z = layer(dropout(z, self.dropout if self.training else 0.0))
            if index < len(self.layers) - 1:
                z = F.relu(z)
        return z


def train_head(
    graph: Graph,
    split: Split,
    z_gnn: Tensor,
    settings: HeadSettings,
    seed: int,
    *,
    most_similar: bool,
    checkpoint: Checkpoint | None = None,
    on_epoch: Callable[[int, int], Any] | None = None,
) -> tuple[Head, History]:
    r"""Train the head by :math:`\mathcal{L} = \mathcal{L}_{grp} + \mathcal{L}_{rank}` on the training nodes.

    The weights kept are those under which the validation nodes find the most training nodes of the wanted
    kind among their nearest (``most_similar``) or farthest: their own class, or another.
    """
    train_nodes, train_labels = (
        torch.from_numpy(np.array(split.train)),
        torch.from_numpy(graph.y[split.train]),
    )
    lists = ranking_lists(
        graph.x, graph.y, split.train, settings.ranking_k, max_candidates=settings.max_candidates, seed=seed
    )
    scores, pairs = true_scores(lists), ListedPairs(lists)
    z_train = z_gnn[train_nodes]
    # A mean over targets instead of the paper's sum keeps the grouping loss, one number, from being drowned.
    share = 1.0 / len(train_nodes) if settings.mean_ranking_loss else 1.0
    rng = np.random.default_rng(seed)
    asking = _sample(split.val, VALIDATION_NODES, rng)
    asked = _sample(split.train, VALIDATION_CANDIDATES, rng)
    same_class = torch.from_numpy(graph.y[asking][:, None] == graph.y[asked][None, :])
    z_both = z_gnn[torch.from_numpy(np.concatenate([asking, asked]))]
    queries, candidates = torch.arange(len(asking)), torch.arange(len(asking), len(z_both))
    k = min(VALIDATION_K, len(asked))

    with seeded(seed):
        head = Head(z_gnn.shape[1], settings)

        def loss() -> Tensor:
            z = head(z_train)
            return grouping_loss(z, train_labels) + share * ranking_loss(z, lists, scores, pairs=pairs)

        def score() -> tuple[float]:
            z = head(z_both)
            if not bool(torch.isfinite(z).all()):
                return (0.0,)  # diverged: as bad as can be
            similarities = dot_products(z, candidates, exclude_self=False)
            found, _ = top_k(similarities, queries, len(candidates), k, largest=most_similar)
            same = same_class.gather(1, found).float().mean()
            return (float(same if most_similar else 1 - same),)

        history = train(head, loss, score, settings.training, checkpoint=checkpoint, on_epoch=on_epoch)
    return head, history


def _sample(nodes: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    return np.array(nodes) if len(nodes) <= most else np.sort(rng.choice(nodes, most, replace=False))
