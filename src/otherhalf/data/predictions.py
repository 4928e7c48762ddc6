"""Predictions as a table that other programs can read."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from otherhalf.data.table_files import SEPARATORS, file_ending
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.atomic import atomic_write, check_place


def check_predictions_file(path: str | Path) -> str:
    """Return the ending of a table's path; raise InputError if predictions could not be written there."""
    path = Path(path).expanduser()
    ending = file_ending(path)
    if ending not in SEPARATORS and find_spec("pyarrow") is None:
        raise InputError(
            f"writing {path} needs pyarrow: run `pip install otherhalf[io]`, or write a .csv file instead"
        )
    check_place(path)
    return ending


def write_predictions(path: str | Path, graph: Graph, labels: Any, probabilities: Any, classes: Any) -> None:
    """Write one row per node: ``id``, ``prediction``, ``confidence`` and ``p_<class>`` for every class.

    Args:
        path: ``.csv``, ``.tsv`` (also ``.gz``) or ``.parquet``; the file is written completely or not at all.
        graph: The graph whose nodes were classified; its ids are the first column.
        labels: ``[N]`` predicted classes, each one of ``classes``.
        probabilities: ``[N, C]``, the columns in the order of ``classes``. The confidence is that of the
            predicted class.
        classes: ``[C]`` class names.
    """
    path = Path(path).expanduser()
    ending = check_predictions_file(path)
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
    columns = {
        "id": graph.node_names(),
        "prediction": labels,
        "confidence": probabilities[np.arange(n), places],
        **{f"p_{name}": probabilities[:, place] for place, name in enumerate(classes)},
    }
    table = pd.DataFrame(columns)
    try:
        with atomic_write(path) as temporary:
            if ending in SEPARATORS:
                table.to_csv(temporary, index=False, sep=SEPARATORS[ending], compression="infer")  # by .gz
            else:
                table.to_parquet(temporary, index=False, engine="pyarrow")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}): choose another folder"
        ) from error
