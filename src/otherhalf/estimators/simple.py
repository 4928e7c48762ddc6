"""The two simplest classifiers of nodes: the most frequent class, and the labels of the neighbours."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.members.propagation import PropagationMember, fit_propagation
from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.estimators.memory import propagation_stage
from otherhalf.estimators.saved_arrays import saved_labels
from otherhalf.nn.inputs import SCALINGS
from otherhalf.nn.memory import Sizes
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.system.fields import one_of, setting
from otherhalf.system.need import Need
from otherhalf.system.seeds import generator
from otherhalf.training.checkpoint import History
from otherhalf.training.folds import stratified_folds
from otherhalf.training.supervised import Supervision


@dataclass(frozen=True)
class SimpleSettings:
    """Settings of a classifier that has none of its own; every estimator has a scaling."""

    scaling: str = setting("none", one_of(*SCALINGS))


class SimpleClassifier(NodeClassifier):
    """What the two have in common.

    Args:
        seed: Seed of all random numbers.
        metric: Metric of :meth:`score`; the validation nodes select by it.
        device: ``cpu`` or ``cuda``; nothing here computes on it.
    """

    settings_type = SimpleSettings

    def __init__(self, *, seed: int = 0, metric: str = "accuracy", device: str = "cpu") -> None:
        self._store(locals())

    def resolved_settings(self, data_set: str = "") -> SimpleSettings:
        """Return the settings; raise InputError if the seed is none."""
        generator(self.seed)
        return SimpleSettings()

    def _parts(self) -> dict[str, nn.Module]:
        return {}


class MajorityClassifier(SimpleClassifier):
    """Gives every node the shares of the classes among the training nodes: what any model must beat."""

    _shares: FloatArray

    def _fit(
        self, prepared: PreparedGraph, settings: SimpleSettings, supervision: Supervision
    ) -> dict[str, Any]:
        graph = prepared.graph
        counts = np.bincount(graph.y[supervision.split.train], minlength=graph.num_classes)
        return _learned(time.perf_counter(), _shares=(counts / counts.sum()).astype(np.float32))

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        return np.tile(self._shares, (prepared.graph.num_nodes, 1))

    def _tensors(self) -> dict[str, Tensor]:
        return {"shares": torch.from_numpy(self._shares)}

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self._shares = tensors["shares"].numpy()


class PropagationClassifier(SimpleClassifier):
    """Label propagation (:mod:`~otherhalf.estimators.members.propagation`); it reads no feature."""

    _member: PropagationMember
    _labels: TrainingLabels

    def _need(self, sizes: Sizes, settings: SimpleSettings) -> Need:
        return Need((propagation_stage(sizes),))

    def _fit(
        self, prepared: PreparedGraph, settings: SimpleSettings, supervision: Supervision
    ) -> dict[str, Any]:
        started, graph, train = time.perf_counter(), prepared.graph, np.array(supervision.split.train)
        labels = TrainingLabels(train, graph.y[train], graph.num_classes)
        folds = stratified_folds(labels.codes, 2, self.seed)
        fitted = fit_propagation(_view(prepared, labels), supervision, folds)
        return _learned(started, _member=fitted.member, _labels=labels)

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        return self._member.probabilities(_view(prepared, self._labels))

    def _description(self) -> dict[str, Any]:
        return {"propagation": self._member.description()}

    def _tensors(self) -> dict[str, Tensor]:
        return {
            "labels/nodes": torch.from_numpy(self._labels.nodes),
            "labels/codes": torch.from_numpy(self._labels.codes),
        }

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self._member = PropagationMember(**description["propagation"])
        _, classes, known = self._sizes
        self._labels = TrainingLabels(*saved_labels(tensors, known, classes), classes)


def _view(prepared: PreparedGraph, labels: TrainingLabels) -> GraphView:
    return GraphView(prepared, labels, "homophily")


def _learned(started: float, **attributes: Any) -> dict[str, Any]:
    seconds = {"train": time.perf_counter() - started}
    return {**attributes, "history_": {"classifier": History(done=True)}, "seconds_": seconds}
