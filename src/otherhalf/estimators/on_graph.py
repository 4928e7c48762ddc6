"""OnGraph: a classifier over the nodes of one graph, which scikit-learn may cut into folds."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.given import GraphLike, as_graph, label_codes
from otherhalf.graph import Split
from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray
from otherhalf.system.graph_checks import checked_indices
from otherhalf.training.folds import stratified_folds

FOLDS = 4
"""One in so many of the nodes to learn from selects; the others teach."""


class OnGraph(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model on one graph, with numbers of its nodes as X.

    ``cross_val_score(OnGraph(model, graph), nodes, y)`` scores a model on nodes whose labels it has not seen.
    scikit-learn's ``cross_val_score``, ``GridSearchCV`` and others take rows of X away. Rows of features are
    nodes, and a graph without them is another graph. Here the graph stays whole, and only the labels of the
    nodes that are taken away are hidden from the model. The graph's own labels are never read.

    Args:
        model: An estimator such as :class:`~otherhalf.estimators.goal.GOALClassifier`; it is not changed. Its
            arguments are searched under names such as ``model__hidden``.
        graph: A Graph, a networkx graph or a PyG ``Data``.

    After ``fit``: ``model_`` (the fitted estimator), ``classes_``, ``n_features_in_`` (1: a node's number).
    """

    model: NodeClassifier
    graph: GraphLike
    model_: NodeClassifier
    classes_: npt.NDArray[Any]

    def __init__(self, model: NodeClassifier, graph: GraphLike) -> None:
        self.model = model
        self.graph = graph

    def __sklearn_clone__(self) -> Self:
        return type(self)(clone(self.model), self.graph)  # a graph never changes, and needs no copy

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the labels of some nodes.

        Args:
            X: ``[n]`` or ``[n, 1]`` numbers of nodes, 0 … N−1. A quarter of them, with equal shares of every
                class, selects; the others teach.
            y: Their ``[n]`` labels.
        """
        graph = as_graph(self.graph)
        nodes = _nodes(X, graph.num_nodes)
        if len(np.unique(nodes)) < len(nodes):
            raise InputError("X names a node twice: give every node once")
        labels = np.full(graph.num_nodes, UNKNOWN)
        labels[nodes], classes = label_codes(y, len(nodes))
        graph = replace(graph, y=labels, classes=classes, fixed_splits=())
        known = nodes[labels[nodes] != UNKNOWN]
        selects = stratified_folds(labels[known], FOLDS, self.model.seed) == 0
        split = Split(known[~selects], known[selects], known[:0])
        self.model_ = clone(self.model).fit(graph, split)
        self.classes_, self._graph = self.model_.classes_, graph
        self.n_features_in_ = 1
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the ``[n, C]`` class probabilities of these nodes."""
        check_is_fitted(self, "classes_")
        return self.model_.predict_proba(self._graph)[_nodes(X, self._graph.num_nodes)]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the ``[n]`` predicted classes of these nodes."""
        check_is_fitted(self, "classes_")
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _nodes(X: Any, count: int) -> IntArray:
    array = np.asarray(X)
    nodes = checked_indices("X", array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array)
    if len(nodes) and nodes.max() >= count:
        raise InputError(f"X names node {nodes.max()}, but the nodes are 0 … {count - 1}: correct it")
    return nodes
