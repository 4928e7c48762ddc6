"""What a report says of a fit beyond its result, for the summary of the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otherhalf.errors import InputError, NotEnoughMemory

if TYPE_CHECKING:
    from otherhalf.estimators.goal import GOALClassifier
    from otherhalf.graph import Graph, Split


@dataclass(frozen=True)
class Details:
    """What a report says of a fit; empty where it is not known.

    Attributes:
        verdict: What kind of graph it is, in one sentence.
        intervals: Metrics with the ends of their 95 % intervals.
        by_degree: Groups of nodes: ``label``, ``nodes`` and ``value``.
        group_metric: Title of the metric of the groups.
        worth: Scores ``with`` the found half, ``without`` it and with a ``random`` one, and the ``title`` of
            their metric; None unless they were measured.
    """

    verdict: str = ""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    by_degree: list[dict[str, Any]] = field(default_factory=list)
    group_metric: str = ""
    worth: Mapping[str, Any] | None = None

    @classmethod
    def of_folder(cls, folder: Path) -> Details:
        """Return what the report in a folder says; nothing if there is none that can be read."""
        from otherhalf.report.stored import read_content

        try:
            content = read_content(folder)
        except InputError:
            return cls()
        found = content["evaluation"]
        intervals = {row["name"]: (row["low"], row["high"]) for row in found["metrics"]}
        known = {name: ends for name, ends in intervals.items() if None not in ends}
        verdict, worth = content["verdict"], content["halves"]["worth"]
        return cls(verdict["sentence"] if verdict else "", known, *_degrees(found["by"]), worth)

    @classmethod
    def of_model(cls, model: GOALClassifier, graph: Graph, split: Split) -> Details:
        """Return what a report of a fitted model would say; nothing if there is too little memory for it."""
        from otherhalf.diagnosis.plain_words import sentence
        from otherhalf.report.groups import groups
        from otherhalf.report.intervals import bootstrap_intervals
        from otherhalf.report.reported import Reported

        try:
            fit = Reported.of(model, graph, split)
            nodes = fit.judged
            bounds = bootstrap_intervals(fit.probabilities[nodes], fit.graph.y[nodes], fit.seed)
            by = groups(fit) if len(nodes) else []
        except (NotEnoughMemory, MemoryError):  # the fit itself is done: its result must not be lost
            return cls()
        known = {name: ends for name, ends in bounds.items() if ends is not None}
        return cls(sentence(model.diagnosis_, graph.name), known, *_degrees(by))


def _degrees(by: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    found = next((each for each in by if each["title"] == "degree"), None)
    return ([], "") if found is None else (found["groups"], str(found.get("metric", "accuracy")))
