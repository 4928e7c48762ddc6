"""The given and the found half side by side: how often each joins nodes of one class, and which classes.

A pair counts for the node that searched: of a given edge both ends search. Labels of test nodes are read here
to describe the halves, and nothing that learns sees the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from otherhalf.complement.missing_half import MissingHalf
from otherhalf.complement.search import cosines, top_k, unit_rows
from otherhalf.diagnosis.units import UnitFree
from otherhalf.estimators.inside import spread_of
from otherhalf.graph import Graph
from otherhalf.report.reported import Reported
from otherhalf.report.values import names, number, numbers
from otherhalf.system.arrays import UNKNOWN, IntArray

MOST_CLASSES = 20
"""Most classes of which the mixing is shown."""

MOST_CANDIDATES = 20_000
"""Most nodes that a node is compared with by its features."""

MOST_QUERIES, FEWEST_QUERIES = 2_000, 300
WORK = 6e9
"""The comparison by features searches for so many nodes, or for fewer where the products of features would be
more than this; a second on one core."""


def halves(fit: Reported) -> dict[str, Any]:
    """Return the halves, what they are compared with, and how they mix the classes."""
    graph, half = fit.graph, getattr(fit.model, "missing_half_", None)
    given = _both_ways(graph.undirected_edges)
    shown = _largest_classes(graph)
    rows = [_row(fit, "given", "given edges", given, graph.num_edges)]
    mixing = {"given": _shares(given, graph, shown)}
    if half is not None:
        rows += [*_found_rows(fit, half), *_compared(fit, half)]
        mixing["found"] = _shares(half.pairs, graph, shown)
    return {
        "kind": half and half.kind,
        "words": "" if half is None else half.words or f"made by the encoder {half.encoder}",
        "k": half and half.k,
        "rows": rows,
        "mixing": mixing,
        "mixing_classes": names(graph.classes[shown]),
        "worth": None,
    }


def pair_homophily(
    pairs: IntArray, y: IntArray, searching: npt.NDArray[np.bool_] | None = None
) -> float | None:
    """Return the share of pairs within a class, among pairs with two known labels; None without any.

    Args:
        pairs: ``[2, P]``: nodes that search, and nodes that they are joined to.
        y: ``[N]`` class codes.
        searching: ``[N]`` whether pairs of this node count; default: all.
    """
    counted = (y[pairs[0]] != UNKNOWN) & (y[pairs[1]] != UNKNOWN)
    if searching is not None:
        counted &= searching[pairs[0]]
    source, target = pairs[:, counted]
    return float(np.mean(y[source] == y[target])) if len(source) else None


def random_homophily(
    y: IntArray, candidates: IntArray, searching: npt.NDArray[np.bool_] | None = None
) -> float | None:
    """Return the homophily that pairs would have on average if the other node was drawn from all candidates.

    It is exact: a node of class c meets its class with the share of c among the labelled candidates but
    itself.

    Args:
        y: ``[N]`` class codes.
        candidates: The nodes to draw from.
        searching: ``[N]`` whether this node searches; default: all.
    """
    known = candidates[y[candidates] != UNKNOWN]
    counts = np.bincount(y[known], minlength=int(y.max(initial=0)) + 1)
    among = np.zeros(len(y), dtype=np.int64)
    among[known] = 1
    nodes = np.flatnonzero((y != UNKNOWN) & (True if searching is None else searching))
    others = len(known) - among[nodes]
    nodes, others = nodes[others > 0], others[others > 0]
    return float(np.mean((counts[y[nodes]] - among[nodes]) / others)) if len(nodes) else None


def mixing_shares(pairs: IntArray, y: IntArray, classes: IntArray) -> npt.NDArray[np.float64]:
    """Return ``[c, c]``: of the pairs from each class, the share that goes to each; NaN for a class without.

    The shares are of all pairs with two known labels: with fewer classes than there are, rows sum to less
    than 1.

    Args:
        pairs: ``[2, P]``.
        y: ``[N]`` class codes.
        classes: The codes of rows and columns.
    """
    source, target = pairs[:, (y[pairs[0]] != UNKNOWN) & (y[pairs[1]] != UNKNOWN)]
    count = int(y.max(initial=0)) + 1
    counts = np.bincount(y[source] * count + y[target], minlength=count * count).reshape(count, count)
    wanted = classes[classes < count]
    rows = np.full((len(classes), len(classes)), np.nan)
    with np.errstate(invalid="ignore"):
        shares = counts[np.ix_(wanted, wanted)] / counts[wanted].sum(axis=1, keepdims=True)
    rows[: len(wanted), : len(wanted)] = shares
    return rows


def _both_ways(edges: IntArray) -> IntArray:
    return np.concatenate([edges, edges[::-1]], axis=1)


def _largest_classes(graph: Graph) -> IntArray:
    counts = np.bincount(graph.y[graph.y != UNKNOWN], minlength=graph.num_classes)
    return np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])


def _shares(pairs: IntArray, graph: Graph, classes: IntArray) -> list[Any]:
    return numbers(mixing_shares(pairs, graph.y, classes))


def _searching(fit: Reported) -> dict[str, npt.NDArray[np.bool_] | None]:
    return {"all": None, "train": fit.part == "t", "test": fit.part == "s"}


def _row(
    fit: Reported, name: str, title: str, pairs: IntArray, edges: int | None, explained: str = ""
) -> dict[str, Any]:
    shares = {part: pair_homophily(pairs, fit.graph.y, mask) for part, mask in _searching(fit).items()}
    rounded = {part: number(share) for part, share in shares.items()}
    return {"name": name, "title": title, "edges": edges, **rounded, "explained": explained}


def _found_rows(fit: Reported, half: MissingHalf) -> list[dict[str, Any]]:
    title = "random half" if half.words == "joined at random" else "found half"
    rows = [_row(fit, "found", title, half.pairs, half.num_edges)]
    if half.kind == "both":
        for kind, words in (("homophily", "similar nodes"), ("heterophily", "dissimilar nodes")):
            part = half.part(kind)
            rows.append(_row(fit, f"found_{kind}", f"{title}: {words}", part.pairs, part.num_edges))
    return rows


def _compared(fit: Reported, half: MissingHalf) -> list[dict[str, Any]]:
    """Return the two rows that the found half is compared with: by features alone, and at random."""
    graph = fit.graph
    draw = np.random.default_rng(fit.seed)
    candidates = _candidates(fit, half, draw)
    drawn = {
        part: number(random_homophily(graph.y, candidates, mask)) for part, mask in _searching(fit).items()
    }
    chance = {
        "name": "random",
        "title": "random nodes",
        "edges": None,
        **drawn,
        "explained": "What nodes drawn at random would give on average, by the shares of the classes.",
    }
    features = UnitFree.of(graph.x)
    if not features.used_columns():
        return [chance]
    wide = features.x.shape[1] if isinstance(features.x, np.ndarray) else features.x.nnz / graph.num_nodes
    most = int(np.clip(WORK / max(1.0, len(candidates) * wide), FEWEST_QUERIES, MOST_QUERIES))
    queries = np.arange(graph.num_nodes)
    if len(queries) > most:
        queries = np.sort(draw.choice(queries, most, replace=False))
    largest = half.kind != "heterophily"
    compared = np.union1d(queries, candidates)
    among, asking = (torch.from_numpy(np.searchsorted(compared, nodes)) for nodes in (candidates, queries))
    similar = cosines(unit_rows(features.x[compared]), among)
    nearest, _ = top_k(similar, asking, len(candidates), half.k, largest=largest)
    found = nearest.numpy()
    kept = found >= 0
    source = np.repeat(queries, kept.sum(axis=1))
    pairs = np.stack([source, candidates[found[kept]]])
    which = "most" if largest else "least"
    said = f"Each node joined to the {half.k} nodes with the {which} similar features (by cosine)"
    said += f", among {len(candidates):,} nodes." if len(candidates) < graph.num_nodes else "."
    if len(queries) < graph.num_nodes:
        said += f" Counted for a sample of {len(queries):,} of {graph.num_nodes:,} nodes."
    return [_row(fit, "knn", f"{which} similar features", pairs, None, said), chance]


def _candidates(fit: Reported, half: MissingHalf, draw: np.random.Generator) -> IntArray:
    """Return the nodes that a node of the found half could be joined to, or a sample of them."""
    spread = spread_of(fit.model)
    if spread is not None:
        nodes = spread.candidates
    else:
        nodes = fit.split.train if half.method == "kernel" else np.arange(fit.graph.num_nodes)
    if len(nodes) > MOST_CANDIDATES:
        nodes = draw.choice(nodes, MOST_CANDIDATES, replace=False)
    return np.sort(nodes)
