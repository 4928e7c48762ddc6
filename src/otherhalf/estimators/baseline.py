"""The plain models that GOAL is compared with, behind the same face."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from otherhalf.complement.encoder import class_probabilities, fit_supervised
from otherhalf.complement.missing_half import OnStep, check_trainable
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.new_nodes import KnownNodes
from otherhalf.estimators.presets import BEST, SHAPE, TRAINING
from otherhalf.estimators.settings import check_frame, check_scaling
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling, node_inputs, usable_device
from otherhalf.nn.models.registry import KINDS, build, operators, walks_of
from otherhalf.system.seeds import generator
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.metrics import check_metric

PLAIN = tuple(KINDS)


@dataclass(frozen=True)
class BaselineSettings:
    """Everything that decides a baseline's fit but data, split, seed and metric."""

    kind: str
    scaling: str
    shape: Architecture
    training: TrainingSettings
    walks: dict[str, float] = field(default_factory=dict)


class BaselineClassifier(NodeClassifier):
    """A plain model on the frame that GOAL itself stands on.

    Args:
        kind: ``mlp``, ``gcn``, ``gat``, ``appnp``, ``sage``, ``chebynet``, ``gprgnn``, ``jknet``, ``linkx``,
            ``acmgcn``, or ``structure`` (an MLP over features and adjacency rows).
        seed: Of everything random.
        hidden: Width of the hidden layers. This and every argument below that is None takes the value that
            GOAL's own encoder has in the preset ``best``, so that a comparison is fair.
        layers: Number of layers.
        dropout: Share dropped at the input of each.
        norm: ``none``, ``layer`` or ``batch``.
        residual: Whether each layer adds a linear map of its input.
        lr: Step size.
        weight_decay: Weight decay.
        epochs: Length of the training at most.
        patience: How many epochs without a better validation score end it.
        steps: How far ``appnp`` and ``gprgnn`` walk (default 10); the degree of ``chebynet`` (default 2).
        teleport: The teleport probability of ``appnp``, and where ``gprgnn`` starts (default 0.1).
        walk_dropout: Share of its predictions that ``gprgnn`` drops before they walk (default 0).
        scaling: Of the features: ``auto``, ``none``, ``row`` or ``standard``.
        metric: What the validation nodes select by: ``accuracy``, or ``roc_auc`` for two classes.
        device: ``cpu`` or ``cuda``.

    After ``fit``: ``history_``, ``classes_``, ``settings_``, ``seconds_``.
    """

    def __init__(
        self,
        kind: str = "gcn",
        *,
        seed: int = 0,
        hidden: int | None = None,
        layers: int | None = None,
        dropout: float | None = None,
        norm: str | None = None,
        residual: bool | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        steps: int | None = None,
        teleport: float | None = None,
        walk_dropout: float | None = None,
        scaling: str = "auto",
        metric: str = "accuracy",
        device: str = "cpu",
    ) -> None:
        self.kind = kind
        self.seed = seed
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.norm = norm
        self.residual = residual
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.steps = steps
        self.teleport = teleport
        self.walk_dropout = walk_dropout
        self.scaling = scaling
        self.metric = metric
        self.device = device

    def fit(
        self, graph: Graph, split: Split | None = None, *, on_step: OnStep | None = None
    ) -> BaselineClassifier:
        """Train on the labels of ``train``, stop by those of ``val``; no other label is read."""
        started = time.perf_counter()
        settings = self.resolved_settings()
        device = usable_device(self.device)
        split = make_split(graph, "uniform", self.seed) if split is None else split
        check_trainable(graph, split)
        check_metric(self.metric, graph.num_classes, graph.y[split.val])
        scaling = Scaling.fit(graph.x, settings.scaling)
        inputs = node_inputs(graph, scaling, device=device)
        with seeded(self.seed):
            module = build(
                self.kind,
                graph.num_features,
                graph.num_classes,
                graph.num_nodes,
                settings.shape,
                **settings.walks,
            ).to(device)
            history = fit_supervised(
                module,
                (inputs, *operators(self.kind, graph, inputs)),
                graph,
                split,
                settings.training,
                metric=self.metric,
                on_epoch=None if on_step is None else lambda done, most: on_step(self.kind, done, most),
            )
        self.settings_ = settings
        self.history_ = history
        self.classes_ = graph.classes
        self.seconds_ = {"total": time.perf_counter() - started}
        self._scaling, self._module, self._known = scaling, module, KnownNodes.of(graph)
        return self

    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """``[N, C]`` class probabilities of every node, in the order of ``classes_``."""
        check_is_fitted(self, "classes_")
        grown, order = self._known.first(graph)
        device = usable_device(self.device)
        inputs = node_inputs(grown, self._scaling, num_known=self._known.count, device=device)
        kind = self.settings_.kind
        found = class_probabilities(self._module.to(device), inputs, *operators(kind, grown, inputs))
        result = np.empty_like(found)
        result[order] = found
        return result

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a folder: JSON and safetensors, never a pickle."""
        from otherhalf.estimators.persistence import save_baseline

        check_is_fitted(self, "classes_")
        save_baseline(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> BaselineClassifier:
        """Read a model written by :meth:`save`; an altered or truncated file is noticed and named."""
        from otherhalf.estimators.persistence import load_baseline

        return load_baseline(cls, Path(path))

    def resolved_settings(self, name: str = "") -> BaselineSettings:
        """What a fit of any graph would be done with; refuses what makes no sense."""
        if self.kind not in PLAIN:
            raise InputError(f"there is no baseline {self.kind!r}: choose one of {', '.join(PLAIN)}")
        generator(self.seed)  # refuses what is no seed
        usual = BEST.complement.encoder
        shape = {name: self._given(name, usual.shape) for name in SHAPE}
        training = {name: self._given(name, usual.training) for name in TRAINING}
        settings = BaselineSettings(
            self.kind,
            self.scaling,
            Architecture(**shape),
            TrainingSettings(**training),
            walks_of(self.kind, self),
        )
        check_scaling(settings.scaling)
        check_frame(settings.shape, settings.training)
        return settings

    def _given(self, name: str, usual: Any) -> Any:
        value = getattr(self, name)
        return getattr(usual, name) if value is None else value
