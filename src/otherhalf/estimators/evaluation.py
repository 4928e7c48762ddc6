"""The evaluation of predictions on some nodes: every metric, every class, and what is taken for what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray
from otherhalf.training.measures import Scores, confusion
from otherhalf.training.metrics import METRICS, all_metrics

FEW_CLASSES = 12
"""Most classes of which the text shows the whole confusion matrix, and every class in its table."""

LARGEST = 12
"""Number of the largest confusions that are listed."""

WIDTH = 20
"""Most characters of a class name in the text."""


@dataclass(frozen=True)
class Evaluation:
    """How good predictions are on the labelled nodes among some.

    Attributes:
        metric: Name of the metric that selected the model.
        nodes: Number of labelled nodes.
        classes: Class names.
        metrics: Every metric by name; None where it is undefined.
        majority: The same metrics of a prediction that is equal for all nodes: the shares of the classes
            among the training nodes. Its most probable class is the majority class.
        per_class: ``class``, ``nodes``, ``precision``, ``recall`` and ``f1`` of every class; None where it is
            undefined.
        confusion: ``[C][C]`` numbers of nodes by true class (row) and predicted class (column).
        largest: The largest confusions: ``true``, ``predicted`` and ``nodes``.
    """

    metric: str
    nodes: int
    classes: list[Any]
    metrics: dict[str, float | None]
    majority: dict[str, float | None]
    per_class: list[dict[str, Any]]
    confusion: list[list[int]]
    largest: list[dict[str, Any]]

    @classmethod
    def of(
        cls,
        probabilities: FloatArray,
        y: IntArray,
        classes: Any,
        metric: str = "accuracy",
        *,
        shares: Scores | None = None,
        predicted: IntArray | None = None,
    ) -> Evaluation:
        """Evaluate predictions.

        Args:
            probabilities: ``[n, C]``, the columns in the order of ``classes``.
            y: ``[n]`` class codes; nodes without a label do not count.
            classes: ``[C]`` class names.
            metric: Name of the metric that selected the model.
            shares: ``[C]`` shares of the classes among the training nodes; default: among these nodes.
            predicted: ``[n]`` predicted codes, where a threshold decided; default: the most probable class.
        """
        known = y != UNKNOWN
        probabilities, y = probabilities[known], y[known]
        found = probabilities.argmax(axis=1) if predicted is None else predicted[known]
        if shares is None:
            shares = np.bincount(y, minlength=len(classes)) / max(1, len(y))
        names, counts = np.asarray(classes).tolist(), confusion(found, y, len(classes))
        return cls(
            metric,
            len(y),
            names,
            all_metrics(probabilities, y, classes),
            all_metrics(np.tile(shares, (len(y), 1)), y, classes),
            _per_class(counts, names),
            counts.tolist(),
            _largest(counts, names),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON has them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Evaluation:
        """Return the evaluation that :meth:`to_dict` wrote; other keys are left out."""
        return cls(**{item.name: values[item.name] for item in fields(cls)})

    def __str__(self) -> str:
        if self.nodes == 0:
            return "No node with a label to evaluate on."
        return "\n".join([*self._metric_lines(), *self._class_lines(), *self._confusion_lines()])

    def _metric_lines(self) -> list[str]:
        rows = [
            (metric.title + ("" if metric.larger_is_better else " (less is better)"), name)
            for name, metric in METRICS.items()
            if self.metrics.get(name) is not None
        ]
        table: list[tuple[str, ...]] = [("metric", "model", "majority class")]
        table += [(title, _number(self.metrics[name]), _number(self.majority[name])) for title, name in rows]
        return _table(table)

    def _class_lines(self) -> list[str]:
        rows, note = self.per_class, []
        if len(rows) > FEW_CLASSES:
            rows = sorted(rows, key=lambda row: -row["nodes"])[:FEW_CLASSES]
            note = [f"The other {len(self.classes) - FEW_CLASSES} classes have no more nodes than these."]
        table: list[tuple[str, ...]] = [("class", "nodes", "precision", "recall", "F1")]
        table += [
            (
                _short(row["class"]),
                f"{row['nodes']:,}",
                *(_number(row[key], digits=3) for key in ("precision", "recall", "f1")),
            )
            for row in rows
        ]
        return [*_table(table), *note]

    def _confusion_lines(self) -> list[str]:
        if len(self.classes) <= FEW_CLASSES:
            names = [_short(name) for name in self.classes]
            table = [("true \\ predicted", *names)]
            table += [(name, *map(str, row)) for name, row in zip(names, self.confusion, strict=True)]
            return _table(table)
        if not self.largest:
            return []
        table = [("true", "predicted", "nodes")]
        table += [(_short(row["true"]), _short(row["predicted"]), str(row["nodes"])) for row in self.largest]
        return ["The largest confusions:", *_table(table, left=2)]


def class_shares(y: IntArray, num_classes: int) -> Scores:
    """Return the ``[C]`` shares of the classes among the labelled nodes."""
    counts = np.bincount(y[y != UNKNOWN], minlength=num_classes)
    return np.asarray(counts / max(1, counts.sum()))


def _per_class(counts: IntArray, names: list[Any]) -> list[dict[str, Any]]:
    right, rows, columns = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    return [
        {
            "class": name,
            "nodes": int(rows[c]),
            "precision": _ratio(right[c], columns[c]),
            "recall": _ratio(right[c], rows[c]),
            "f1": _ratio(2 * right[c], rows[c] + columns[c]),
        }
        for c, name in enumerate(names)
    ]


def _largest(counts: IntArray, names: list[Any]) -> list[dict[str, Any]]:
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:LARGEST]
    pairs = [divmod(int(place), len(wrong)) for place in order]
    return [
        {"true": names[true], "predicted": names[taken], "nodes": int(wrong[true, taken])}
        for true, taken in pairs
        if wrong[true, taken] > 0
    ]


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None


def _number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _short(name: Any) -> str:
    text = str(name)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def _table(rows: Iterable[tuple[str, ...]], left: int = 1) -> list[str]:
    """Return rows as lines with aligned columns: the first ``left`` to the left, the others to the right."""
    rows = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
