"""What a fitted model is made of: its members' probabilities and its spread, for those who explain it."""

from __future__ import annotations

from collections.abc import Iterator

from otherhalf.complement.kernel_half import Spread
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.embedding_way import EmbeddingWay, arguments
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.kernel_way import KernelWay
from otherhalf.estimators.mixture import tempered
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.training.supervised import class_probabilities


def member_weights(model: NodeClassifier) -> dict[str, float]:
    """Return the weights of the members that take part in the blend, largest first; empty for no blend."""
    rows = model.leaderboard_ if isinstance(model, GOALClassifier) else []
    return {row.member: row.weight for row in rows if row.weight > 0}


def member_probabilities(model: NodeClassifier, prepared: PreparedGraph) -> Iterator[tuple[str, FloatArray]]:
    """Yield each member of :func:`member_weights` with its ``[N, C]`` probabilities, one at a time.

    They are as they enter the blend, with their temperature: their weighted sum is what the model predicts.

    Args:
        model: The fitted model.
        prepared: The fitted graph, as :meth:`~otherhalf.estimators.base.NodeClassifier.prepare` returns it.
    """
    way = model._way if isinstance(model, GOALClassifier) else None
    if isinstance(way, KernelWay):
        ensemble = way.ensemble
        view = ensemble.view(prepared)
        for name in member_weights(model):
            found = ensemble.members[name].probabilities(view)
            yield name, tempered(found, ensemble.mixture.temperatures[name])
    elif isinstance(way, EmbeddingWay):
        for name in member_weights(model):
            if name == "GOAL":
                yield name, class_probabilities(way.module, *arguments(prepared, way.half))
            else:
                yield name, way.embedding.encoder.probabilities(prepared)


def spread_of(model: NodeClassifier) -> Spread | None:
    """Return the fitted spread of labels over the found half; None for a model without one."""
    way = model._way if isinstance(model, GOALClassifier) else None
    return way.ensemble.spread if isinstance(way, KernelWay) else None
