"""Splits of the labelled nodes into train, val and test, by each protocol that papers use."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, IntArray
from otherhalf.system.seeds import generator

KINDS = ("uniform", "stratified", "quota", "fixed", "public", "given")
ONE_SPLIT = ("public", "given")
"""Kinds of which a graph has one split, whatever the seed."""

GIVEN = ("column", "time", "ids")
"""What a split that the user brought follows."""


def split(
    graph: Graph,
    kind: str = "uniform",
    seed: int = 0,
    *,
    ratios: tuple[float, float, float] = (0.6, 0.2, 0.2),
) -> Split:
    """Split the labelled nodes into train, val and test; the result depends on the seed alone.

    With N labelled nodes in C classes and ratios (r₁, r₂, r₃):

    * ``"uniform"`` (the paper): one random permutation, cut at r₁·N and (r₁ + r₂)·N.
    * ``"stratified"``: the sizes of ``"uniform"``, and every class divided in the same proportion. The rule
      for small classes comes before the sizes: a class of one node is in train; a class of two or more is
      in train and in test.
    * ``"quota"`` (GPR-GNN and its successors): round(r₁·N/C) training nodes from every class, or all nodes of
      a class that is smaller; round(r₂·N) of the remaining nodes are val, the others test.
    * ``"fixed"``: number ``seed`` of the splits published with the data; ``ratios`` is not used.
    * ``"public"``: Planetoid's one split of Cora, Citeseer and Pubmed; neither is used.
    * ``"given"``: the split by a column or by time that ``read_tables`` was asked for; neither is used.

    Args:
        graph: The graph; nodes without a label are in no part.
        kind: One of ``uniform``, ``stratified``, ``quota``, ``fixed``, ``public``, ``given``.
        seed: Seed of the random choice, or number of the fixed split.
        ratios: Shares of train, val and test: positive, with sum 1.

    Returns:
        The three parts as sorted node indices.
    """
    if kind not in KINDS:
        raise InputError(f"there is no split {kind!r}: choose one of {', '.join(KINDS)}")
    rng = generator(seed)
    if kind in ("fixed", "public", "given"):
        return _published(graph, kind, int(seed) if kind == "fixed" else 0)
    _check_ratios(ratios)
    graph.require_labels("a split")
    nodes = rng.permutation(graph.labelled)
    part = {"uniform": _uniform, "stratified": _stratified, "quota": _quota}[kind](graph.y[nodes], ratios)
    train, val, test = (np.sort(nodes[part == p]) for p in range(3))
    result = Split(train=train, val=val, test=test, kind=kind, seed=int(seed))
    _check_filled(result, len(nodes))
    return result


def published_splits(graph: Graph, kind: str) -> list[Split]:
    """Return the splits of a kind, ``fixed``, ``public`` or ``given``, that came with the graph."""
    kinds = {"public": "public", **dict.fromkeys(GIVEN, "given")}
    return [s for s in graph.fixed_splits if kinds.get(s.kind, "fixed") == kind]


def _published(graph: Graph, kind: str, number: int) -> Split:
    name = graph.name or "this graph"
    splits = published_splits(graph, kind)
    if not splits and kind == "given":
        raise InputError(f"{name} comes without a split of yours: name its column with split_column")
    if not splits:
        raise InputError(f"{name} comes without {kind} splits: choose uniform, stratified or quota")
    if number >= len(splits):
        raise InputError(
            f"{name} has {len(splits)} fixed split(s), so there is no number {number}: "
            f"give a seed from 0 to {len(splits) - 1}"
        )
    chosen = splits[number]
    train, val, test = (p[graph.y[p] != UNKNOWN] for p in (chosen.train, chosen.val, chosen.test))
    return replace(chosen, train=train, val=val, test=test, kind=kind, seed=number)


def _uniform(y: IntArray, ratios: Sequence[float]) -> IntArray:
    train, val, test = _sizes(len(y), ratios)
    return np.repeat(np.arange(3), [train, val, test])


def _stratified(y: IntArray, ratios: Sequence[float]) -> IntArray:
    """Choose first the training nodes of every class, then the validation nodes among the others."""
    _, y, counts = np.unique(y, return_inverse=True, return_counts=True)
    train_size, val_size, _ = _sizes(len(y), ratios)
    # At least one node of a class is in train and, from two nodes on, at least one remains for test.
    train = _apportion(counts, ratios[0], train_size, np.ones_like(counts), np.maximum(counts - 1, 1))
    rest = counts - train
    val = _apportion(
        rest, ratios[1] / (ratios[1] + ratios[2]), val_size, np.zeros_like(rest), np.maximum(rest - 1, 0)
    )
    rank = _rank_within_class(y)
    return np.where(rank < train[y], 0, np.where(rank < (train + val)[y], 1, 2))


def _quota(y: IntArray, ratios: Sequence[float]) -> IntArray:
    per_class = round(ratios[0] * len(y) / len(np.unique(y)))
    part = np.where(_rank_within_class(y) < per_class, 0, 2)
    rest = np.flatnonzero(part == 2)
    part[rest[: round(ratios[1] * len(y))]] = 1
    return part


def _sizes(n: int, ratios: Sequence[float]) -> tuple[int, int, int]:
    val_start, test_start = round(ratios[0] * n), round((ratios[0] + ratios[1]) * n)
    return val_start, test_start - val_start, n - test_start


def _apportion(counts: IntArray, share: float, total: int, low: IntArray, high: IntArray) -> IntArray:
    """Return integers near ``share · counts`` with the given total: the method of largest remainders.

    Every number stays between ``low`` and ``high``, even where that makes the total impossible.
    """
    ideal = share * counts
    # Without the small shift 0.6·5 = 3 would become 2 where the product is just below it.
    result: IntArray = np.clip(np.floor(ideal + 1e-9).astype(np.int64), low, high)
    while result.sum() < min(total, high.sum()):
        result[np.argmax(np.where(result < high, ideal - result, -np.inf))] += 1
    while result.sum() > max(total, low.sum()):
        result[np.argmin(np.where(result > low, ideal - result, np.inf))] -= 1
    return result


def _rank_within_class(y: IntArray) -> IntArray:
    """Return for each node how many nodes of its class come before it."""
    order = np.argsort(y, kind="stable")
    class_start = np.searchsorted(y[order], y[order])
    rank: IntArray = np.empty_like(order)
    rank[order] = np.arange(len(y)) - class_start
    return rank


def _check_ratios(ratios: Sequence[float]) -> None:
    if len(ratios) != 3 or any(not r > 0 for r in ratios) or abs(sum(ratios) - 1) > 1e-6:
        raise InputError(
            "the ratios must be three positive numbers with sum 1, the shares of train, val and test, "
            f"not {tuple(ratios)}"
        )


def _check_filled(result: Split, labelled: int) -> None:
    empty = [p for p in ("train", "val", "test") if len(getattr(result, p)) == 0]
    if empty:
        raise InputError(
            f"with {labelled} labelled nodes the {result.kind} split leaves {' and '.join(empty)} empty: "
            "label more nodes, or choose another kind of split or other ratios"
        )
