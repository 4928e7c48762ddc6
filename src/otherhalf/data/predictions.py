"""Predictions as a table that any other program reads."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from otherhalf.data.table_files import file_ending
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.atomic import atomic_write


def write_predictions(path: str | Path, graph: Graph, labels: Any, probabilities: Any, classes: Any) -> None:
    """Write one row per node: ``id``, ``prediction``, ``confidence`` and ``p_<class>`` for every class.

    Args:
        path: ``.csv``, ``.tsv`` (also ``.gz``) or ``.parquet``; the file appears whole or not at all.
        graph: The graph whose nodes were classified; its ids stand in the first column.
        labels: ``[N]`` predicted classes, as they are named in ``classes``.
        probabilities: ``[N, C]``, the columns in the order of ``classes``. The confidence is that of the
            predicted class.
        classes: ``[C]`` class names.
    """
    path = Path(path).expanduser()
    ending = file_ending(path)
    labels, probabilities, classes = np.asarray(labels), np.asarray(probabilities), np.asarray(classes)
    n, count = graph.num_nodes, len(classes)
    if labels.shape != (n,) or probabilities.shape != (n, count):
        raise InputError(
            f"there are labels of shape {labels.shape} and probabilities of shape {probabilities.shape} for "
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
    if ending not in (".csv", ".tsv") and find_spec("pyarrow") is None:
        raise InputError(
            f"writing {path} needs pyarrow: run `pip install otherhalf[io]`, or write a .csv file instead"
        )
    try:
        with atomic_write(path) as temporary:
            if ending in (".csv", ".tsv"):
                separator = "," if ending == ".csv" else "\t"
                table.to_csv(temporary, index=False, sep=separator, compression="infer")  # .gz packs
            else:
                table.to_parquet(temporary, index=False, engine="pyarrow")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}): choose another place"
        ) from error
