"""Everything that a report shows, as one JSON value; ``otherhalf fit --out`` writes it beside the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.run_files import REPORT_FILE
from otherhalf.graph import Graph, Split
from otherhalf.report.breakdown import evaluation
from otherhalf.report.explored import explore
from otherhalf.report.halves import halves
from otherhalf.report.leaderboard import classifier
from otherhalf.report.origin import column_rows, graph_facts, made
from otherhalf.report.reported import Reported
from otherhalf.report.stored import FORMAT, write_content
from otherhalf.report.tendency import verdict


def collect(
    model: NodeClassifier,
    graph: Graph,
    split: Split,
    result: Mapping[str, Any] | None = None,
    *,
    command: str = "",
) -> dict[str, Any]:
    """Return what a report of a fit shows. Labels of test nodes are read to score and to describe.

    Args:
        model: The fitted model. What it does not have is None or empty: a baseline has no half.
        graph: The graph of the fit.
        split: The split of the fit.
        result: The result of :func:`~otherhalf.estimators.run_folder.fit_into`, if there is one: it has the
            simple models and the memory, which cannot be measured afterwards.
        command: The command that made the fit.
    """
    fit, known = Reported.of(model, graph, split), result or {}
    explored = explore(fit)
    return {
        "format": FORMAT,
        "name": graph.name,
        "made": made(fit, known, command),
        "graph": graph_facts(fit.graph, fit.split),
        "verdict": verdict(fit),
        "halves": halves(fit),
        "classifier": classifier(fit, known),
        "evaluation": evaluation(fit, known, explored.place),
        "columns": column_rows(fit.graph),
        "explorer": explored.content,
    }


def content_writer(
    model: NodeClassifier, graph: Graph, split: Split, *, command: str = ""
) -> Callable[[Path, Mapping[str, Any]], None]:
    """Return what :func:`~otherhalf.estimators.run_folder.fit_into` calls to write the content of a fit.

    Args:
        model: The model, which is fitted by then.
        graph: The graph of the fit.
        split: The split of the fit.
        command: The command that makes the fit.
    """
    return lambda folder, result: write_content(folder, collect(model, graph, split, result, command=command))


def complete_content(
    folder: Path, graph: Graph, split: Split, result: Mapping[str, Any], *, command: str = ""
) -> None:
    """Write the content of a finished fit to its folder, unless it is there: older versions wrote none.

    Args:
        folder: The folder, with the model.
        graph: The graph of the fit.
        split: The split of the fit.
        result: The result of the fit.
        command: The command that made the fit.
    """
    if not (folder / REPORT_FILE).is_file():
        content_writer(GOALClassifier.load(folder), graph, split, command=command)(folder, result)
