r"""Logistic regression on a node's own columns, or on the graph as a table.

.. math:: p(y_i = c) \propto \exp(\mathbf{z}_i \mathbf{w}_c + b_c), \quad z = (t - \mu) / \sigma

with t the row of node i, and mean and deviation of the training nodes. The strength of the decay is chosen on
validation.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor, nn

from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.graph_table import GraphTable
from otherhalf.estimators.memory import logistic_stage
from otherhalf.estimators.saved_arrays import saved_labels
from otherhalf.estimators.settings import check_settings
from otherhalf.nn.inputs import SCALINGS
from otherhalf.nn.label_messages import label_rows
from otherhalf.nn.memory import Sizes
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.fields import integer, one_of, setting
from otherhalf.system.need import Need
from otherhalf.system.seeds import generator
from otherhalf.training.checkpoint import History
from otherhalf.training.class_weights import CLASS_WEIGHT, ClassWeight, by_name, node_weights
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision

COLUMNS = ("graph", "own")
STRENGTHS = (0.01, 0.1, 1.0, 10.0)
"""Inverse strengths of the decay that are tried."""


@dataclass(frozen=True)
class LogisticSettings:
    """All settings of a LogisticClassifier."""

    columns: str = setting("graph", one_of(*COLUMNS))
    scaling: str = setting("auto", one_of(*SCALINGS))
    steps: int = setting(300, integer(1))
    class_weight: Mapping[str, float] | str | None = setting(None, CLASS_WEIGHT, late=True)


class LogisticClassifier(NodeClassifier):
    """Logistic regression over a table with one row per node.

    Args:
        columns: ``graph``: the columns of :mod:`~otherhalf.estimators.graph_table`, labels of neighbours
            among them, but no node's own label; ``own``: the features alone.
        seed: Seed of all random numbers.
        metric: Metric of :meth:`score`; the validation nodes select by it.
        device: ``cpu`` or ``cuda``; it is fitted on the CPU in any case.
        scaling: Scaling of the features: ``auto``, ``none``, ``row`` or ``standard``.
        steps: Largest number of steps of the solver.
        class_weight: How much a node of each class counts: ``balanced`` (every class the same), or a
            dictionary from classes to weights. Default: every node the same.

    After ``fit``: ``classes_``, ``settings_``, ``history_`` (without epochs), ``seconds_``.
    """

    settings_type = LogisticSettings

    columns: str
    scaling: str
    steps: int
    class_weight: ClassWeight
    _table: GraphTable
    _labels: tuple[IntArray, IntArray]  # the training nodes and their class codes
    _standard: tuple[FloatArray, FloatArray]  # mean and deviation of the columns
    _weights: tuple[FloatArray, FloatArray]  # [F, C] and [C]; −∞ for a class without training nodes

    def __init__(
        self,
        columns: str = "graph",
        *,
        seed: int = 0,
        metric: str = "accuracy",
        device: str = "cpu",
        scaling: str = "auto",
        steps: int = 300,
        class_weight: ClassWeight = None,
    ) -> None:
        self._store(locals())

    def resolved_settings(self, data_set: str = "") -> LogisticSettings:
        """Return the settings of a fit of any graph; raise InputError if one of them is not allowed."""
        generator(self.seed)  # raises InputError if it is not a seed
        settings = LogisticSettings(self.columns, self.scaling, self.steps, by_name(self.class_weight))
        check_settings(settings)
        return settings

    def _need(self, sizes: Sizes, settings: LogisticSettings) -> Need:
        return Need((logistic_stage(sizes, own=settings.columns == "own"),))

    def _fit(
        self, prepared: PreparedGraph, settings: LogisticSettings, supervision: Supervision
    ) -> dict[str, Any]:
        started, split, graph = time.perf_counter(), supervision.split, prepared.graph
        table = GraphTable.fit(prepared.scaled_graph, self.seed)
        labels = np.array(split.train), np.array(graph.y[split.train])
        rows = _rows(prepared, table, labels, graph.num_classes, settings.columns)
        mean, deviation = rows[split.train].mean(axis=0), rows[split.train].std(axis=0)
        deviation[deviation < 1e-6] = 1.0
        rows = (rows - mean) / deviation
        quality, y = metric_named(supervision.metric).quality, graph.y[split.val]
        by_class = supervision.class_weights
        taught = None if by_class is None else node_weights(by_class, labels[1])
        judged = node_weights(by_class, y)
        best: tuple[tuple[float, float], tuple[FloatArray, FloatArray]] | None = None
        for strength in STRENGTHS:
            weights = _fitted(
                rows[split.train], labels[1], graph.num_classes, strength, settings.steps, taught
            )
            p = _probabilities(rows[split.val], *weights)
            likelihood = float((judged * np.log(np.maximum(p[np.arange(len(y)), y], 1e-12))).mean())
            value = (quality(p, y), likelihood)
            if best is None or value > best[0]:
                best = value, weights
        assert best is not None
        learned = {
            "_table": table,
            "_labels": labels,
            "_standard": (mean, deviation),
            "_weights": best[1],
        }
        seconds = {"train": time.perf_counter() - started}
        return {**learned, "history_": {"classifier": History(done=True)}, "seconds_": seconds}

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        mean, deviation = self._standard
        rows = _rows(prepared, self._table, self._labels, len(self.classes_), self.settings_.columns)
        return _probabilities((rows - mean) / deviation, *self._weights)

    def _parts(self) -> dict[str, nn.Module]:
        return {}

    def _tensors(self) -> dict[str, Tensor]:
        named = {
            **dict(zip(("labels/nodes", "labels/codes"), self._labels, strict=True)),
            **dict(zip(("mean", "deviation"), self._standard, strict=True)),
            **dict(zip(("weight", "bias"), self._weights, strict=True)),
        }
        return self._table.tensors() | {name: torch.from_numpy(part) for name, part in named.items()}

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self._table = GraphTable.from_tensors(tensors)
        parts = {name: part.numpy() for name, part in tensors.items()}
        _, classes, known = self._sizes
        self._labels = saved_labels(tensors, known, classes)
        self._standard = parts["mean"], parts["deviation"]
        self._weights = parts["weight"], parts["bias"]


def _rows(
    prepared: PreparedGraph,
    table: GraphTable,
    labels: tuple[IntArray, IntArray],
    classes: int,
    columns: str,
) -> FloatArray:
    graph = prepared.scaled_graph
    if columns == "own":
        return table.own(graph)
    nodes, codes = labels
    return table.rows(graph, label_rows(codes, nodes, graph.num_nodes, classes))


def _fitted(
    rows: FloatArray,
    codes: IntArray,
    classes: int,
    strength: float,
    steps: int,
    weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the weights ``[F, C]`` and biases ``[C]`` of scikit-learn's logistic regression."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=strength, max_iter=steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few steps, and of many classes
        fitted.fit(rows, codes, weights)
    weight = np.zeros((rows.shape[1], classes), dtype=np.float32)
    bias = np.full(classes, -np.inf, dtype=np.float32)
    present = fitted.classes_
    # Two classes have one logit, that of the second: the softmax of 0 and z is the sigmoid of z.
    bias[present] = 0.0
    logits = present[1:] if len(present) == 2 else present
    weight[:, logits], bias[logits] = fitted.coef_.T, fitted.intercept_
    return weight, bias


def _probabilities(rows: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    return np.asarray(softmax(rows @ weight + bias, axis=1), dtype=np.float32)
