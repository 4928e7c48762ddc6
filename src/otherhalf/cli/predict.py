"""The command ``predict``: classes, probabilities and sets of the nodes of a graph, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from otherhalf.cli.console import print_result, set_threads
from otherhalf.cli.options import Device, Json, OpenGraph, SpreadsheetSafe, Threads, path_option, takes_data
from otherhalf.errors import InputError
from otherhalf.system.fields import number, one_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from otherhalf.estimators.base import NodeClassifier
    from otherhalf.graph import Graph


@takes_data
def predict(
    open_graph: OpenGraph,
    model: Annotated[
        Path, typer.Argument(metavar="DIR", parser=path_option, help="A folder that `fit` or `tune` wrote.")
    ],
    out: Annotated[
        Path, typer.Option(parser=path_option, help="Where to write the predictions: .csv or .parquet.")
    ],
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Two classes: the probability from which on the second class is predicted, or auto: the one "
            "that the validation nodes chose. Default: the more probable class."
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            help="Which nodes to write: all, unlabelled (those without a label and new ones), or new: those "
            "that were not in the fit. A model of a large graph then computes what is around them only. "
            "Default: unlabelled if there are any, else all."
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Add a column `set`: the classes that hold the true one with this probability."),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
) -> None:
    """Predict the classes of nodes of the fitted graph, or of that graph with nodes and edges added."""
    set_threads(threads)
    from otherhalf.data.predictions import write_predictions
    from otherhalf.data.reading import AS_NUMBERS
    from otherhalf.data.table_writer import check_table_file
    from otherhalf.estimators.any_model import load_model
    from otherhalf.estimators.conformal import as_text

    limit = _threshold(threshold)
    one_of("all", "unlabelled", "new").check("nodes", nodes or "all")
    if coverage is not None:
        number(0, 1, above=True, below=True).check("coverage", coverage)
    check_table_file(out)  # before the computation, not after it
    fitted = load_model(model)
    fitted.device = device
    graph = open_graph(fitted.reading_ or AS_NUMBERS)
    wanted = _wanted(graph, fitted, nodes)
    probabilities = _probabilities(fitted, graph, wanted)
    labels = fitted.classes_[fitted.decide(probabilities, limit)]
    sets = None if coverage is None else fitted.sets_of(probabilities, coverage)
    texts = None if sets is None else as_text(sets, fitted.classes_)
    write_predictions(
        out,
        graph,
        labels,
        probabilities,
        fitted.classes_,
        sets=texts,
        nodes=wanted.mask,
        spreadsheet_safe=spreadsheet_safe,
    )
    used = fitted.decision_.threshold if limit == "auto" and fitted.decision_ else limit
    result = {
        "nodes": graph.num_nodes,
        "new_nodes": wanted.new,
        "rows": int(wanted.mask.sum()),
        "which": wanted.which,
        "out": str(out),
        "threshold": used,
        "coverage": coverage,
        "mean_set_size": None if sets is None else float(sets[wanted.mask].sum(axis=1).mean()),
    }
    text = f"{wanted} written to {out}.{wanted.left_out}"
    if used is not None:
        text += f" The class {str(fitted.classes_[1])!r} is predicted from the probability {used:.4g} on."
    if sets is not None:
        text += f" A set has {result['mean_set_size']:.2f} classes on average."
    print_result(result, text, as_json)


@dataclass(frozen=True)
class _Wanted:
    """The nodes that are written."""

    which: str
    mask: npt.NDArray[np.bool_]
    new: int

    def __str__(self) -> str:
        from otherhalf.data.notes import counted

        rows = int(self.mask.sum())
        if self.which == "new":
            which = "new nodes"
        elif self.which == "all":
            which = f"all nodes, {self.new:,} of them new" if self.new else "all nodes"
        else:
            which = f"{counted(rows - self.new, 'node')} without a label and {counted(self.new, 'new node')}"
        return f"{counted(rows, 'prediction')} ({which})"

    @property
    def left_out(self) -> str:
        """A sentence about nodes that are not written, if there are any."""
        others = int((~self.mask).sum())
        if not others:
            return ""
        if self.which == "new":
            return f" Known nodes are left out ({others:,}): `--nodes all` writes them too."
        return f" Labelled nodes are left out ({others:,}): `--nodes all` writes them too."


def _wanted(graph: Graph, fitted: NodeClassifier, nodes: str | None) -> _Wanted:
    """Return the nodes to write: by default those without a label and new ones, or all if there are none."""
    order = fitted.prepare(graph)[1]
    new = order[fitted.num_known_ :]
    mask = np.ones(graph.num_nodes, dtype=bool)
    mask[graph.labelled] = False
    mask[new] = True
    if nodes == "new":
        if not len(new):
            raise InputError(
                "every node was in the fit, so none is new: leave out --nodes, or give --nodes all"
            )
        return _Wanted("new", np.isin(np.arange(graph.num_nodes), new), len(new))
    if nodes == "unlabelled" and not mask.any():
        raise InputError("every node was in the fit and has a label: give --nodes all to predict them")
    if nodes == "all" or not mask.any():
        return _Wanted("all", np.ones_like(mask), len(new))
    return _Wanted("unlabelled", mask, len(new))


def _probabilities(fitted: NodeClassifier, graph: Graph, wanted: _Wanted) -> npt.NDArray[np.float32]:
    """Return ``[N, C]`` probabilities; nodes that are not written have all classes alike."""
    if wanted.which != "new":
        return fitted.predict_proba(graph)
    nodes = np.flatnonzero(wanted.mask)
    classes = len(fitted.classes_)
    rows = np.full((graph.num_nodes, classes), 1 / classes, dtype=np.float32)
    rows[nodes] = fitted.predict_proba(graph, nodes=nodes)
    return rows


def _threshold(text: str | None) -> float | str | None:
    """Return a threshold from the command line: a number, ``auto`` or None."""
    if text is None or text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"--threshold is a number from 0 to 1 or auto, not {text!r}") from None
    number(0, 1).check("threshold", value)
    return value
