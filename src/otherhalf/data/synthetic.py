"""Synthetic graphs: edges redrawn at a given homophily (Appendix B.3) and contextual block models."""

from typing import Any

import numpy as np

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import IntArray, distinct_keys
from otherhalf.system.seeds import generator

PREFIX = "csbm"
KEYS: dict[str, tuple[str, type[int] | type[float]]] = {
    "nodes": ("num_nodes", int),
    "classes": ("num_classes", int),
    "features": ("num_features", int),
    "degree": ("average_degree", float),
    "homophily": ("homophily", float),
    "signal": ("signal", float),
    "seed": ("seed", int),
}
"""The keys after ``csbm:`` on the command line, and the argument of :func:`contextual_sbm` that each sets."""


def redraw_edges(graph: Graph, homophily: float, seed: int = 0, num_edges: int | None = None) -> Graph:
    """Return the graph with the same features and labels and new edges at a given homophily (Appendix B.3).

    Of E distinct undirected edges, exactly round(h·E) connect nodes of one class and the others nodes of two
    classes; each kind is a uniform draw without replacement from all pairs of its kind. Nodes without a
    label get no edge.

    Args:
        graph: The graph whose nodes and fixed splits are kept.
        homophily: h, the homophily ratio of the new graph, 0 … 1.
        seed: Seed of the edges.
        num_edges: E; default: the number of undirected pairs that the graph has.
    """
    graph.require_labels("drawing edges at a given homophily")
    count = graph.undirected_edges.shape[1] if num_edges is None else num_edges
    labelled = graph.labelled
    edges = _draw_edges(graph.y[labelled], count, homophily, generator(seed))
    return Graph(
        edges=labelled[edges],
        x=graph.x,
        y=graph.y,
        ids=graph.ids,
        classes=graph.classes,
        fixed_splits=graph.fixed_splits,
        name=f"{graph.name}@{homophily}",
    )


def contextual_sbm(
    num_nodes: int = 1000,
    num_classes: int = 5,
    num_features: int = 16,
    average_degree: float = 10.0,
    homophily: float = 0.8,
    signal: float = 2.5,
    seed: int = 0,
) -> Graph:
    r"""Draw a contextual stochastic block model (Deshpande et al. 2018) with C classes of equal size.

    .. math:: \mathbf{x}_i = s \, \mathbf{m}_{y_i} + \boldsymbol\varepsilon_i, \qquad
              \boldsymbol\varepsilon_i \sim \mathcal{N}(0, I_D)

    **m**_c: a random direction of length 1 for every class c, so that s is the length of a class mean in
    standard deviations of the noise. The edges are drawn as in :func:`redraw_edges`: their number
    E = round(N · degree / 2) and the homophily are exact, not only right on average.

    Args:
        num_nodes: N.
        num_classes: C.
        num_features: D.
        average_degree: Mean number of neighbours of a node.
        homophily: Share of edges within a class, 0 … 1.
        signal: s; 0 makes the features pure noise.
        seed: Seed of labels, features and edges.
    """
    _check_sizes(num_nodes, num_classes, num_features, average_degree, signal)
    rng = generator(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    means = rng.standard_normal((num_classes, num_features))
    means *= signal / np.linalg.norm(means, axis=1, keepdims=True)
    x = rng.standard_normal((num_nodes, num_features), dtype=np.float32)
    x += means.astype(np.float32)[y]
    edges = _draw_edges(y, round(num_nodes * average_degree / 2), homophily, rng)
    values = (num_nodes, num_classes, num_features, average_degree, homophily, signal, seed)
    settings = ",".join(f"{key}={value}" for key, value in zip(KEYS, values, strict=True))
    return Graph(edges=edges, x=x, y=y, name=f"{PREFIX}:{settings}")


def parse_synthetic(text: str) -> Graph | None:
    """Return the graph that ``csbm`` or ``csbm:nodes=10000,homophily=0.2,…`` names; None for other texts."""
    if text != PREFIX and not text.startswith(f"{PREFIX}:"):
        return None
    fix = f"write {PREFIX}:key=value,… with the keys {', '.join(KEYS)}"
    options: dict[str, Any] = {}
    for item in filter(None, text[len(PREFIX) + 1 :].split(",")):
        key, _, value = item.partition("=")
        if key.strip() not in KEYS:
            raise InputError(f"{key.strip()!r} in {text!r} is not known: {fix}")
        name, kind = KEYS[key.strip()]
        try:
            options[name] = kind(value)
        except ValueError:
            number = "a whole number" if kind is int else "a number"
            raise InputError(f"{item.strip()!r} in {text!r} is not {number}: {fix}") from None
    return contextual_sbm(**options)


# ---------------------------------------------------------------------- drawing


def _draw_edges(y: IntArray, count: int, homophily: float, rng: np.random.Generator) -> IntArray:
    """Return ``count`` distinct pairs of nodes with labels ``y``, round(homophily · count) within a class."""
    if not 0 <= homophily <= 1:
        raise InputError(f"the homophily must be a number from 0 to 1, not {homophily}")
    if count < 1:
        raise InputError(f"the number of edges must be ≥ 1, not {count}")
    inside = round(homophily * count)
    # With the nodes sorted by class, the partners of a node within its class are those up to the end of the
    # class, and its partners in other classes are those from there to the end: every pair occurs once.
    order = np.argsort(y, kind="stable")
    end = np.searchsorted(y[order], y[order], side="right")
    nodes = np.arange(len(y))
    within = draw_pairs(nodes + 1, end, inside, "within the classes", rng)
    between = draw_pairs(end, np.full_like(end, len(y)), count - inside, "between classes", rng)
    edges: IntArray = order[np.concatenate([within, between], axis=1)]
    return edges


def draw_pairs(start: IntArray, stop: IntArray, count: int, where: str, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` distinct pairs (u, v), uniform over all with start[u] ≤ v < stop[u]."""
    before = np.concatenate([[0], np.cumsum(stop - start)])
    if count > before[-1]:
        raise InputError(
            f"the graph has only {before[-1]} pairs of nodes {where}, too few for {count} edges: "
            "give fewer edges or another homophily"
        )
    numbers = _draw_distinct(int(before[-1]), count, rng)
    u = np.searchsorted(before, numbers, side="right") - 1
    return np.stack([u, start[u] + numbers - before[u]])


def _draw_distinct(population: int, count: int, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` of the numbers 0 … population − 1 uniformly, in O(count) memory."""
    if count > population // 2:
        # Rejection would be slow where most numbers are taken: draw those to leave out.
        keep = np.ones(population, dtype=bool)
        keep[_draw_distinct(population, population - count, rng)] = False
        return np.flatnonzero(keep)
    numbers: IntArray = np.empty(0, dtype=np.int64)
    while len(numbers) < count:
        more = rng.integers(population, size=count - len(numbers) + 16)
        numbers = distinct_keys(np.concatenate([numbers, more]))
    surplus = rng.choice(len(numbers), size=len(numbers) - count, replace=False)
    return np.delete(numbers, surplus)


def _check_sizes(nodes: int, classes: int, features: int, degree: float, signal: float) -> None:
    if classes < 2 or nodes < classes:
        raise InputError(
            f"{nodes} nodes cannot have {classes} classes: give 2 or more classes, and a node for each"
        )
    if features < 1:
        raise InputError(f"the number of features must be ≥ 1, not {features}")
    if not 0 < degree < nodes:
        raise InputError(f"the average degree must be > 0 and < {nodes}, the number of nodes, not {degree}")
    if not 0 <= signal < np.inf:
        raise InputError(f"the signal must be a number ≥ 0, not {signal}")
