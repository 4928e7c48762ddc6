"""GOALClassifier: a graph in, its diagnosis, its missing half, a classifier, predictions out."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_is_fitted

from otherhalf.complement.encoder import class_probabilities, fit_supervised
from otherhalf.complement.memory import require_memory_for_fit
from otherhalf.complement.missing_half import (
    MissingHalf,
    OnStep,
    check_trainable,
    complete,
    learn_embedding,
    opposite,
    search_pairs,
)
from otherhalf.data.splits import split as make_split
from otherhalf.diagnosis.verdict import FOLLOW, Diagnosis, diagnose
from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.blend import blended, choose_share
from otherhalf.estimators.new_nodes import KnownNodes
from otherhalf.estimators.presets import OVERRIDES, preset_settings, settle, with_overrides
from otherhalf.estimators.settings import Settings, check_settings, plain_number, to_dict
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import NodeInputs
from otherhalf.nn.goal import build_goal
from otherhalf.nn.inputs import Scaling, node_inputs, usable_device
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency
from otherhalf.system.seeds import generator
from otherhalf.system.version import VERSION
from otherhalf.training.loop import Checkpoint, History, seeded
from otherhalf.training.metrics import check_metric

COEFFICIENT_NAMES = ("alpha", "beta", "gamma", "delta")


class GOALClassifier(NodeClassifier):
    """Graph Complementary Learning (GOAL, ICML 2023) as a scikit-learn estimator.

    Args:
        preset: ``best`` or ``paper``. Every argument below that is None takes the preset's value.
        seed: Of everything random; two fits with one seed on one machine are bit-equal.
        follow: Whose verdict decides which half is missing: ``ks``, ``labels``, or a tendency given
            outright, ``homophily`` or ``heterophily``.
        scaling: Of the features: ``auto``, ``none``, ``row`` or ``standard``.
        encoder: ``auto``, or any of the plain models (``gcn``, ``appnp``, ``structure``, …); a dictionary
            gives it options of its own: ``{"kind": "appnp", "hidden": 128, "teleport": 0.2}``.
        k: How many nodes each node is joined to in the missing half.
        coefficients: α, β, γ, δ in [0, 5]; where they start when they are learned.
        learn_coefficients: Whether training moves the coefficients (GOAL_at).
        blend: Whether the encoder has a say in the probabilities, as large as suits the validation nodes.
        hidden: Width of the hidden layers of the classifier.
        layers: Number of Complemented Graph Convolutions.
        dropout: Share dropped at the input of each.
        norm: ``none``, ``layer`` or ``batch``.
        residual: Whether each convolution adds a linear map of its input.
        lr: Step size of the classifier's training.
        weight_decay: Its weight decay.
        epochs: Its length at most.
        patience: How many epochs without a better validation score end it.
        max_candidates: Above so many nodes, the missing half is searched among a sample of that size.
        metric: What the validation nodes select by: ``accuracy``, or ``roc_auc`` for two classes.
        device: ``cpu`` or ``cuda``.

    After ``fit``: ``diagnosis_``, ``missing_half_``, ``coefficients_`` (α, β, γ, δ of each layer),
    ``history_`` (the losses and validation scores of each stage), ``classes_``, ``settings_``, ``seconds_``,
    ``encoder_share_`` (the encoder's say in the probabilities, 0 … 1).
    """

    def __init__(
        self,
        preset: str = "best",
        *,
        seed: int = 0,
        follow: str = "ks",
        scaling: str | None = None,
        encoder: str | dict[str, Any] | None = None,
        k: int | None = None,
        coefficients: tuple[float, float, float, float] | None = None,
        learn_coefficients: bool | None = None,
        blend: bool | None = None,
        hidden: int | None = None,
        layers: int | None = None,
        dropout: float | None = None,
        norm: str | None = None,
        residual: bool | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        max_candidates: int | None = None,
        metric: str = "accuracy",
        device: str = "cpu",
    ) -> None:
        self.preset = preset
        self.seed = seed
        self.follow = follow
        self.scaling = scaling
        self.encoder = encoder
        self.k = k
        self.coefficients = coefficients
        self.learn_coefficients = learn_coefficients
        self.blend = blend
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.norm = norm
        self.residual = residual
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.max_candidates = max_candidates
        self.metric = metric
        self.device = device

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        graph: Graph,
        split: Split | None = None,
        *,
        checkpoints: str | Path | None = None,
        on_step: OnStep | None = None,
    ) -> GOALClassifier:
        """Diagnose the graph, find its missing half and train the classifier on both halves.

        Args:
            graph: The graph.
            split: Labels of ``train`` teach and labels of ``val`` select; no other label is read. Default:
                ``split(graph, "uniform", seed)``.
            checkpoints: A folder that keeps the state of the training. A fit that was killed and is started
                again with the same folder goes on where it was, and ends bit-equal to one that was not.
            on_step: Told (stage, steps done, steps at most).
        """
        started = time.perf_counter()
        settings = self.resolved_settings(graph.name)
        device = usable_device(self.device)
        split = make_split(graph, "uniform", self.seed) if split is None else split
        check_trainable(graph, split)
        check_metric(self.metric, graph.num_classes, graph.y[split.val])
        require_memory_for_fit(graph, len(split.train), settings)
        owner = self.run_identity(graph, split)

        # Everything learned is put on self at the end: a fit that fails leaves an earlier one whole.
        def checkpoint(stage: str) -> Checkpoint | None:
            return (
                None if checkpoints is None else Checkpoint(Path(checkpoints) / f"{stage}.safetensors", owner)
            )

        visible = np.concatenate([split.train, split.val])
        diagnosis = diagnose(graph, nodes=visible, seed=self.seed)
        diagnosed = time.perf_counter()

        kind = opposite(diagnosis.follow(self.follow))
        scaling = Scaling.fit(graph.x, settings.scaling)
        inputs = node_inputs(graph, scaling, device=device)
        embedding = learn_embedding(
            graph,
            split,
            inputs,
            kind,
            settings.complement,
            self.seed,
            metric=self.metric,
            checkpoint=checkpoint,
            on_step=on_step,
        )
        half = complete(graph, inputs, embedding, kind, settings.complement, self.seed, on_step=on_step)
        completed = time.perf_counter()

        encoder = embedding.encoder
        settings = settle(settings, encoder.kind, encoder.module.shape, self._overrides())
        halves = both_halves(graph, half, device)
        with seeded(self.seed):
            module = build_goal(graph.num_features, graph.num_classes, graph.num_nodes, settings.goal)
            module.to(device)
            history = fit_supervised(
                module,
                (inputs, *halves),
                graph,
                split,
                settings.goal.training,
                metric=self.metric,
                checkpoint=checkpoint("classifier"),
                on_epoch=None if on_step is None else lambda done, most: on_step("classifier", done, most),
            )
        share = 0.0
        if settings.goal.blend:
            first, second = class_probabilities(module, inputs, *halves), encoder.probabilities(graph, inputs)
            share = choose_share(first[split.val], second[split.val], graph.y[split.val], self.metric)
        finished = time.perf_counter()
        self.encoder_share_ = share
        self.settings_ = settings
        self.classes_ = graph.classes
        self.diagnosis_: Diagnosis = diagnosis
        self.missing_half_: MissingHalf = half
        self.history_: dict[str, History] = {
            "encoder": embedding.encoder.history,
            "head": embedding.head_history,
            "classifier": history,
        }
        self._scaling, self._embedding, self._module = scaling, embedding, module
        self._known = KnownNodes.of(graph)
        self.seconds_ = {
            "diagnose": diagnosed - started,
            "complement": completed - diagnosed,
            "train": finished - completed,
            "total": finished - started,
        }
        return self

    def resolved_settings(self, name: str = "") -> Settings:
        """What a fit of the graph of this name would be done with; refuses what makes no sense."""
        if self.follow not in FOLLOW:
            raise InputError(f"follow={self.follow!r} is not known: choose one of {', '.join(FOLLOW)}")
        generator(self.seed)  # refuses what is no seed
        settings = with_overrides(preset_settings(self.preset, name), self._overrides())
        check_settings(settings)
        return settings

    def run_identity(self, graph: Graph, split: Split) -> str:
        """A hash of all that decides a fit; a checkpoint of any other fit is not taken up."""
        settings = to_dict(self.resolved_settings(graph.name))
        plain = [VERSION, graph.unlabelled_fingerprint, settings, self.seed]
        plain += [self.follow, self.device, self.metric]
        digest = hashlib.sha256(json.dumps(plain, default=plain_number).encode())
        for part in (split.train, split.val):
            digest.update(part.tobytes())
            digest.update(graph.y[part].tobytes())
        return digest.hexdigest()

    @property
    def coefficients_(self) -> list[dict[str, float]]:
        """α, β, γ, δ of every layer, as used after the fit."""
        check_is_fitted(self, "settings_")
        layers = self._module.coefficients()
        return [dict(zip(COEFFICIENT_NAMES, layer, strict=True)) for layer in layers]

    # ------------------------------------------------------------------ using

    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """``[N, C]`` class probabilities of every node, in the order of ``classes_``.

        ``graph`` is the fitted graph, or that graph with nodes and edges added. The missing half of a new
        node is searched among the nodes of the fit.
        """
        check_is_fitted(self, "settings_")
        grown, order = self._known.first(graph)
        device = usable_device(self.device)
        inputs = node_inputs(grown, self._scaling, num_known=self._known.count, device=device)
        half = self._half_of(grown, inputs)
        self._module.to(device)
        found = class_probabilities(self._module, inputs, *both_halves(grown, half, device))
        if self.encoder_share_ > 0:
            encoder = self._embedding.encoder
            encoder.module.to(device)
            found = blended(found, encoder.probabilities(grown, inputs), self.encoder_share_)
        result = np.empty_like(found)
        result[order] = found
        return result

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a folder: JSON and safetensors, never a pickle."""
        from otherhalf.estimators.persistence import save_model

        check_is_fitted(self, "settings_")
        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> GOALClassifier:
        """Read a model written by :meth:`save`; an altered or truncated file is noticed and named."""
        from otherhalf.estimators.persistence import load_model

        return load_model(cls, Path(path))

    # ------------------------------------------------------------------ within

    def _overrides(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in OVERRIDES if getattr(self, name) is not None}

    def _half_of(self, graph: Graph, inputs: NodeInputs) -> MissingHalf:
        """The fitted half, with the pairs of new nodes added to it."""
        known = self._known.count
        if graph.num_nodes == known:
            return self.missing_half_
        z = self._embedding(graph, inputs)
        new = torch.arange(known, graph.num_nodes)
        half = self.missing_half_
        found = search_pairs(z, new, torch.arange(known), half.k, half.kind)
        pairs = np.concatenate([half.pairs, found], axis=1)
        return replace(half, pairs=pairs, num_nodes=graph.num_nodes)


def both_halves(
    graph: Graph, missing: MissingHalf, device: torch.device
) -> tuple[SparseOperator, SparseOperator]:
    """Â_o and Â_t: the given and the missing half, whichever is which."""
    given = normalized_adjacency(graph.adjacency).to(device)
    found = normalized_adjacency(missing.adjacency).to(device)
    return (found, given) if missing.kind == "homophily" else (given, found)
