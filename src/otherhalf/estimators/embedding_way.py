"""The paper's method: an embedding finds the missing half, and a stack of convolutions reads both."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from otherhalf.complement.embedding import Embedding, learn_missing_half, search_pairs
from otherhalf.complement.encoder import Encoder
from otherhalf.complement.head import Head
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.estimators.blend import blended, choose_share
from otherhalf.estimators.ensemble import LeaderboardRow
from otherhalf.estimators.presets import resolve_architecture
from otherhalf.estimators.settings import GOALSettings, Settings
from otherhalf.estimators.way import Outcome, Way, half_description, restored_half
from otherhalf.nn.goal import GOAL
from otherhalf.nn.models.registry import build, resolve_options
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.system.profile import timed
from otherhalf.system.threads import worthwhile_threads
from otherhalf.system.typed import typed
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import seeded
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision, class_probabilities, fit_supervised


class EmbeddingWay(Way):
    """An embedding, its missing half, the classifier over both halves, and the encoder's blend weight."""

    def __init__(
        self, embedding: Embedding, half: MissingHalf, module: GOAL, share: float, board: list[LeaderboardRow]
    ) -> None:
        self.embedding, self.module, self.share = embedding, module, share
        self._half, self._board = half, board

    @property
    def half(self) -> MissingHalf:
        """The missing half of the fitted graph."""
        return self._half

    @property
    def encoder_share(self) -> float:
        """Blend weight of the encoder."""
        return self.share

    def leaderboard(self) -> list[LeaderboardRow]:
        """Return classifier and encoder; empty for a model that was saved without a leaderboard."""
        return self._board

    def coefficients(self) -> list[tuple[float, ...]]:
        """Return α, β, γ, δ of every layer."""
        return list(self.module.coefficients())

    def probabilities(self, prepared: PreparedGraph) -> FloatArray:
        """Return the blended probabilities."""
        self.module.to(prepared.device)
        half = self._half_of(prepared)
        probabilities = class_probabilities(self.module, *arguments(prepared, half))
        if self.share > 0:
            probabilities = blended(probabilities, self.embedding.encoder.probabilities(prepared), self.share)
        return probabilities

    def _half_of(self, prepared: PreparedGraph) -> MissingHalf:
        """Return the missing half; new nodes are joined to the most or least similar known nodes."""
        half, nodes = self.half, prepared.graph.num_nodes
        known = half.num_nodes
        if nodes == known:
            return half
        if "missing half" not in prepared.derived:
            z = self.embedding(prepared)
            pairs = search_pairs(z, torch.arange(known, nodes), torch.arange(known), half.k, half.kind)
            pairs = np.concatenate([half.pairs, pairs], axis=1)
            prepared.derived["missing half"] = replace(half, pairs=pairs, num_nodes=nodes)
        grown: MissingHalf = prepared.derived["missing half"]
        return grown

    def parts(self) -> dict[str, nn.Module]:
        """Return encoder, head and classifier."""
        return {"encoder": self.embedding.encoder.module, "head": self.embedding.head, "goal": self.module}

    def tensors(self) -> dict[str, Tensor]:
        """Return the pairs of the missing half."""
        # int32 takes less space; a graph that one machine holds has fewer than 2³¹ nodes.
        return {"half/pairs": torch.from_numpy(self.half.pairs.astype(np.int32))}

    def description(self) -> dict[str, Any]:
        """Return the missing half, the encoder's share and the leaderboard."""
        return {
            "missing_half": half_description(self.half),
            "encoder_share": self.share,
            "leaderboard": [vars(row) for row in self._board],
        }

    @classmethod
    def restore(
        cls,
        settings: Settings,
        sizes: tuple[int, int, int],
        histories: dict[str, History],
        description: dict[str, Any],
        tensors: dict[str, Tensor],
    ) -> EmbeddingWay:
        """Return the way that was saved, with untrained modules."""
        saved = description["missing_half"]
        half = restored_half(saved, tensors, sizes[2])
        chosen = settings.complement
        options = resolve_options(half.encoder, chosen.encoder.own_options)
        module = build(half.encoder, *sizes, chosen.encoder.architecture, options)
        head = Head(tensors["head/layers.0.weight"].shape[1], chosen.head)
        encoder = Encoder(half.encoder, module, histories["encoder"])
        board = [typed(LeaderboardRow, row) for row in description.get("leaderboard", [])]
        return cls(
            Embedding(encoder, head, histories["head"]),
            half,
            build_goal(sizes, settings.goal),
            float(description["encoder_share"]),
            board,
        )


def fit_embedding_way(
    prepared: PreparedGraph, kind: str, settings: Settings, given: dict[str, Any], supervision: Supervision
) -> Outcome:
    """Learn the embedding, search the missing half, and train the classifier over both.

    Args:
        prepared: The graph, ready for models.
        kind: Kind of the missing half.
        settings: Encoder, head, search and classifier.
        given: The user's overrides, which the encoder's architecture does not replace.
        supervision: Split, seed, metric and monitor.
    """
    times = [time.perf_counter()]
    embedding, half = learn_missing_half(prepared, kind, settings.complement, supervision)
    times.append(time.perf_counter())
    encoder, y, val = embedding.encoder, prepared.graph.y, supervision.split.val
    settings = resolve_architecture(settings, encoder.kind, encoder.module.architecture, given)
    module, history = train_classifier(prepared, half, settings.goal, supervision)
    share = 0.0
    own = class_probabilities(module, *arguments(prepared, half))
    of_encoder = encoder.probabilities(prepared)
    if settings.goal.blend:
        share = choose_share(own[val], of_encoder[val], y[val], supervision.metric)
    times.append(time.perf_counter())
    score, seconds = metric_named(supervision.metric).function, np.diff(times).tolist()
    rows = [("GOAL", own, 1 - share, seconds[1]), (f"encoder {encoder.kind}", of_encoder, share, seconds[0])]
    board = [LeaderboardRow(name, score(p[val], y[val]), weight, spent) for name, p, weight, spent in rows]
    return Outcome(
        EmbeddingWay(embedding, half, module, share, sorted(board, key=lambda row: -row.weight)),
        settings,
        {"encoder": encoder.history, "head": embedding.head_history, "classifier": history},
        dict(zip(("complement", "train"), seconds, strict=True)),
    )


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


@timed("classifier")
def train_classifier(
    prepared: PreparedGraph, half: MissingHalf, settings: GOALSettings, supervision: Supervision
) -> tuple[GOAL, History]:
    """Train a classifier over the given and the missing half."""
    graph, inputs = prepared.graph, arguments(prepared, half)
    with worthwhile_threads(graph.num_nodes), seeded(supervision.seed):
        module = build_goal(graph.sizes, settings).to(prepared.device)
        history = fit_supervised(module, inputs, graph, settings.training, supervision)
    return module, history
