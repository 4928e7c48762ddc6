"""What the found half is worth: the same fit without a half, and with a random one."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from otherhalf.errors import InputError
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.graph import Graph, Split
from otherhalf.report.reported import Reported
from otherhalf.report.values import number
from otherhalf.training.loop import OnStep
from otherhalf.training.metrics import METRICS, score

EXPLAINED = (
    "One split and one seed, on {nodes:,} {part} nodes: a difference smaller than the interval of the metric "
    "may be chance. Each is a fit of its own with the same settings."
)


def measure_worth(
    model: GOALClassifier, graph: Graph, split: Split, *, on_step: OnStep | None = None
) -> dict[str, Any]:
    """Fit twice more, without a half and with a random one, and return the three scores.

    Args:
        model: The fitted model, with a found half; it is not changed.
        graph: The graph of the fit.
        split: The split of the fit.
        on_step: Progress callback (stage, done, total).

    Returns:
        ``metric``, ``title``, ``part``, the scores ``with``, ``without`` and ``random``, and ``explained``.
    """
    settings = model.settings_
    if settings.method != "kernel" or settings.ensemble.half != "found":
        raise InputError(
            "the worth of a half can be measured for a half that was found by the method kernel: fit with it"
        )
    fit = Reported.of(model, graph, split)
    name, nodes = model.metric_choice_.name, fit.judged
    scores = {"with": score(name, fit.probabilities, fit.graph.y, nodes)}
    for key, half in (("without", "none"), ("random", "random")):
        other = clone(model).set_params(ensemble={**(model.ensemble or {}), "half": half}, metric=name)
        other.fit(fit.graph, fit.split, on_step=on_step)
        scores[key] = score(name, other.predict_proba(fit.graph), fit.graph.y, nodes)
    part = {"test": "test", "val": "validation"}[fit.judged_part]
    return {
        "metric": name,
        "title": METRICS[name].title,
        "part": fit.judged_part,
        **{key: number(value) for key, value in scores.items()},
        "explained": EXPLAINED.format(nodes=len(nodes), part=part),
    }
