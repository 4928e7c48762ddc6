"""The command ``predict``: classes, probabilities and sets of the nodes of a graph, as a table."""

from pathlib import Path
from typing import Annotated

import typer

from otherhalf.cli.console import print_result, set_threads
from otherhalf.cli.options import Device, Json, OpenGraph, Threads, takes_data
from otherhalf.errors import InputError
from otherhalf.system.fields import number


@takes_data
def predict(
    open_graph: OpenGraph,
    model: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `fit --out` wrote.")],
    out: Annotated[Path, typer.Option(help="Where to write the predictions: .csv or .parquet.")],
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Two classes: the probability from which on the second class is predicted, or auto: the one "
            "that the validation nodes chose. Default: the more probable class."
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Add a column `set`: the classes that hold the true one with this probability."),
    ] = None,
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
) -> None:
    """Predict the class of every node of the fitted graph, or of that graph with nodes and edges added."""
    set_threads(threads)
    from otherhalf.data.predictions import write_predictions
    from otherhalf.data.table_writer import check_table_file
    from otherhalf.estimators.conformal import as_text
    from otherhalf.estimators.goal import GOALClassifier

    limit = _threshold(threshold)
    if coverage is not None:
        number(0, 1, above=True, below=True).check("coverage", coverage)
    check_table_file(out)  # before the computation, not after it
    fitted = GOALClassifier.load(model)
    fitted.device = device
    graph = open_graph()
    probabilities = fitted.predict_proba(graph)
    labels = fitted.classes_[fitted.decide(probabilities, limit)]
    sets = None if coverage is None else fitted.sets_of(probabilities, coverage)
    texts = None if sets is None else as_text(sets, fitted.classes_)
    write_predictions(out, graph, labels, probabilities, fitted.classes_, sets=texts)
    new = graph.num_nodes - fitted.num_known_
    used = fitted.decision_.threshold if limit == "auto" and fitted.decision_ else limit
    result = {
        "nodes": graph.num_nodes,
        "new_nodes": new,
        "out": str(out),
        "threshold": used,
        "coverage": coverage,
        "mean_set_size": None if sets is None else float(sets.sum(axis=1).mean()),
    }
    text = f"{graph.num_nodes} predictions ({new} for new nodes) written to {out}."
    if used is not None:
        text += f" The class {str(fitted.classes_[1])!r} is predicted from the probability {used:.4g} on."
    if sets is not None:
        text += f" A set has {result['mean_set_size']:.2f} classes on average."
    print_result(result, text, as_json)


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
