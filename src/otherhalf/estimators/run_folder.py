"""The folder of one fit: model, result and predictions, and checkpoints while it runs."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from otherhalf.data.predictions import write_predictions
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.evaluation import Evaluation, class_shares
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.members.fitting import fit_members
from otherhalf.estimators.model_folder import weights_of
from otherhalf.estimators.run_files import (
    HALF_FILE,
    PREDICTIONS_FILE,
    RESULT_FILE,
    RunFiles,
    complete_earlier,
)
from otherhalf.estimators.simple_rows import simple_rows
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import FloatArray
from otherhalf.system.atomic import atomic_write
from otherhalf.system.fields import json_number
from otherhalf.system.locks import folder_lock
from otherhalf.system.paths import user_path
from otherhalf.system.process import peak_memory_mb
from otherhalf.system.profile import stage
from otherhalf.training.loop import OnStep
from otherhalf.training.metrics import score

MOST_HALF_ROWS = 1_000_000
"""Most edges of a missing half that are written beside the model: about 50 MB as CSV."""


def fit_into(
    model: NodeClassifier,
    graph: Graph,
    split: Split,
    folder: Path | None,
    *,
    resume: bool = False,
    on_step: OnStep | None = None,
    simple: bool = False,
    spreadsheet_safe: bool = False,
    write_report: Callable[[Path, dict[str, Any]], Any] | None = None,
    show: Callable[[dict[str, Any]], Any] = str,
) -> dict[str, Any]:
    """Fit, score once on the test nodes, write everything to ``folder`` if one is given; return the result.

    An earlier fit in the folder is replaced when the new one is whole, and not before.

    Args:
        model: The estimator.
        graph: The graph.
        split: Its split.
        folder: Where to write; None to write nothing.
        resume: Whether to continue a fit into the same folder that was stopped, with the same number of
            threads; one that had finished is not run again.
        on_step: Progress callback (stage, done, total).
        simple: Whether the result has the scores of simple models beside those of the fit (of GOAL only).
        spreadsheet_safe: Whether no cell of the tables is a formula to a spreadsheet
            (:func:`~otherhalf.data.table_writer.write_table`).
        write_report: Writes :data:`~otherhalf.estimators.run_files.REPORT_FILE` to the folder that it is
            given, from the model and this result; default: there is none.
        show: Shows a result. A result in the folder that cannot be shown is damaged.
    """
    if folder is None:
        model.fit(graph, split, on_step=on_step)
        return _result(model, graph, split, on_step, simple=simple)
    # Wrong input is noticed before anything in the folder is touched.
    model.check_fit(graph, split)
    folder = user_path(folder)
    files = RunFiles(folder, _run_identity(model, graph, split, safe=spreadsheet_safe))
    files.check()
    with folder_lock(folder):
        complete_earlier(folder)
        if resume and (earlier := files.finished(show)) is not None:
            files.forget_state()
            return earlier
        files.begin(anew=not resume)
        model.fit(graph, split, checkpoints=files.state, on_step=on_step)
        with stage("prediction"):
            probabilities = model.predict_proba(graph)
        place = files.empty_outcome()
        model.save(place)
        write_predictions(
            place / PREDICTIONS_FILE,
            graph,
            model.classes_[probabilities.argmax(axis=1)],
            probabilities,
            model.classes_,
            split=split,
            spreadsheet_safe=spreadsheet_safe,
        )
        result = {
            **_result(model, graph, split, on_step, probabilities, simple=simple),
            "out": str(folder),
            "half_rows": _write_half(model, graph, place, safe=spreadsheet_safe),
            "weights": weights_of(place),
            "run": files.identity,
            "threads": torch.get_num_threads(),
            **({} if write_report is None else {"report": True}),
        }
        if write_report is not None:
            with stage("content of the report"):
                write_report(place, result)
        with atomic_write(place / RESULT_FILE) as temporary:
            temporary.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        files.publish()
    return result


def _result(
    model: NodeClassifier,
    graph: Graph,
    split: Split,
    on_step: OnStep | None,
    probabilities: FloatArray | None = None,
    *,
    simple: bool,
) -> dict[str, Any]:
    """Return the result of a fit, with the simple models beside it if they are wanted."""
    if probabilities is None:
        with stage("prediction"):
            probabilities = model.predict_proba(graph)
    result = result_of(model, graph, split, probabilities)
    rows = []
    if simple and isinstance(model, GOALClassifier):
        rows = simple_rows(model, graph, split, probabilities, on_step)
    return {**result, "simple": [vars(row) for row in rows]}


def result_of(
    model: NodeClassifier, graph: Graph, split: Split, probabilities: np.ndarray[Any, Any] | None = None
) -> dict[str, Any]:
    """Return the result of a fit. The test labels are read here, once, to score."""
    if probabilities is None:
        probabilities = model.predict_proba(graph)
    val, test = (score("accuracy", probabilities, graph.y, part) for part in (split.val, split.test))
    choice, decision = model.metric_choice_, model.decision_
    shares = class_shares(graph.y[split.train], graph.num_classes)
    found = {
        name: Evaluation.of(probabilities[part], graph.y[part], graph.classes, choice.name, shares=shares)
        for name, part in (("val", split.val), ("test", split.test))
    }
    return {
        "name": graph.name,
        "preset": getattr(model, "preset", None),
        "split": split.kind,
        "seed": model.seed,
        "val_accuracy": val,
        "test_accuracy": None if np.isnan(test) else test,
        "metric": choice.name,
        "metric_reason": choice.reason,
        "metrics": {name: each.metrics for name, each in found.items()},
        "majority": {name: each.majority for name, each in found.items()},
        "evaluation": {name: each.to_dict() for name, each in found.items()},
        "threshold": decision and decision.threshold,
        "seconds": model.seconds_,
        "epochs": model.history_["classifier"].epochs if "classifier" in model.history_ else 0,
        "peak_memory_mb": peak_memory_mb(),
        "processes": fit_members().processes,
        **(_of_goal(model, graph, split) if isinstance(model, GOALClassifier) else {}),
        "fingerprint": graph.fingerprint,
    }


def _of_goal(model: GOALClassifier, graph: Graph, split: Split) -> dict[str, Any]:
    """Return what only GOAL has: its coefficients, its diagnosis, its half and its members."""
    half = model.missing_half_
    return {
        "coefficients": model.coefficients_,
        "tendency": model.diagnosis_.tendency,
        "contradiction": model.diagnosis_.contradiction,
        "ks": model.diagnosis_.ks,
        "method": model.settings_.method,
        "missing_half": half and half.kind,
        "missing_half_edges": half and half.num_edges,
        "missing_half_test_homophily": half and half.homophily(graph.y, split.test),
        "missing_half_words": half and half.words,
        "encoder": half and half.encoder,
        "encoder_share": model.encoder_share_,
        "leaderboard": [vars(row) for row in model.leaderboard_],
    }


def _write_half(model: NodeClassifier, graph: Graph, folder: Path, *, safe: bool) -> int | None:
    """Write the edges of the missing half, unless there is none or it is very large; return their number."""
    half = model.missing_half_ if isinstance(model, GOALClassifier) else None
    if half is None or half.pairs.shape[1] > MOST_HALF_ROWS:
        return None
    return half.to_table(folder / HALF_FILE, graph, spreadsheet_safe=safe)


def _run_identity(model: NodeClassifier, graph: Graph, split: Split, *, safe: bool) -> str:
    """Return a hash of everything that decides what a run writes: the fit, names, labels and test nodes.

    How tables were read is among it: the model keeps the names of their columns for ``predict``.
    """
    digest = hashlib.sha256(model.run_identity(graph, split).encode())
    names = [graph.name, split.kind, graph.classes.tolist(), graph.node_names().tolist()]
    reading = [] if graph.reading is None else [graph.reading.to_dict()]
    cells = ["spreadsheet-safe"] if safe else []
    values = [*names, graph.fingerprint, split.test.tolist(), *reading, *cells]
    digest.update(json.dumps(values, default=json_number).encode())
    return digest.hexdigest()
