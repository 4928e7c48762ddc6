"""The models that GOAL is compared with, as estimators."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.presets import ARCHITECTURE, BEST, TRAINING
from otherhalf.estimators.settings import BaselineSettings, check_settings
from otherhalf.nn.backbone import Architecture, Backbone
from otherhalf.nn.memory import FLOAT, NARROWER, Sizes
from otherhalf.nn.models.registry import MODELS, build, model_spec, resolve_options, training_stage
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.system.fields import one_of
from otherhalf.system.need import Need, Part, Stage
from otherhalf.system.seeds import generator
from otherhalf.system.threads import worthwhile_threads
from otherhalf.training.class_weights import ClassWeight, by_name
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.sampled import check_fanout, fit_sampled, probabilities_in_blocks
from otherhalf.training.supervised import Supervision, class_probabilities, fit_supervised

PREDICTED = 3
"""Matrices of states of all nodes in a prediction in blocks, beside those that each layer leaves."""


class BaselineClassifier(NodeClassifier):
    """A model on the same backbone as GOAL.

    Args:
        kind: ``mlp``, ``gcn``, ``gat``, ``appnp``, ``sage``, ``chebynet``, ``gprgnn``, ``jknet``, ``linkx``,
            ``acmgcn``, or ``structure`` (an MLP over features and adjacency rows).
        seed: Seed of all random numbers.
        metric: Metric that the validation nodes select by: a name of
            :data:`~otherhalf.training.metrics.METRICS`, or ``auto`` for accuracy, and for average precision
            where one of two classes is rare.
        device: ``cpu`` or ``cuda``.
        scaling: Scaling of the features: ``auto``, ``none``, ``row`` or ``standard``.
        hidden: Width of the hidden layers. This and every argument below that is None has the value of GOAL's
            encoder in the preset ``best``, so that a comparison is fair.
        layers: Number of layers.
        dropout: Share of entries dropped at the input of each layer.
        norm: ``none``, ``layer`` or ``batch``.
        residual: Whether each layer adds a linear map of its input.
        lr: Learning rate.
        weight_decay: Weight decay.
        epochs: Largest number of epochs.
        patience: Number of epochs without a better validation score that ends the training.
        fanout: Number of neighbours at the first hop, the second, …, one for each layer: each step then
            trains on a batch of nodes with so many neighbours drawn anew, so that its time and memory do not
            depend on the graph. −1 means all. Default: every step reads the whole graph. Predictions read all
            neighbours in both cases. Models that propagate their predictions (``appnp``, ``gprgnn``) and
            ``norm="batch"`` cannot be sampled; ``chebynet`` takes ``steps`` numbers for each layer.
        batch_size: Training nodes of a step, with ``fanout``.
        class_weight: How much a node of each class counts: ``balanced`` (every class the same), or a
            dictionary from classes to weights. Default: every node the same.
        own_options: Options of the model: ``steps`` (``appnp`` and ``gprgnn``: 10; ``chebynet``: 2),
            ``teleport`` (``appnp`` and ``gprgnn``: 0.1), ``walk_dropout`` (``gprgnn``: 0).

    After ``fit``: ``classes_``, ``settings_``, ``history_``, ``seconds_``.
    """

    settings_type = BaselineSettings

    kind: str
    class_weight: ClassWeight
    own_options: dict[str, Any]
    _module: Backbone

    def __init__(
        self,
        kind: str = "gcn",
        *,
        seed: int = 0,
        metric: str = "accuracy",
        device: str = "cpu",
        scaling: str = "auto",
        hidden: int | None = None,
        layers: int | None = None,
        dropout: float | None = None,
        norm: str | None = None,
        residual: bool | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        fanout: Sequence[int] | None = None,
        batch_size: int = 1024,
        class_weight: ClassWeight = None,
        **own_options: Any,
    ) -> None:
        self._store(locals())
        if unknown := own_options.keys() - _own_option_names():
            raise TypeError(f"no model has the option {min(unknown)!r}")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments, own options of the model among them."""
        spec = MODELS.get(self.kind)
        own = dict.fromkeys(() if spec is None else spec.own_options)
        return {**super().get_params(deep), **own, **self.own_options}

    def set_params(self, **params: Any) -> BaselineClassifier:
        """Set arguments, own options of a model among them."""
        own = {name: params.pop(name) for name in _own_option_names() & params.keys()}
        super().set_params(**params)
        self.own_options = {**self.own_options, **own}
        return self

    def resolved_settings(self, data_set: str = "") -> BaselineSettings:
        """Return the settings of a fit of any graph; raise InputError if one of them is not allowed."""
        one_of(*MODELS).check("kind", self.kind)
        generator(self.seed)  # raises InputError if it is not a seed
        default = BEST.complement.encoder
        settings = BaselineSettings(
            self.kind,
            self.scaling,
            Architecture(**{name: self._given(name, default.architecture) for name in ARCHITECTURE}),
            TrainingSettings(**{name: self._given(name, default.training) for name in TRAINING}),
            resolve_options(self.kind, self.own_options),
            by_name(self.class_weight),
            tuple(self.fanout or ()) if isinstance(self.fanout, tuple | list | None) else self.fanout,
            self.batch_size,
        )
        check_settings(settings)
        if settings.fanout:
            with seeded(0):
                usual = build(self.kind, 2, 2, 2, settings.architecture, settings.own_options)
            check_fanout(usual, model_spec(self.kind).operators, settings.own_options, settings.fanout)
            if self.device != "cpu":
                raise InputError("neighbours are sampled on the CPU only: give device='cpu', or no fanout")
        return settings

    def _given(self, name: str, default: Any) -> Any:
        value = getattr(self, name)
        return getattr(default, name) if value is None else value

    def _need(self, sizes: Sizes, settings: BaselineSettings) -> Need:
        stage = training_stage(self.kind, sizes, settings.architecture, settings.own_options)
        if settings.fanout:
            stage = sampled_stage(stage, sizes, settings)
        return Need((stage,))

    def _fit(
        self, prepared: PreparedGraph, settings: BaselineSettings, supervision: Supervision
    ) -> dict[str, Any]:
        started, graph = time.perf_counter(), prepared.graph
        with worthwhile_threads(graph.num_nodes), seeded(self.seed):
            module = build(self.kind, *graph.sizes, settings.architecture, settings.own_options)
            operators, training = model_spec(self.kind).operators, settings.training
            if settings.fanout:
                ways = operators, settings.own_options, settings.fanout, settings.batch_size
                history = fit_sampled(module, prepared, *ways, training, supervision)
            else:
                arguments = prepared.arguments(operators)
                history = fit_supervised(module.to(prepared.device), arguments, graph, training, supervision)
        seconds = {"train": time.perf_counter() - started}
        return {"_module": module, "history_": {"classifier": history}, "seconds_": seconds}

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        chosen = self.settings_
        operators = model_spec(chosen.kind).operators
        if chosen.fanout:
            return probabilities_in_blocks(self._module, prepared, operators, chosen.own_options)
        arguments = prepared.arguments(operators)
        return class_probabilities(self._module.to(prepared.device), *arguments)

    def _parts(self) -> dict[str, nn.Module]:
        return {"module": self._module}

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        chosen = self.settings_
        self._module = build(chosen.kind, *self._sizes, chosen.architecture, chosen.own_options)


def sampled_stage(stage: Stage, sizes: Sizes, settings: BaselineSettings) -> Stage:
    """Return the memory of a training on samples: states of a batch, and those of a prediction of all nodes.

    Args:
        stage: That of a training on the whole graph.
        sizes: The graph.
        settings: The settings.
    """
    reached = batch = min(sizes.nodes, settings.batch_size)
    for fanout in settings.fanout:
        reached = min(sizes.nodes, reached * fanout if fanout > 0 else sizes.nodes)
        batch = min(sizes.nodes, batch + reached)
    share = batch / sizes.nodes
    of_states = ("the hidden states", "the logits", "the attention")
    parts = [p._replace(size=p.size * share) if p.name in of_states else p for p in stage.parts]
    width = settings.architecture.hidden * (settings.architecture.layers + PREDICTED)
    states = Part("the states of a prediction", sizes.nodes * width * FLOAT, NARROWER)
    return Stage(stage.name, (*parts, states))


def _own_option_names() -> set[str]:
    return {name for spec in MODELS.values() for name in spec.own_options}
