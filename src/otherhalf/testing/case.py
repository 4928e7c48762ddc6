"""What the checks of an estimator share: the graph, the fit that several look at, and ways to compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.base import NodeClassifier
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, FloatArray


@dataclass
class Case:
    """An estimator, a graph with ids and a split of it, and the fit that several checks look at."""

    estimator: NodeClassifier
    graph: Graph
    split: Split

    @cached_property
    def fitted(self) -> NodeClassifier:
        """A clone, fitted."""
        return self.fit(self.graph)

    @cached_property
    def probabilities(self) -> FloatArray:
        """Its probabilities of the fitted graph."""
        return self.fitted.predict_proba(self.graph)

    def fit(self, graph: Graph) -> NodeClassifier:
        """Return a clone fitted to a graph, with the split of the case."""
        return clone(self.estimator).fit(graph, self.split)  # type: ignore[no-any-return]


def small_graph() -> Graph:
    """Return the default graph of the checks: one node in ten has no label, and classes are not sorted."""
    drawn = contextual_sbm(num_nodes=40, num_classes=3, num_features=4, average_degree=4, signal=2.0, seed=5)
    y = np.where(np.arange(40) % 10 == 9, UNKNOWN, drawn.y)
    ids = np.array([f"paper {7 * i % 40}" for i in range(40)])
    return Graph(edges=drawn.edges, x=drawn.x, y=y, classes=np.array(["sea", "air", "land"]), ids=ids)


def expect(kept: Any, sentence: str) -> None:
    """Raise AssertionError with this sentence if a rule is not kept."""
    if not kept:
        raise AssertionError(sentence)


def as_json(values: dict[str, Any]) -> str:
    """Return values as JSON has them: tuples and lists are the same."""
    return json.dumps(values, default=repr)


def equal(one: Any, other: Any) -> bool:
    """Return whether two arrays are equal, bit by bit."""
    return np.array_equal(np.asarray(one), np.asarray(other))


def content(value: Any) -> Any:
    """Return everything that a graph or a split holds, as values that ``==`` compares."""
    if sp.issparse(value):
        return [content(part) for part in (value.data, value.indices, value.indptr)]
    if is_dataclass(value):
        return [content(getattr(value, item.name)) for item in fields(value)]
    if isinstance(value, tuple | list):
        return [content(part) for part in value]
    if not isinstance(value, np.ndarray):
        return repr(value)
    # The bytes of objects, such as ids, say where they are and not what they are.
    return value.dtype, value.shape, value.tolist() if value.dtype == object else value.tobytes()


def expect_refusal(use: Callable[[], Any], sentence: str, error: type[Exception]) -> None:
    """Raise AssertionError if something is not refused with this error, in one line."""
    try:
        use()
    except error as raised:
        expect("\n" not in str(raised) and str(raised), f"{sentence}: the refusal is not one sentence")
    except Exception as raised:
        raise AssertionError(f"{sentence}: {type(raised).__name__} is not {error.__name__}") from raised
    else:
        raise AssertionError(sentence)
