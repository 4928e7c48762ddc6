"""Graphs and splits drawn by hypothesis: small, valid, and as odd as users' graphs are.

They shrink to few nodes, one edge, features of zero and plain names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN

try:
    from hypothesis import strategies as st
    from hypothesis.extra.numpy import arrays
except ImportError as error:
    raise ImportError(
        "otherhalf.testing draws graphs with hypothesis: run `pip install 'otherhalf[testing]'`"
    ) from error

Size = int | tuple[int, int]
"""A number, or the least and the most."""

Draw = Callable[..., Any]

VALUES = st.sampled_from([0.0, 1.0, -1.0]) | st.floats(-100, 100, width=32)
"""Default of the values of features: many are equal, so that nodes can be identical."""

WEIGHTS = st.sampled_from([1.0, 0.25, 3.0]) | st.floats(0.125, 1000, width=32)
RELATIONS = st.sampled_from(["cites", "likes", 'is, "in" law', None])
NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6)
NUMBERS = st.integers(0, 10**9)


def graphs(
    *,
    nodes: Size = (2, 10),
    classes: Size = (2, 3),
    per_class: int = 1,
    features: Size = (0, 4),
    values: st.SearchStrategy[float] = VALUES,
    sparse: bool | None = None,
    directed: bool | None = None,
    unlabelled: bool | None = None,
    isolated: bool | None = None,
    weights: bool | None = None,
    relations: bool | None = None,
    ids: bool | None = None,
) -> st.SearchStrategy[Graph]:
    """Return a strategy that draws graphs.

    A size is a number, or the least and the most. A choice is True (every graph has it), False (none has it)
    or None (some have it). Self loops and repeated edges are given to every graph, which drops them.

    Args:
        nodes: N.
        classes: C, or 0 for graphs without labels. Classes have numbers or odd names, in any order.
        per_class: Least number of nodes of every class.
        features: D, or 0 for graphs without features, which get a column of ones.
        values: Strategy of a value of a feature.
        sparse: Whether the features are a sparse matrix.
        directed: Whether the edges have a direction.
        unlabelled: Whether there are nodes without a label.
        isolated: Whether there are nodes without an edge.
        weights: Whether the edges have weights.
        relations: Whether the edges have relations.
        ids: Whether the nodes have ids, numbers or odd text.
    """
    sizes = {"nodes": _limits("nodes", nodes, 2), "classes": _limits("classes", classes, 0)}
    sizes["features"] = _limits("features", features, 0)
    if sparse:  # the column of ones of a graph without features is dense
        sizes["features"] = _limits(
            "sparse features", (max(1, sizes["features"][0]), sizes["features"][1]), 1
        )
    needed = sizes["classes"][0] * per_class + bool(unlabelled)
    if max(needed, 2 + bool(isolated)) > sizes["nodes"][1]:
        raise InputError(
            f"graphs of at most {sizes['nodes'][1]} nodes have no room for what is asked of their nodes: "
            "allow more nodes"
        )

    @st.composite
    def drawn(draw: Draw) -> Graph:
        count = draw(st.integers(*sizes["classes"]).filter(lambda c: _room(c) <= sizes["nodes"][1]))
        least = max(_room(count), sizes["nodes"][0], 2 + bool(isolated))
        n = draw(st.integers(least, sizes["nodes"][1]))
        pairs = draw(_pairs(n, isolated))
        x = draw(arrays(np.float32, (n, draw(st.integers(*sizes["features"]))), elements=values))
        y: Any = None
        names: Any = None
        if count:
            y, names = draw(_labels(n, count, per_class, unlabelled)), draw(_names(count))
        return Graph(
            edges=np.array(pairs).T,
            x=sp.csr_matrix(x) if draw(_choice(sparse)) else x,
            y=y,
            classes=names,
            directed=draw(_choice(directed)),
            ids=draw(_names(n)) if draw(_choice(ids)) else None,
            weights=draw(_each(WEIGHTS, pairs)) if draw(_choice(weights)) else None,
            relations=draw(_each(RELATIONS, pairs)) if draw(_choice(relations)) else None,
        )

    def _room(count: int) -> int:
        return count * per_class + bool(unlabelled)

    result: st.SearchStrategy[Graph] = drawn()
    return result


def splits(graph: Graph) -> st.SearchStrategy[Split]:
    """Return a strategy that draws splits of a graph which every estimator can be fitted with.

    Training nodes are of two classes or more, there is a validation node, and the other labelled nodes are
    in any part.
    """
    if len(np.unique(graph.y[graph.labelled])) < 2 or len(graph.labelled) < 3:
        raise InputError("a split needs three labelled nodes of two classes: draw graphs(per_class=2)")

    @st.composite
    def drawn(draw: Draw) -> Split:
        nodes = draw(st.permutations(graph.labelled.tolist()))
        other = next(node for node in nodes if graph.y[node] != graph.y[nodes[0]])
        rest = [node for node in nodes[1:] if node != other]
        parts = draw(_each(st.integers(0, 2), rest[1:]))
        part = {nodes[0]: 0, other: 0, rest[0]: 1, **dict(zip(rest[1:], parts, strict=True))}
        train, val, test = (np.array([n for n in part if part[n] == i], dtype=int) for i in range(3))
        return Split(train, val, test)

    result: st.SearchStrategy[Split] = drawn()
    return result


# ---------------------------------------------------------------------- parts of a graph


def _limits(what: str, size: Size, least: int) -> tuple[int, int]:
    low, high = (size, size) if isinstance(size, int) else size
    if not least <= low <= high:
        raise InputError(f"{what} must be a number ≥ {least}, or a least and a most number, not {size!r}")
    return low, high


def _choice(given: bool | None) -> st.SearchStrategy[bool]:
    return st.booleans() if given is None else st.just(given)


def _each(values: st.SearchStrategy[Any], items: list[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=len(items), max_size=len(items))


@st.composite
def _pairs(draw: Draw, n: int, isolated: bool | None) -> list[tuple[int, int]]:
    """Draw the ends of the edges, at least one of which is no self loop."""
    nodes = list(range(n))
    if isolated:
        nodes.remove(draw(st.sampled_from(nodes[::-1])))
    node = st.sampled_from(nodes)
    joined = nodes if isolated is False else [draw(node)]
    certain = [(i, draw(st.sampled_from([j for j in nodes if j != i]))) for i in joined]
    return certain + list(draw(st.lists(st.tuples(node, node), max_size=2 * n)))


@st.composite
def _labels(draw: Draw, n: int, count: int, per_class: int, unlabelled: bool | None) -> list[int]:
    certain = [code for code in range(count) for _ in range(per_class)] + [UNKNOWN] * bool(unlabelled)
    codes = st.sampled_from([*range(count), *([] if unlabelled is False else [UNKNOWN])])
    drawn = draw(
        st.lists(codes, min_size=n, max_size=n)
    )  # as many for any C: so graphs shrink to few classes
    return list(draw(st.permutations(certain + drawn[len(certain) :])))


def _names(count: int) -> st.SearchStrategy[list[Any]]:
    """Draw distinct names, all numbers or all text."""
    kinds = (st.lists(each, min_size=count, max_size=count, unique=True) for each in (NUMBERS, NAMES))
    return st.just(list(range(count))) | st.one_of(*kinds)
