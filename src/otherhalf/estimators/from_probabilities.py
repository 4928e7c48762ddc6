"""What every estimator makes of class probabilities: predicted classes, prediction sets and scores."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from otherhalf.data.reading import AS_NUMBERS, Reading
from otherhalf.errors import InputError
from otherhalf.estimators.conformal import Calibration
from otherhalf.estimators.decision import Decision
from otherhalf.estimators.given import GraphLike, codes_among, read_given
from otherhalf.estimators.held_out import HeldOut, decision_of, kept
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray
from otherhalf.training.metric_choice import AUTO, MetricChoice
from otherhalf.training.metrics import metric_named


class FromProbabilities(ABC):
    """Methods of an estimator that need its class probabilities and nothing else."""

    metric: str
    metric_choice_: MetricChoice
    classes_: npt.NDArray[Any]
    _held_out: HeldOut | None = None  # of the validation nodes, from the first prediction on
    reading_: Reading | None = None

    @abstractmethod
    def predict_proba(self, graph: GraphLike = None, **given: Any) -> npt.NDArray[np.float32]:
        """Return the ``[N, C]`` class probabilities of every node, in the order of ``classes_``."""

    def read(self, graph: GraphLike, given: Mapping[str, Any]) -> Graph:
        """Return the graph that a method was given in one of the forms of ``fit``.

        Raise scikit-learn's NotFittedError before a fit, whatever was given.
        """
        check_is_fitted(self, "classes_")
        return read_given(graph, given, self.reading_ or AS_NUMBERS)

    def predict(
        self, graph: GraphLike = None, threshold: float | str | None = None, **given: Any
    ) -> npt.NDArray[Any]:
        """Return the predicted class of every node, as a label: ``[N]``.

        Args:
            graph: As for :meth:`predict_proba`.
            threshold: For two classes, the probability from which on the second of ``classes_`` is predicted;
                ``auto`` for the one with the best macro F1 on the validation nodes. Default: the most
                probable class.
            given: As for :meth:`predict_proba`.
        """
        codes = self.decide(self.predict_proba(graph, **given), threshold)
        return np.asarray(self.classes_[codes])

    @property
    def decision_(self) -> Decision | None:
        """The threshold that the validation nodes chose; None with more classes, or before any prediction."""
        return None if self._held_out is None else self._held_out.decision

    def decide(self, probabilities: FloatArray, threshold: float | str | None = None) -> IntArray:
        """Return the ``[N]`` codes that :meth:`predict` makes of class probabilities."""
        if threshold is None:
            return np.asarray(probabilities.argmax(axis=1))
        return decision_of(threshold, self._held_out).codes(probabilities)

    def predict_sets(
        self,
        graph: GraphLike = None,
        coverage: float = 0.9,
        calibration: IntArray | None = None,
        **given: Any,
    ) -> npt.NDArray[np.bool_]:
        """Return ``[N, C]``: the classes that hold each node's true class with probability ``coverage``.

        :mod:`~otherhalf.estimators.conformal` has the formula, and what it takes for granted.

        Args:
            graph: As for :meth:`predict_proba`.
            coverage: Share of nodes whose set holds their class.
            calibration: Labelled nodes of ``graph`` to calibrate on, which neither taught nor selected; with
                them the coverage is guaranteed. Default: the validation nodes, which selected the model, so
                that it can be a little lower.
            given: As for :meth:`predict_proba`.
        """
        graph = self.read(graph, given)
        probabilities = self.predict_proba(graph)
        if calibration is None:
            return self.sets_of(probabilities, coverage)
        nodes = np.asarray(calibration)
        codes = codes_among(self.classes_, graph, nodes)
        if (graph.y[nodes] == UNKNOWN).any() or (codes == len(self.classes_)).any():
            raise InputError(
                "a calibration node has no label, or one that the fit did not have: leave those nodes out"
            )
        return Calibration.of(probabilities[nodes], codes).sets(probabilities, coverage)

    def sets_of(self, probabilities: FloatArray, coverage: float) -> npt.NDArray[np.bool_]:
        """Return the sets that :meth:`predict_sets` makes of class probabilities by the validation nodes."""
        return kept(self._held_out, "prediction sets").calibration.sets(probabilities, coverage)

    def score(self, graph: GraphLike = None, nodes: Any = None, **given: Any) -> float:
        """Return the estimator's metric over the labelled nodes among some.

        Args:
            graph: As for :meth:`predict_proba`.
            nodes: The nodes; default: all of them. Beside X, its labels y; beside ``edges``, the node table.
            given: As for :meth:`predict_proba`.
        """
        if given.get("edges") is not None:
            given["nodes"], nodes = nodes, None
        elif given.get("edge_index") is not None and "y" not in given:
            given["y"], nodes = nodes, None
        graph = self.read(graph, given)
        nodes = graph.labelled if nodes is None else np.asarray(nodes)
        nodes = nodes[graph.y[nodes] != UNKNOWN]
        if len(nodes) == 0:
            raise InputError("none of the nodes to score has a label: give labelled nodes")
        metric = metric_named(self.metric_choice_.name if self.metric == AUTO else self.metric)
        y = codes_among(self.classes_, graph, nodes)
        unseen = y.max() == len(self.classes_)  # a class that no prediction can name: wrong in accuracy
        if unseen and (metric.needs_probabilities or metric.needs_every_class):
            raise InputError(f"{metric.title} needs nodes of classes that the fit had: leave out the others")
        value = metric.function(self.predict_proba(graph)[nodes], y)
        if np.isnan(value):
            raise InputError(f"{metric.title} is undefined on these nodes: score nodes of every class")
        return value
