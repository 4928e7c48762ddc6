"""GOALClassifier: a graph in; its diagnosis, its missing half, a classifier and predictions out."""

import tempfile
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from otherhalf.complement.missing_half import MissingHalf
from otherhalf.data.entries import catalogue_name
from otherhalf.diagnosis.verdict import FOLLOW, Diagnosis, diagnose
from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.embedding_way import EmbeddingWay, fit_embedding_way
from otherhalf.estimators.ensemble import LeaderboardRow
from otherhalf.estimators.estimate import Estimate, estimate_fit
from otherhalf.estimators.given import GraphLike, as_graph, default_split
from otherhalf.estimators.kernel_way import KernelWay, fit_kernel_way
from otherhalf.estimators.memory import goal_need, goal_prediction_need, row_disk
from otherhalf.estimators.presets import OVERRIDES, default_follow, preset_settings, with_overrides
from otherhalf.estimators.settings import Settings, check_settings
from otherhalf.estimators.way import Way
from otherhalf.graph import Graph, Split
from otherhalf.nn.memory import Sizes
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.fields import one_of
from otherhalf.system.need import Need
from otherhalf.system.row_blocks import check_disk
from otherhalf.system.seeds import generator
from otherhalf.system.typed import typed
from otherhalf.training.class_weights import ClassWeight
from otherhalf.training.supervised import Supervision

if TYPE_CHECKING:
    from otherhalf.report.notebook import Report

COEFFICIENT_NAMES = ("alpha", "beta", "gamma", "delta")


