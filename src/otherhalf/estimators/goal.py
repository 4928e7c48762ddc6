"""GOALClassifier: a graph in; its diagnosis, its missing half, a classifier and predictions out."""

import time
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from otherhalf.complement.embedding import Embedding, learn_missing_half, search_pairs
from otherhalf.complement.encoder import Encoder
from otherhalf.complement.head import Head
from otherhalf.complement.memory import check_memory, fit_bytes
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.diagnosis.verdict import FOLLOW, Diagnosis, diagnose, opposite
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.blend import blended, choose_share
from otherhalf.estimators.presets import OVERRIDES, preset_settings, resolve_architecture, with_overrides
from otherhalf.estimators.settings import GOALSettings, Settings, check_settings
from otherhalf.graph import Graph, Split
from otherhalf.nn.goal import GOAL
from otherhalf.nn.models.registry import build, resolve_options
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.system.fields import one_of
from otherhalf.system.seeds import generator
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import seeded
from otherhalf.training.supervised import Supervision, class_probabilities, fit_supervised

COEFFICIENT_NAMES = ("alpha", "beta", "gamma", "delta")
HALF_FIELDS = ("num_nodes", "kind", "k", "candidates", "encoder", "seconds")


class GOALClassifier(NodeClassifier):
    """Graph Complementary Learning (GOAL, ICML 2023, https://arxiv.org/abs/2306.07608).

    Args:
        preset: ``best`` or ``paper``. Every argument below that is None has the preset's value.
        seed: Seed of all random numbers; two fits with one seed on one machine are bit-equal.
        metric: Metric that the validation nodes select by: ``accuracy``, or ``roc_auc`` for two classes.
        device: ``cpu`` or ``cuda``.
        follow: Which verdict decides the missing half: ``ks``, ``labels``, or a tendency given directly,
            ``homophily`` or ``heterophily``.
        encoder: ``auto``, or the name of a model (``gcn``, ``appnp``, ``structure``, …); a dictionary gives
            it options: ``{"kind": "appnp", "hidden": 128, "teleport": 0.2}``.
        k: Number of nodes that each node is joined to in the missing half.
        max_candidates: With more nodes than this, the missing half is searched among a sample of this size.
        coefficients: α, β, γ, δ in [0, 5]; their start when they are learned.
        learn_coefficients: Whether training moves the coefficients (GOAL_at).
        blend: Whether to blend the classifier's probabilities with the encoder's; the validation nodes choose
            the weight.
        hidden: Width of the hidden layers of the classifier.
        layers: Number of Complemented Graph Convolutions.
        dropout: Share of entries dropped at the input of each layer.
        norm: ``none``, ``layer`` or ``batch``.
        residual: Whether each convolution adds a linear map of its input.
        scaling: Scaling of the features: ``auto``, ``none``, ``row`` or ``standard``.
        lr: Learning rate of the classifier.
        weight_decay: Its weight decay.
        epochs: Its largest number of epochs.
        patience: Number of epochs without a better validation score that ends its training.

    After ``fit``: ``diagnosis_``, ``missing_half_``, ``coefficients_`` (α, β, γ, δ of each layer),
    ``encoder_share_`` (blend weight of the encoder, 0 … 1), ``history_``, ``classes_``, ``settings_``,
    ``seconds_``.
    """

    settings_type = Settings
    identity = (*NodeClassifier.identity, "follow")

    preset: str
    follow: str
    diagnosis_: Diagnosis
    missing_half_: MissingHalf
    encoder_share_: float
    _embedding: Embedding
    _module: GOAL

    def __init__(
        self,
        preset: str = "best",
        *,
        seed: int = 0,
        follow: str = "ks",
        metric: str = "accuracy",
        device: str = "cpu",
        encoder: str | dict[str, Any] | None = None,
        k: int | None = None,
        max_candidates: int | None = None,
        coefficients: tuple[float, float, float, float] | None = None,
        learn_coefficients: bool | None = None,
        blend: bool | None = None,
        hidden: int | None = None,
        layers: int | None = None,
        dropout: float | None = None,
        norm: str | None = None,
        residual: bool | None = None,
        scaling: str | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
    ) -> None:
        self._store(locals())

    def resolved_settings(self, data_set: str = "") -> Settings:
        """Return the settings of a fit; raise InputError if one of them is not allowed."""
        one_of(*FOLLOW).check("follow", self.follow)
        generator(self.seed)  # raises InputError if it is not a seed
        settings = with_overrides(preset_settings(self.preset, data_set), self._overrides())
        check_settings(settings)
        return settings

    @property
    def coefficients_(self) -> list[dict[str, float]]:
        """α, β, γ, δ of every layer, as used after the fit."""
        check_is_fitted(self, "settings_")
        layers = self._module.coefficients()
        return [dict(zip(COEFFICIENT_NAMES, layer, strict=True)) for layer in layers]

    def _overrides(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in OVERRIDES if getattr(self, name) is not None}

    # ------------------------------------------------------------------ learning

    def check_fit(self, graph: Graph, split: Split) -> Settings:
        """Raise InputError if this fit cannot be done, or needs too much memory; return its settings."""
        settings: Settings = super().check_fit(graph, split)
        check_memory(fit_bytes(graph, len(split.train), settings.complement, settings.goal.architecture))
        return settings

    def _fit(self, prepared: PreparedGraph, settings: Settings, supervision: Supervision) -> dict[str, Any]:
        times = [time.perf_counter()]
        graph, split = prepared.graph, supervision.split
        visible = np.concatenate([split.train, split.val])
        diagnosis = diagnose(graph, nodes=visible, seed=self.seed)
        times.append(time.perf_counter())
        kind = opposite(diagnosis.follow(self.follow))
        embedding, half = learn_missing_half(prepared, kind, settings.complement, supervision)
        times.append(time.perf_counter())
        encoder = embedding.encoder
        settings = resolve_architecture(
            settings, encoder.kind, encoder.module.architecture, self._overrides()
        )
        module, history = train_classifier(prepared, half, settings.goal, supervision)
        share = 0.0
        if settings.goal.blend:
            own = class_probabilities(module, *arguments(prepared, half))
            of_encoder, y = encoder.probabilities(prepared), graph.y[split.val]
            share = choose_share(own[split.val], of_encoder[split.val], y, self.metric)
        times.append(time.perf_counter())
        return {
            "settings_": settings,
            "diagnosis_": diagnosis,
            "missing_half_": half,
            "encoder_share_": share,
            "history_": {"encoder": encoder.history, "head": embedding.head_history, "classifier": history},
            "seconds_": dict(zip(("diagnose", "complement", "train"), np.diff(times).tolist(), strict=True)),
            "_embedding": embedding,
            "_module": module,
        }

    # ------------------------------------------------------------------ prediction

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        self._module.to(prepared.device)
        half = self._half_of(prepared)
        probabilities = class_probabilities(self._module, *arguments(prepared, half))
        if self.encoder_share_ > 0:
            of_encoder = self._embedding.encoder.probabilities(prepared)
            probabilities = blended(probabilities, of_encoder, self.encoder_share_)
        return probabilities

    def _half_of(self, prepared: PreparedGraph) -> MissingHalf:
        """Return the missing half; new nodes are joined to the most or least similar known nodes."""
        known, nodes, half = self._known.count, prepared.graph.num_nodes, self.missing_half_
        if nodes == known:
            return half
        if "missing half" not in prepared.derived:
            z = self._embedding(prepared)
            pairs = search_pairs(z, torch.arange(known, nodes), torch.arange(known), half.k, half.kind)
            pairs = np.concatenate([half.pairs, pairs], axis=1)
            prepared.derived["missing half"] = replace(half, pairs=pairs, num_nodes=nodes)
        grown: MissingHalf = prepared.derived["missing half"]
        return grown

    # ------------------------------------------------------------------ files

    def _parts(self) -> dict[str, nn.Module]:
        encoder, head = self._embedding.encoder.module, self._embedding.head
        return {"encoder": encoder, "head": head, "goal": self._module}

    def _tensors(self) -> dict[str, Tensor]:
        # int32 takes less space; a graph that one machine holds has fewer than 2³¹ nodes.
        return {"half/pairs": torch.from_numpy(self.missing_half_.pairs.astype(np.int32))}

    def _description(self) -> dict[str, Any]:
        diagnosis = {f.name: getattr(self.diagnosis_, f.name) for f in fields(Diagnosis)}
        return {
            "missing_half": {name: getattr(self.missing_half_, name) for name in HALF_FIELDS},
            "diagnosis": {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in diagnosis.items()},
            "encoder_share": self.encoder_share_,
        }

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.encoder_share_ = description["encoder_share"]
        self.diagnosis_ = _diagnosis(description["diagnosis"])
        half = description["missing_half"]
        self.missing_half_ = MissingHalf(pairs=tensors["half/pairs"].numpy().astype(np.int64), **half)
        chosen, goal = self.settings_.complement, self.settings_.goal
        options = resolve_options(half["encoder"], chosen.encoder.own_options)
        encoder = build(half["encoder"], *self._sizes, chosen.encoder.architecture, options)
        head = Head(tensors["head/layers.0.weight"].shape[1], chosen.head)
        histories = self.history_
        self._embedding = Embedding(
            Encoder(half["encoder"], encoder, histories["encoder"]), head, histories["head"]
        )
        self._module = build_goal(self._sizes, goal)


