"""The command ``report``, and ``fit --report``: one HTML page about a fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otherhalf.cli.console import command_line, print_result
from otherhalf.cli.options import DATA_HELP, Json
from otherhalf.cli.progress import progress
from otherhalf.errors import InputError

if TYPE_CHECKING:
    from otherhalf.estimators.goal import GOALClassifier
    from otherhalf.graph import Graph, Split

PAGE = "report.html"
GIVEN = "given"
"""The kind of a split that the user's tables have."""


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `fit --out` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(help=f"The page to write; default: {PAGE} in the folder.", show_default=False),
    ] = None,
    worth: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Also measure what the found half is worth, by two more fits: without a half, and with a "
            f"random one. DATA is that of the fit. {DATA_HELP}",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: Json = False,
) -> None:
    """Write one HTML page about a fit: the graph, its halves, the classifier, its errors, and why.

    The page needs no network and no other file: send it to anyone.
    """
    from otherhalf.report.notebook import HTML, Report
    from otherhalf.report.stored import read_content, write_content
    from otherhalf.system.atomic import check_place

    content = read_content(folder)
    path = folder / PAGE if out is None else out
    check_place(path, HTML)  # before the fits, not after them
    if worth is not None:
        content["halves"]["worth"] = _measured(folder, worth, content, quiet=as_json)
        write_content(folder, content)
    Report(content).save(path)
    if show:
        typer.launch(str(path.resolve()))
    size = path.stat().st_size
    values = {"out": str(path), "bytes": size, "worth": content["halves"]["worth"]}
    print_result(values, f"{path} is the report: {size / 1e6:.1f} MB. Any browser opens it.", as_json)


def save_page(
    path: Path, folder: Path | None, model: GOALClassifier, graph: Graph, split: Split, result: dict[str, Any]
) -> None:
    """Write the page of a fit.

    Args:
        path: The page.
        folder: The folder of the fit, if it has one: what the page shows is there already.
        model: The model, which is fitted if there is no folder.
        graph: The graph of the fit.
        split: The split of the fit.
        result: The result of :func:`~otherhalf.estimators.run_folder.fit_into`.
    """
    from otherhalf.report.content import collect
    from otherhalf.report.notebook import Report
    from otherhalf.report.stored import read_content

    if folder is None:
        content = collect(model, graph, split, result, command=command_line())
    else:
        content = read_content(folder)
    Report(content).save(path)


def _measured(folder: Path, data: str, content: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    """Fit the model of a folder twice more, and return what its half is worth."""
    from otherhalf.data.reading import AS_NUMBERS
    from otherhalf.data.source import Columns, open_data
    from otherhalf.data.splits import split
    from otherhalf.estimators.goal import GOALClassifier
    from otherhalf.report.worth import measure_worth

    model, made = GOALClassifier.load(folder), content["made"]
    graph = open_data(data, Columns(), model.reading_ or AS_NUMBERS)
    if graph.fingerprint != made["fingerprint"]:
        raise InputError(f"{data} is not the data that {folder} was fitted on: give the same DATA")
    if made["split"] == GIVEN:
        parts = _split_of_fit(folder, graph, content["graph"]["parts"])
    else:
        parts = split(graph, made["split"], made["seed"])
    with progress(quiet=quiet) as on_step:
        return measure_worth(model, graph, parts, on_step=on_step)


def _split_of_fit(folder: Path, graph: Graph, sizes: dict[str, int]) -> Split:
    """Return the user's own split, which the predictions of the fit have."""
    import pandas as pd

    from otherhalf.data.own_splits import split_by_column
    from otherhalf.estimators.run_files import PREDICTIONS_FILE

    path = folder / PREDICTIONS_FILE
    try:
        column = pd.read_csv(path, usecols=["part"], dtype=str)["part"]
        found = split_by_column(graph, column, notes=[])
    except (OSError, ValueError) as error:  # an InputError is a ValueError
        raise InputError(f"{path} has no split that can be read ({error}): fit again") from error
    if {part: len(getattr(found, part)) for part in sizes} != sizes:
        raise InputError(f"{path} does not have the split of the fit: fit again")
    return found
