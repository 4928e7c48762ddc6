"""Predictions as a table that other programs can read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from otherhalf.data.table_writer import write_table
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN
from otherhalf.system.graph_checks import checked_indices
from otherhalf.system.probabilities import check_probabilities


def write_predictions(
    path: str | Path,
    graph: Graph,
    labels: Any,
    probabilities: Any,
    classes: Any,
    *,
    split: Split | None = None,
    sets: Sequence[str] | None = None,
    nodes: Any = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write one row per node: ``id``, ``prediction``, ``confidence`` and ``p_<class>`` for every class.

    Before the probabilities are ``label``, the true class where it is known, if the graph has labels;
    ``part`` (``train``, ``val`` or ``test``), if the split is given; and ``set``, if sets are given.

    Args:
        path: ``.csv``, ``.tsv`` (also ``.gz``) or ``.parquet``; the file is written completely or not at all.
        graph: The graph whose nodes were classified; its ids are the first column, under the name that they
            have in the user's table, or ``id`` if another column has that name.
        labels: ``[N]`` predicted classes, each one of ``classes``.
        probabilities: ``[N, C]``, the columns in the order of ``classes``. The confidence is that of the
            predicted class.
        classes: ``[C]`` class names.
        split: The split of the fit.
        sets: ``[N]`` prediction sets as text.
        nodes: Indices or mask of the only nodes to write, in the order of the graph; default: all.
        spreadsheet_safe: Whether no cell may be a formula to a spreadsheet
            (:func:`~otherhalf.data.table_writer.write_table`).
    """
    labels, probabilities, classes = np.asarray(labels), np.asarray(probabilities), np.asarray(classes)
    n, count = graph.num_nodes, len(classes)
    if labels.shape != (n,) or probabilities.shape != (n, count):
        raise InputError(
            f"the labels have the shape {labels.shape} and the probabilities {probabilities.shape} for "
            f"{n} nodes and {count} classes: give [{n}] and [{n}, {count}]"
        )
    places = pd.Index(classes).get_indexer(pd.Index(labels))
    if (places < 0).any():
        raise InputError(
            f"the predicted label {str(labels[np.argmin(places)])!r} is not among the classes: "
            "predict with the classes the model was trained on"
        )
    check_probabilities(probabilities, graph.node_names())
    columns = {
        "prediction": labels,
        "confidence": probabilities[np.arange(n), places],
        **_known_columns(graph, split),
        **({} if sets is None else {"set": list(sets)}),
        **{f"p_{name}": probabilities[:, place] for place, name in enumerate(classes)},
    }
    id_name = None if graph.reading is None else graph.reading.columns.id
    id_name = "id" if id_name is None or id_name in columns else id_name
    table = pd.DataFrame({id_name: graph.node_names(), **columns})
    if nodes is not None:
        table = table.iloc[np.sort(checked_indices("nodes", nodes))]
    write_table(path, table, spreadsheet_safe=spreadsheet_safe)


def _known_columns(graph: Graph, split: Split | None) -> dict[str, Any]:
    """Return the columns of what was known before: labels, if there are any, and parts of the split."""
    columns: dict[str, Any] = {}
    if len(graph.labelled):
        names = np.array([*graph.classes.tolist(), None], dtype=object)
        columns["label"] = names[np.where(graph.y == UNKNOWN, len(names) - 1, graph.y)]
    if split is not None:
        parts = np.full(graph.num_nodes, None, dtype=object)
        for part in ("train", "val", "test"):
            parts[getattr(split, part)] = part
        columns["part"] = parts
    return columns