class GOALClassifier(NodeClassifier):
    """Graph Complementary Learning (GOAL, ICML 2023, https://arxiv.org/abs/2306.07608).

    Args:
        preset: ``best`` or ``paper``. Every argument below that is None has the preset's value.
        seed: Seed of all random numbers; two fits with one seed on one machine are bit-equal.
        metric: Metric that the validation nodes select by: a name of
            :data:`~otherhalf.training.metrics.METRICS`, or ``auto`` for accuracy, and for average precision
            where one of two classes is rare.
        device: ``cpu`` or ``cuda``.
        method: How the missing half is found: ``kernel`` (by leave-one-out, with an ensemble over both
            halves) or ``embedding`` (the paper's).
        follow: Which verdict decides the missing half: ``ks``, ``labels``, or a tendency given directly,
            ``homophily`` or ``heterophily``. Default: ``labels``, but ``ks`` with ``embedding``.
        kernel: How the method ``kernel`` finds the half, as a dictionary of
            :class:`~otherhalf.complement.settings.KernelSettings`.
        ensemble: Members of the method ``kernel``, as a dictionary of
            :class:`~otherhalf.estimators.settings.EnsembleSettings`.
        fast: Whether to fit only the spread and one plain model, in seconds (method ``kernel``).
        refit: Whether to fit the chosen members once more, to training and validation nodes together (method
            ``kernel``). Then the validation score in the leaderboard is that of the choice, and the test
            score is not comparable with one without it.
        class_weight: How much a node of each class counts: ``balanced`` (every class the same), or a
            dictionary from classes to weights. The probabilities are then those of a world with such shares
            of the classes. Default: every node the same.
        encoder: Encoder of the method ``embedding``, which it implies: ``auto``, or the name of a model
            (``gcn``, ``appnp``, ``structure``, …); a dictionary gives it options:
            ``{"kind": "appnp", "hidden": 128, "teleport": 0.2}``.
        k: Number of nodes that each node is joined to in the missing half.
        max_candidates: With more nodes than this, the missing half is searched among a sample of this size.
        coefficients: α, β, γ, δ in [0, 5]; their start when they are learned.
        learn_coefficients: Whether training moves the coefficients (GOAL_at).
        blend: Whether to blend the classifier's probabilities with the encoder's (method ``embedding``, which
            it implies); the validation nodes choose the weight.
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

    After ``fit``: ``diagnosis_``, ``missing_half_``, ``leaderboard_`` (member, validation, weight, seconds),
    ``coefficients_`` (α, β, γ, δ of each layer), ``encoder_share_`` (blend weight of models that see the
    given edges only, 0 … 1), ``history_``, ``classes_``, ``settings_``, ``seconds_``.
    """

    settings_type = Settings
    identity = (*NodeClassifier.identity, "follow", "fast")

    preset: str
    follow: str | None
    kernel: dict[str, Any] | None
    ensemble: dict[str, Any] | None
    fast: bool
    refit: bool
    class_weight: ClassWeight
    diagnosis_: Diagnosis
    missing_half_: MissingHalf | None
    encoder_share_: float
    leaderboard_: list[LeaderboardRow]
    _way: Way
    _split: Split | None = None  # that of the fit; a model that was loaded does not know it

    def __init__(
        self,
        preset: str = "best",
        *,
        seed: int = 0,
        method: str | None = None,
        follow: str | None = None,
        metric: str = "accuracy",
        device: str = "cpu",
        encoder: str | dict[str, Any] | None = None,
        k: int | None = None,
        max_candidates: int | None = None,
        coefficients: tuple[float, float, float, float] | None = None,
        learn_coefficients: bool | None = None,
        blend: bool | None = None,
        kernel: dict[str, Any] | None = None,
        ensemble: dict[str, Any] | None = None,
        fast: bool = False,
        refit: bool = False,
        class_weight: ClassWeight = None,
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
        generator(self.seed)  # raises InputError if it is not a seed
        settings = with_overrides(preset_settings(self.preset, data_set, fast=self.fast), self._overrides())
        one_of(*FOLLOW).check("follow", self._followed(settings))
        check_settings(settings)
        if settings.method == "embedding" and (self.fast or self.refit):
            name = "fast" if self.fast else "refit"
            raise InputError(f"{name} needs the method kernel: drop it, or the preset, encoder or method")
        return settings

    @property
    def coefficients_(self) -> list[dict[str, float]]:
        """α, β, γ, δ of every layer, as used after the fit."""
        check_is_fitted(self, "settings_")
        layers = self._way.coefficients()
        return [dict(zip(COEFFICIENT_NAMES, layer, strict=True)) for layer in layers]

    def _followed(self, settings: Settings) -> str:
        return default_follow(settings.method) if self.follow is None else self.follow

    def _overrides(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in OVERRIDES if getattr(self, name) is not None}
        return given | ({"ensemble": {**(self.ensemble or {}), "refit": True}} if self.refit else {})

    # ------------------------------------------------------------------ learning

    def check_fit(self, graph: Graph, split: Split) -> Settings:
        """Raise InputError if this fit cannot be done, or needs too much memory or disk."""
        settings: Settings = super().check_fit(graph, split)
        disk = row_disk(Sizes.of(graph, len(split.train)), settings)
        if disk:
            check_disk(Path(tempfile.gettempdir()), disk, "the precomputed rows")
        return settings

    def _need(self, sizes: Sizes, settings: Settings) -> Need:
        return goal_need(sizes, settings)

    def prediction_need(self, graph: Graph) -> Need:
        """Return the memory that a prediction needs at least, in addition to the graph."""
        return goal_prediction_need(Sizes.of(graph, 0), self.settings_)

    def estimate(self, graph: GraphLike, split: Split | None = None) -> Estimate:
        """Return about how long a fit takes on this computer, and how much memory it needs.

        :func:`~otherhalf.estimators.estimate.estimate_fit` says how good the estimate is.
        """
        graph = as_graph(graph)
        split = default_split(graph, self.seed) if split is None else split
        return estimate_fit(graph, split, self.resolved_settings(catalogue_name(graph)))

    def _fit(self, prepared: PreparedGraph, settings: Settings, supervision: Supervision) -> dict[str, Any]:
        started = time.perf_counter()
        graph, split = prepared.graph, supervision.split
        diagnosis = diagnose(
            graph, nodes=np.concatenate([split.train, split.val]), seed=self.seed, simple=False
        )
        diagnosed = time.perf_counter() - started
        followed = self._followed(settings)
        kind = diagnosis.missing_kind(followed)
        if settings.method == "kernel":
            outcome = fit_kernel_way(prepared, diagnosis.follow(followed), kind, settings, supervision)
        else:
            # The embedding joins nodes of one kind; where the labels show none, the K-S verdict decides.
            kind = diagnosis.missing if kind == "both" else kind
            outcome = fit_embedding_way(prepared, kind, settings, self._overrides(), supervision)
        return {
            "settings_": outcome.settings,
            "diagnosis_": diagnosis,
            "history_": outcome.histories,
            "seconds_": {"diagnose": diagnosed, **outcome.seconds},
            "_split": split,
            **_attributes(outcome.way),
        }

    # ------------------------------------------------------------------ report

    def report(
        self,
        graph: GraphLike = None,
        split: Split | None = None,
        *,
        path: str | Path | None = None,
    ) -> "Report":
        """Return a page about the fit: a notebook shows it, and its ``save`` writes it as one HTML file.

        Args:
            graph: The graph of the fit; default: the last one that this model has seen.
            split: The split of the fit; default: that one. A model that was loaded knows neither.
            path: Also write the page to this ``.html`` file.
        """
        from otherhalf.report.notebook import Report

        check_is_fitted(self, "classes_")
        graph = self._cache[0] if graph is None and self._cache is not None else graph
        split = self._split if split is None else split
        if graph is None or split is None:
            raise InputError("a model that was loaded knows no graph and no split: give report(graph, split)")
        report = Report.of(self, as_graph(graph, self.reading_), split)
        if path is not None:
            report.save(path)
        return report

    # ------------------------------------------------------------------ prediction and files

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        return self._way.probabilities(prepared)

    def _probabilities_of(self, prepared: PreparedGraph, nodes: IntArray) -> FloatArray:
        return self._way.probabilities_of(prepared, nodes)

    def _parts(self) -> dict[str, nn.Module]:
        return self._way.parts()

    def _tensors(self) -> dict[str, Tensor]:
        return self._way.tensors()

    def _description(self) -> dict[str, Any]:
        diagnosis = {f.name: getattr(self.diagnosis_, f.name) for f in fields(Diagnosis)}
        return {
            "diagnosis": {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in diagnosis.items()},
            **self._way.description(),
        }

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.diagnosis_ = _diagnosis(description["diagnosis"])
        way: Way
        if self.settings_.method == "kernel":
            way = KernelWay.restore(self._sizes, self._scaling, description, tensors)
        else:
            way = EmbeddingWay.restore(self.settings_, self._sizes, self.history_, description, tensors)
        for name, value in _attributes(way).items():
            setattr(self, name, value)


def _attributes(way: Way) -> dict[str, Any]:
    """Return the attributes that a fitted method gives to the estimator."""
    return {
        "missing_half_": way.half,
        "encoder_share_": way.encoder_share,
        "leaderboard_": way.leaderboard(),
        "_way": way,
    }


def _diagnosis(values: dict[str, Any]) -> Diagnosis:
    """Return the diagnosis that was written as lists."""
    arrays = {name: np.asarray(values[name]) for name in ("bin_edges", "connected", "random")}
    intervals = {name: bounds and tuple(bounds) for name, bounds in values["intervals"].items()}
    draws = tuple(values["ks_draws"])
    diagnosis = typed(Diagnosis, {**values, **arrays, "intervals": intervals, "ks_draws": draws})
    str(diagnosis)  # raises what a missing measure raises
    return diagnosis
