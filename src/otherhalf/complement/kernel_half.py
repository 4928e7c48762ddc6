"""The missing half by leave-one-out: nodes joined to the labelled nodes that a chosen kernel finds similar.

The kernel is chosen, and the scores of training nodes are computed, without a node's own label. So the half
is as good around training nodes as around all others, which the embedding of the paper cannot be.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from otherhalf.complement.basis import Basis
from otherhalf.complement.choice import choose_kernels
from otherhalf.complement.descriptions import Descriptions
from otherhalf.complement.kernels import LARGE, Kernel, Similarities, mixture_block, words_of
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.complement.ridge import Ridge, centred, fit_landmark_blocks, fit_ridge
from otherhalf.complement.search import block_rows, top_k
from otherhalf.complement.settings import KernelSettings
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.process import give_back_freed_memory
from otherhalf.system.profile import timed
from otherhalf.training.loop import SILENT, Monitor
from otherhalf.training.supervised import Supervision

TEMPERATURES = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 14.0, 20.0)
"""Factors of the scores; the likeliest on leave-one-out is chosen."""

MOST_TAUGHT = 100_000
"""Most training nodes that the regression over landmarks learns from; with more, a sample."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Labels spread over the missing half: the scores S of every node.

    Attributes:
        basis: What the descriptions learned from the fitted graph.
        kernels: The kernels whose mean is the similarity.
        ridge: λ.
        train: Training nodes.
        anchors: Nodes that the scores are a function of: all training nodes, or landmarks among them.
        candidates: Training nodes that every node is compared with in the search for the half.
        fitted: The regression.
        temperature: Factor that makes the scores logits.
    """

    basis: Basis
    kernels: tuple[Kernel, ...]
    ridge: float
    train: IntArray
    anchors: IntArray
    candidates: IntArray
    fitted: Ridge
    temperature: float

    def similarities(self, descriptions: Descriptions, nodes: IntArray, others: IntArray) -> Tensor:
        """Return the chosen kernel between nodes."""
        return mixture_block(self.kernels, descriptions, nodes, others)

    def descriptions(self, graph: Graph, nodes: IntArray | None = None) -> Descriptions:
        """Return the descriptions of a graph that :func:`spread_over` reads, of some nodes or of all."""
        asked = None if nodes is None else np.concatenate([nodes, self.anchors, self.candidates])
        return Descriptions(graph, self.basis, asked, [kernel.description for kernel in self.kernels])

    def scores(self, raw: Tensor, nodes: IntArray) -> FloatArray:
        """Return S of some nodes, made of ``[n, C]`` products with the dual.

        They are leave-one-out on training nodes, and logits.
        """
        place = np.full(max(nodes.max(initial=-1), self.train.max(initial=-1)) + 1, -1)
        place[self.train] = np.arange(len(self.train))
        taught = place[nodes] >= 0
        scores = raw.clone()
        scores[torch.from_numpy(taught)] -= self.fitted.own[torch.from_numpy(place[nodes][taught])]
        scores -= scores.mean(dim=1, keepdim=True)
        return (self.temperature * scores).numpy()


@dataclass(frozen=True, eq=False)
class KernelHalf:
    """The missing half of one graph, and the scores S of its nodes; a random half has no scores."""

    scores: FloatArray | None
    half: MissingHalf


def learn_kernel_half(
    graph: Graph, scaling: Scaling, kind: str, settings: KernelSettings, supervision: Supervision
) -> tuple[Spread, KernelHalf]:
    """Choose the kernels, solve the regression, and join every node to similar (or dissimilar) ones.

    Args:
        graph: The graph; only labels of train and val nodes are read.
        scaling: Scaling of the features, fitted on the graph.
        kind: ``homophily`` joins the most similar nodes, ``heterophily`` the least similar, ``both`` both.
        settings: K and limits.
        supervision: Split, seed, metric, monitor and weights of the classes. The weights move the scores;
            the kernels, and with them the half, are chosen without.
    """
    times = [time.perf_counter()]
    basis = Basis.of(graph, scaling)
    choice = choose_kernels(Descriptions(graph, basis), settings, supervision)
    descriptions = Descriptions(graph, basis, names=[kernel.description for kernel in choice.kernels])
    give_back_freed_memory()  # the next stage needs other sizes: what this one freed would lie idle
    times.append(time.perf_counter())
    split, seed = supervision.split, supervision.seed
    spread = fit_kernels(
        descriptions,
        choice.kernels,
        choice.ridge,
        settings,
        split.train,
        seed,
        supervision.class_weights,
    )
    give_back_freed_memory()
    found = spread_over(spread, descriptions, kind, settings.k, monitor=supervision.monitor)
    times.append(time.perf_counter())
    found.half.seconds.update(zip(("choose", "spread"), np.diff(times).tolist(), strict=True))
    return spread, found


@timed("regression")
def fit_kernels(
    descriptions: Descriptions,
    kernels: tuple[Kernel, ...],
    ridge: float,
    settings: KernelSettings,
    train: IntArray,
    seed: int,
    class_weights: FloatArray | None = None,
) -> Spread:
    """Solve the regression of the labels of ``train`` with chosen kernels, and choose the temperature.

    With more than :data:`MOST_TAUGHT` training nodes it learns from a sample of them: no score of the others
    has seen their label, so all are left out.
    """
    graph, train = descriptions.graph, np.array(train)
    draw = np.random.default_rng(seed)
    exact, large = len(train) <= settings.exact, graph.num_nodes > LARGE
    candidates = _sampled(train, settings.max_candidates, draw)
    # On a large graph landmarks are candidates, too: one block of similarities is then enough.
    anchors = train if exact else _sampled(candidates if large else train, settings.landmarks, draw)
    taught = train if exact else _sampled(train, MOST_TAUGHT, draw)
    codes = torch.from_numpy(graph.y[taught])
    targets = centred(codes, graph.num_classes)
    by_class = None if class_weights is None else torch.from_numpy(class_weights)
    weights = None if by_class is None else by_class[codes]
    to_anchors = Similarities(kernels, descriptions, anchors)
    among = to_anchors.block(anchors)
    if exact:
        fitted = fit_ridge(among, targets, ridge, weights)
        leave_one_out = among @ fitted.dual - fitted.own
    else:
        fitted, leave_one_out = fit_landmark_blocks(
            lambda part: to_anchors.block(taught[part]), among, targets, ridge, weights
        )
    leave_one_out -= leave_one_out.mean(dim=1, keepdim=True)
    temperature = min(
        TEMPERATURES, key=lambda t: float(F.cross_entropy(t * leave_one_out, codes, weight=by_class))
    )
    if taught is not train:
        own = torch.zeros(len(train), graph.num_classes)
        told = np.isin(train, taught)
        own[torch.from_numpy(told)] = fitted.own[torch.from_numpy(np.searchsorted(taught, train[told]))]
        fitted = Ridge(fitted.dual, own)
    return Spread(descriptions.basis, kernels, ridge, train, anchors, candidates, fitted, temperature)


@timed("search of the missing half")
def spread_over(
    spread: Spread,
    descriptions: Descriptions,
    kind: str,
    k: int,
    *,
    nodes: IntArray | None = None,
    monitor: Monitor = SILENT,
) -> KernelHalf:
    """Compute the scores of nodes of a graph, and the half that joins them to labelled nodes.

    New nodes are treated like known ones: compared with the training nodes of the fit.

    Args:
        spread: The fitted spread.
        descriptions: The graph (:meth:`Spread.descriptions`).
        kind: Kind of the half.
        k: Number of labelled nodes that each node is joined to.
        nodes: The nodes in question, which have the same scores and pairs as among all; None for all nodes.
            Row i of the scores is that of the i-th of them, and the half has their pairs alone.
        monitor: Is given the progress.
    """
    count, candidates = descriptions.graph.num_nodes, spread.candidates
    asked = np.arange(count) if nodes is None else np.asarray(nodes)
    raw = torch.empty(len(asked), spread.fitted.dual.shape[1])
    position = torch.full((count,), -1)
    position[torch.from_numpy(candidates)] = torch.arange(len(candidates))
    largest = kind != "heterophily"
    opposite: list[tuple[Tensor, Tensor]] = []
    buffer = torch.empty(min(len(asked), block_rows(len(candidates))), len(candidates))
    to_candidates = Similarities(spread.kernels, descriptions, candidates)
    places = _places(spread.anchors, candidates)
    to_anchors = Similarities(spread.kernels, descriptions, spread.anchors) if places is None else None

    def similarities(queries: Tensor) -> Tensor:
        # The scores need the same block as the search, and the block is most of the cost.
        rows = asked[queries.numpy()]
        block = to_candidates.block(rows, buffer[: len(rows)])
        anchors = block[:, places] if to_anchors is None else to_anchors.block(rows)
        raw[queries] = anchors @ spread.fitted.dual
        own = position[torch.from_numpy(rows)]
        block[torch.arange(len(own))[own >= 0], own[own >= 0]] = float("nan")
        if kind == "both":
            opposite.append(_least(block, k))
        monitor.report("spread", int(queries[-1]) + 1, len(asked))
        return block

    nearest, values = top_k(similarities, torch.arange(len(asked)), len(candidates), k, largest=largest)
    found = [(nearest, values if largest else torch.full_like(values, -1.0))]
    if kind == "both":
        least = torch.cat([each for each, _ in opposite]) if opposite else nearest
        found.append((least, torch.full(least.shape, -1.0)))
    pairs, weights = zip(*(_pairs(asked, candidates, *each) for each in found), strict=True)
    half = MissingHalf(
        np.concatenate(pairs, axis=1),
        count,
        kind,
        k,
        len(candidates),
        weights=np.concatenate(weights),
        method="kernel",
        words=words_of(spread.kernels, kind),
    )
    return KernelHalf(spread.scores(raw, asked), half)


def _places(nodes: IntArray, among: IntArray) -> Tensor | slice | None:
    """Return the place of each node among others, or None if one of them is not there."""
    if np.array_equal(nodes, among):
        return slice(None)
    order = np.argsort(among, kind="stable")
    found = np.searchsorted(among, nodes, sorter=order).clip(max=len(among) - 1)
    places = order[found]
    return torch.from_numpy(places) if np.array_equal(among[places], nodes) else None


def _least(block: Tensor, k: int) -> tuple[Tensor, Tensor]:
    rows = torch.arange(len(block))
    return top_k(lambda queries: block[queries], rows, block.shape[1], k, largest=False)


def _pairs(
    nodes: IntArray, candidates: IntArray, found: Tensor, values: Tensor
) -> tuple[IntArray, FloatArray]:
    """Return ``[2, P]`` pairs and their weights: shares of a node's similarity, negative for dissimilar ones.

    A similarity that is 0 in single precision joins nothing.
    """
    kept = (found >= 0) & (values != 0)
    # A node unlike all others has similarities that are tiny; their shares still add up to 1.
    values = torch.where(kept, values, 0.0).double()
    shares = (values / values.abs().sum(dim=1, keepdim=True).clamp_min(1e-300)).float()
    source = torch.arange(len(found))[:, None].expand_as(found)[kept].numpy()
    return np.stack([nodes[source], candidates[found[kept].numpy()]]), shares[kept].numpy()


def _sampled(nodes: IntArray, most: int, draw: np.random.Generator) -> IntArray:
    return nodes if len(nodes) <= most else np.sort(draw.choice(nodes, most, replace=False))


def random_half(nodes: int, train: IntArray, k: int, seed: int, kind: str = "homophily") -> KernelHalf:
    """Return a half that joins every node to K training nodes at random: what a found half is compared with.

    Each is drawn from all training nodes but the node itself, so one may be drawn twice.
    """
    draw = np.random.default_rng(seed)
    position = np.full((nodes, 1), len(train))
    position[train, 0] = np.arange(len(train))
    signs = {"homophily": (1,), "heterophily": (-1,), "both": (1, -1)}[kind]
    targets = [draw.integers(0, len(train) - (position < len(train)), (nodes, k)) for _ in signs]
    pairs = [
        np.stack([np.repeat(np.arange(nodes), k), train[each + (each >= position)].ravel()])
        for each in targets
    ]
    half = MissingHalf(
        np.concatenate(pairs, axis=1),
        nodes,
        kind,
        k,
        len(train),
        weights=np.repeat(np.array(signs, dtype=np.float32) / k, nodes * k),
        method="kernel",
        words="joined at random",
    )
    return KernelHalf(None, half)
