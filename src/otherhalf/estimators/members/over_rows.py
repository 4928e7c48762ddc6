"""Members over precomputed rows: GOAL's classifier, and plain models of the given edges (SIGN, MLP)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Self

import numpy as np
from torch import Tensor, nn

from otherhalf.estimators.members.base import Fitted, Member
from otherhalf.estimators.members.plain import stage_name
from otherhalf.estimators.members.row_inputs import RowInputs
from otherhalf.estimators.members.view import GraphView
from otherhalf.estimators.settings import GOALSettings
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.row_net import RowBatch, RowNet
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.fields import from_dict, to_dict
from otherhalf.system.profile import stage
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.rows import fit_rows, fit_rows_epochs, row_probabilities
from otherhalf.training.supervised import Supervision

NAME = "GOAL"

ROW_TRAINING = TrainingSettings(lr=0.003, weight_decay=0.0, epochs=60, patience=10)
"""An epoch over rows takes many steps, so there are fewer of them than with full batches."""

ROW_ARCHITECTURE = Architecture(hidden=64, layers=2, dropout=0.4, norm="batch", residual=False)

MANY_CLASSES, WIDER = 16, 128
"""With more classes than this the hidden layers are wider."""

MOMENT_ROWS = 100_000
"""Training rows that the mean and the deviation of the label messages are taken from."""

SEEN_BY: dict[str, int | None] = {"SIGN": None, "MLP": 0}
"""Plain models, and how many hops they read; None for all."""


class RowsMember(Member):
    """The classifier of :mod:`~otherhalf.nn.row_net` over both halves."""

    kind, name = "rows", NAME
    convolves = True

    def __init__(self, settings: GOALSettings, module: RowNet, name: str = NAME) -> None:
        self.settings, self.module, self.name = settings, module, name

    def probabilities(self, view: GraphView) -> FloatArray:
        """Return the probabilities of every node, computed in blocks of rows."""
        return row_probabilities(self.module, self._reader(view.rows), np.arange(view.graph.num_nodes))

    def probabilities_of(self, view: GraphView, nodes: IntArray) -> FloatArray:
        """Return the probabilities of a few nodes, from their neighbourhoods."""
        return row_probabilities(self.module, lambda few: view.rows.few(few, convolves=self.convolves), nodes)

    def _reader(self, rows: RowInputs) -> Any:
        return lambda nodes: rows.batch(nodes, convolves=self.convolves)

    def again(self, view: GraphView, supervision: Supervision, histories: list[History]) -> Self:
        """Return the member trained on all labels of the view."""
        member = self._untrained(view, supervision)
        settings = replace(self.settings.training, epochs=max(1, histories[0].best_epoch + 1))
        fit_rows_epochs(
            member.module,
            member._reader(view.rows),
            view.graph,
            settings,
            view.labels.nodes,
            f"again-rows-{stage_name(self.name)}",
            supervision.monitor,
            supervision.class_weights,
        )
        return member

    def _untrained(self, view: GraphView, supervision: Supervision) -> Self:
        with seeded(supervision.seed):
            module = built(self.settings, **reads(view, self.name, convolves=self.convolves))
        standardise(module, view)
        return type(self)(self.settings, module, self.name)

    def coefficients(self) -> list[tuple[float, ...]]:
        """Return α, β, γ, δ of the one convolution."""
        return [tuple(layer) for layer in self.module.coefficients()]

    def parts(self) -> dict[str, nn.Module]:
        """Return the module."""
        return {"0": self.module}

    def description(self) -> dict[str, Any]:
        """Return the settings and what the module reads."""
        return {"goal": to_dict(self.settings), "reads": self.module.reads}

    @classmethod
    def restore(
        cls, name: str, sizes: tuple[int, int, int], description: dict[str, Any], tensors: dict[str, Tensor]
    ) -> Self:
        """Return the member with an untrained module."""
        settings = from_dict(GOALSettings, description["goal"])
        return cls(settings, built(settings, **description["reads"]), name)


class PlainRowsMember(RowsMember):
    """SIGN (https://arxiv.org/abs/2004.11198): a perceptron over features propagated over the given edges."""

    kind = "plain rows"
    convolves = False


def reads(view: GraphView, name: str, *, convolves: bool) -> dict[str, Any]:
    """Return the sizes of what a model over rows reads of this graph."""
    rows = view.rows
    hops = SEEN_BY.get(name)
    return {
        "features": rows.features.width(view.graph.num_features),
        "classes": view.labels.classes,
        "hops": len(rows.hops_of(convolves=convolves)) if hops is None else hops,
        "messages": len(rows.operators.walks) * view.labels.classes if convolves else 0,
        "convolves": convolves,
        "scores": convolves and view.has_scores,
    }


def built(
    settings: GOALSettings,
    *,
    features: int,
    classes: int,
    hops: int,
    messages: int,
    convolves: bool,
    scores: bool,
) -> RowNet:
    """Return an untrained classifier of these sizes."""
    return RowNet(
        features,
        classes,
        hops,
        messages,
        settings.architecture,
        convolves=convolves,
        scores=scores,
        coefficients=settings.coefficients,
        learn_coefficients=settings.learn_coefficients,
    )


def standardise(module: RowNet, view: GraphView) -> None:
    """Take the mean and the deviation of the label messages from a sample of the training rows."""
    if module.messages is None:
        return
    nodes = view.labels.nodes
    sample = nodes[:: max(1, len(nodes) // MOMENT_ROWS)]
    batch: RowBatch = view.rows.batch(sample)
    assert batch.messages is not None
    module.standardise(batch.messages.mean(dim=0), batch.messages.std(dim=0))


def fit_over_rows(view: GraphView, supervision: Supervision, settings: GOALSettings, name: str) -> Fitted:
    """Train GOAL's classifier, or a plain model of :data:`SEEN_BY`, over rows."""
    started = time.perf_counter()
    settings = row_settings(settings, view.labels.classes)
    kind = PlainRowsMember if name in SEEN_BY else RowsMember
    with stage(f"member {name}"), seeded(supervision.seed):
        module = built(settings, **reads(view, name, convolves=kind.convolves))
        member = kind(settings, module, name)
        standardise(module, view)
        history = fit_rows(
            module,
            member._reader(view.rows),
            view.graph,
            settings.training,
            supervision,
            f"rows-{stage_name(name)}",
        )
        probabilities = member.probabilities(view)
    return Fitted(member, probabilities, None, time.perf_counter() - started, {f"{name} 1": history})


def row_settings(settings: GOALSettings, classes: int) -> GOALSettings:
    """Return the settings of models over rows: their own size and training, and the user's coefficients.

    A training that the user made shorter is shorter here too.
    """
    training = ROW_TRAINING
    if settings.training.epochs < training.epochs:
        training = replace(training, epochs=settings.training.epochs)
    architecture = replace(ROW_ARCHITECTURE, hidden=WIDER) if classes > MANY_CLASSES else ROW_ARCHITECTURE
    return replace(settings, architecture=architecture, training=training)
