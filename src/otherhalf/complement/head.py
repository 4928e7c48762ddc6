"""The head: Z_gc = MLP(Z_gnn), trained by grouping and ranking loss (Section 4.2)."""

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from otherhalf.complement.grouping import grouping_loss
from otherhalf.complement.pairs import ListedPairs
from otherhalf.complement.ranking import ranking_lists, ranking_loss, true_scores
from otherhalf.complement.search import dot_products, top_k
from otherhalf.complement.settings import HeadSettings
from otherhalf.graph import Graph
from otherhalf.nn.ops.dropout import dropout
from otherhalf.system.arrays import IntArray
from otherhalf.system.profile import timed
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import seeded, train
from otherhalf.training.supervised import Supervision

VALIDATION_K = 10
"""Number of nearest (or farthest) training nodes of each validation node that measure the embedding."""

VALIDATION_NODES = 1_000
VALIDATION_CANDIDATES = 5_000
"""Most validation nodes, and most training nodes, that this measure uses; above them, samples."""


class Head(nn.Module):
    """An MLP over the encoder's embedding."""

    def __init__(self, width_in: int, settings: HeadSettings) -> None:
        super().__init__()
        widths = [width_in, *[settings.width] * settings.layers]
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise(widths))
        self.dropout = settings.dropout

    def forward(self, z: Tensor) -> Tensor:
        """Return Z_gc."""
        for index, layer in enumerate(self.layers):
            z = layer(dropout(z, self.dropout if self.training else 0.0))
            if index < len(self.layers) - 1:
                z = F.relu(z)
        return z


@timed("head of the embedding")
def train_head(
    graph: Graph, z_gnn: Tensor, settings: HeadSettings, supervision: Supervision, *, most_similar: bool
) -> tuple[Head, History]:
    r"""Train the head by :math:`\mathcal{L} = \mathcal{L}_{grp} + \mathcal{L}_{rank}` on the training nodes.

    In the best epoch, the nearest training nodes of the validation nodes are most often of the same class
    (``most_similar``), or the farthest ones most often of another class.
    """
    split, seed = supervision.split, supervision.seed
    train_nodes, train_labels = torch.from_numpy(split.train.copy()), torch.from_numpy(graph.y[split.train])
    lists = ranking_lists(
        graph.x, graph.y, split.train, settings.ranking_k, max_candidates=settings.max_candidates, seed=seed
    )
    scores, pairs = true_scores(lists), ListedPairs(lists)
    z_train = z_gnn[train_nodes]
    # With the paper's sum over targets, the grouping loss, one number, would hardly count; hence the mean.
    share = 1.0 / len(train_nodes) if settings.mean_ranking_loss else 1.0
    rng = np.random.default_rng(seed)
    val_sample = _sample(split.val, VALIDATION_NODES, rng)
    train_sample = _sample(split.train, VALIDATION_CANDIDATES, rng)
    same_class = torch.from_numpy(graph.y[val_sample][:, None] == graph.y[train_sample][None, :])
    z_both = z_gnn[torch.from_numpy(np.concatenate([val_sample, train_sample]))]
    queries, candidates = torch.arange(len(val_sample)), torch.arange(len(val_sample), len(z_both))
    k = min(VALIDATION_K, len(train_sample))

    with seeded(seed):
        head = Head(z_gnn.shape[1], settings)

        def loss(batch: Tensor) -> Tensor:
            z = head(z_train[batch])
            return grouping_loss(z, train_labels) + share * ranking_loss(z, lists, scores, pairs=pairs)

        def score() -> tuple[float]:
            z = head(z_both)
            if not bool(torch.isfinite(z).all()):
                return (0.0,)  # diverged: the lowest score
            similarities = dot_products(z, candidates, exclude_self=False)
            nearest, _ = top_k(similarities, queries, len(candidates), k, largest=most_similar)
            same = same_class.gather(1, nearest).float().mean()
            return (float(same if most_similar else 1 - same),)

        all_nodes = [torch.arange(len(train_nodes))]  # the lists hold positions among all training nodes
        history = train(
            head, loss, all_nodes, score, settings.training, stage="head", monitor=supervision.monitor
        )
    return head, history


def _sample(nodes: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    return np.array(nodes) if len(nodes) <= most else np.sort(rng.choice(nodes, most, replace=False))
