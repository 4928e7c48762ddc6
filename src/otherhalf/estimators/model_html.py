"""A fitted classifier in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otherhalf.diagnosis.sentences import adjective
from otherhalf.system.html import card, facts, shortened, table
from otherhalf.training.metrics import METRICS

if TYPE_CHECKING:
    from otherhalf.estimators.base import NodeClassifier

MOST_CLASSES = 10
"""Most classes that are named."""


class InNotebook:
    """Shows a fitted estimator in a notebook; before the fit scikit-learn's diagram stays."""

    def _repr_html_inner(self) -> str:
        if hasattr(self, "classes_"):
            return model_html(self)  # type: ignore[arg-type]
        text: str = super()._repr_html_inner()  # type: ignore[misc]
        return text

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:  # scikit-learn is set to show diagrams, not text
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def model_html(model: NodeClassifier) -> str:
    """Return what a fitted estimator is, what it found and how good it is on validation nodes, as HTML."""
    choice = model.metric_choice_
    names = [shortened(name) for name in model.classes_[:MOST_CLASSES]]
    more = len(model.classes_) - len(names)
    values = {
        "model": getattr(model.settings_, "kind", None),
        "fitted on": f"{model.num_known_:,} nodes, {model.seconds_['total']:.1f} s",
        "classes": ", ".join(names) + (f" and {more:,} more" if more else ""),
        "metric": METRICS[choice.name].title if choice.name in METRICS else choice.name,
        **_found(model),
    }
    settings = " ".join(repr(model).split())
    return card(f"{settings}, fitted", facts(values), *_leaderboard(model), *_trainings(model))


def _found(model: Any) -> dict[str, str]:
    """Return the diagnosis and the missing half in words, if the estimator has them."""
    diagnosis, half = getattr(model, "diagnosis_", None), getattr(model, "missing_half_", None)
    if diagnosis is None:
        return {}
    verdict = f"{diagnosis.tendency} by the features (D = {diagnosis.ks:.3f})"
    if diagnosis.label_tendency:
        verdict += f", {diagnosis.label_tendency} by the labels"
    if half is None:
        return {"verdict": verdict, "missing half": "none"}
    words = f", {half.words}" if half.words else ""
    return {"verdict": verdict, "missing half": f"{adjective(half.kind)}, {half.num_edges:,} edges{words}"}


def _leaderboard(model: Any) -> list[str]:
    rows = getattr(model, "leaderboard_", ())
    if not rows:
        return []
    cells = [(row.member, f"{row.validation:.4f}", f"{row.seconds:.1f} s", row.weight) for row in rows]
    return [table(("member", "validation", "time", "weight"), cells, bars=3)]


def _trainings(model: Any) -> list[str]:
    """Return the best validation score of each training of an estimator without a leaderboard."""
    if getattr(model, "leaderboard_", ()):
        return []
    cells = [
        (stage, f"{history.best_score[0]:.4f}", f"{history.epochs:,}")
        for stage, history in model.history_.items()
        if history.best_score
    ]
    return [table(("training", "validation", "epochs"), cells)] if cells else []