def _diagnosis(values: dict[str, Any]) -> Diagnosis:
    """Return the diagnosis that was written as lists."""
    arrays = {name: np.asarray(values[name]) for name in ("bin_edges", "connected", "random")}
    intervals = {name: bounds and tuple(bounds) for name, bounds in values["intervals"].items()}
    return Diagnosis(**{**values, **arrays, "intervals": intervals, "ks_draws": tuple(values["ks_draws"])})


def arguments(prepared: PreparedGraph, half: MissingHalf) -> tuple[Any, ...]:
    """Return what GOAL is called with: the inputs, Â_o and Â_t, whichever of the two is the missing half."""
    given, missing = prepared.operator("normalized"), half.operator.to(prepared.device)
    return prepared.inputs, *((missing, given) if half.kind == "homophily" else (given, missing))


def build_goal(sizes: tuple[int, int, int], settings: GOALSettings) -> GOAL:
    """Return the untrained classifier for a graph with this number of features, classes and nodes."""
    return GOAL(
        *sizes,
        settings.architecture,
        coefficients=settings.coefficients,
        learn_coefficients=settings.learn_coefficients,
        bias=settings.bias,
    )


def train_classifier(
    prepared: PreparedGraph, half: MissingHalf, settings: GOALSettings, supervision: Supervision
) -> tuple[GOAL, History]:
    """Train a classifier over the given and the missing half."""
    graph, inputs = prepared.graph, arguments(prepared, half)
    with seeded(supervision.seed):
        module = build_goal(graph.sizes, settings).to(prepared.device)
        history = fit_supervised(module, inputs, graph, settings.training, supervision)
    return module, history
