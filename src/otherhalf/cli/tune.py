"""The command ``tune``: search over settings, and end with a model that is ready to use."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otherhalf.cli.console import command_line, print_json, say, set_threads, typed
from otherhalf.cli.drawing import Column
from otherhalf.cli.experiments import (
    STORE,
    ExecutorName,
    GraphFolder,
    StoreFolder,
    Threads,
    Workers,
    make_workbench,
    names_in,
)
from otherhalf.cli.options import Device, Json, Kind, OpenGraph, Seed, path_option, takes_data
from otherhalf.cli.progress import progress
from otherhalf.cli.summary import BOLD, Summary
from otherhalf.cli.tables import Page, check_page
from otherhalf.errors import InputError, printable
from otherhalf.system.scratch import temporary_folder

if TYPE_CHECKING:
    from otherhalf.experiments.runner.job import Outcome
    from otherhalf.experiments.tuning.told import Told
    from otherhalf.experiments.tuning.trial import Trial
    from otherhalf.experiments.tuning.tune import Search
    from otherhalf.graph import Graph

OUT = Path("tuned")
PAGE, VALUES = "tune.html", "tune.json"
SHOWN = 8
"""Number of trials in the table of a terminal; the page has all."""

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)([smhd]))+")
ALL = "all"


@takes_data
def tune(
    open_graph: OpenGraph,
    models: Annotated[
        str,
        typer.Option(help="Models, separated by commas, or all; goal is both of its methods."),
    ] = "goal",
    trials: Annotated[
        int, typer.Option(min=1, help="Number of settings to try, those with records counted too.")
    ] = 50,
    limit: Annotated[
        str | None,
        typer.Option(
            "--time",
            help="Time of the search, as in 90s, 30m or 1h30m; fits that run then are stopped. The fits of "
            "the ready model, and of the defaults beside it, come after it. Default: no limit.",
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            help="What decides on the validation nodes: auto (accuracy, or average_precision where one of "
            "two classes is rare), or a metric of fit."
        ),
    ] = "auto",
    split: Kind = "uniform",
    seed: Seed = 0,
    out: Annotated[
        Path,
        typer.Option(
            parser=path_option,
            help="Folder of the ready model, as fit writes it, and of the page; an earlier one is replaced.",
        ),
    ] = OUT,
    graphs: GraphFolder = None,
    report: Page = None,
    store: StoreFolder = STORE,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    threads: Threads = 1,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Search for the best settings by validation, and fit the model with them.

    The defaults are the first trial, and win a tie. The same command goes on where it was stopped: no fit
    with a record is done again.
    """
    from otherhalf.experiments.tuning.proposals import check_optuna
    from otherhalf.experiments.tuning.space import ways_of

    check_optuna()
    names, seconds = models_of(models), seconds_of(limit)
    ways_of(names)  # raises what is wrong with them before the data are read
    check_page(report)
    _check_out(out)
    set_threads(threads)
    from otherhalf.experiments.tuning.ready import make_ready
    from otherhalf.experiments.tuning.told import Told
    from otherhalf.experiments.tuning.tune import tune as run_search

    with temporary_folder() as folder:
        workbench = make_workbench(
            store, executor, workers, threads, device, graphs=graphs or folder, quiet=as_json
        )
        graph = open_graph()
        if not as_json:
            _say_how_long(graph, names, split, seed)
        search = run_search(
            graph,
            names,
            workbench,
            trials=trials,
            seconds=seconds,
            metric=metric,
            split=split,
            seed=seed,
            on_fit=None if as_json else _shown(seconds),
        )
        search.best()  # raises what is wrong before anything is fitted
    with progress(quiet=as_json) as on_step:
        ready = make_ready(search, graph, out, device=device, command=command_line(), on_step=on_step)
    told = Told(search, ready)
    pages = [out / PAGE, *([] if report is None else [report])]
    values = {**told.values(), "page": str(pages[-1])}
    _write(values, told.page(command_line()), out / VALUES, pages)
    if as_json:
        print_json(values)
        return
    summary = summarize(told)
    summary.say(f"The model is in {out}, the page about the search is {pages[-1]}.")
    directed = open_graph.given.get("directed", ())
    predict = typed(["predict", str(out), open_graph.data, *directed, "--out", "predictions.csv"])
    summary.next(typed(["report", str(out), "--open"]), predict)
    summary.print()


def models_of(text: str) -> list[str]:
    """Return the models that the text names; ``all``: those of a comparison that have settings to search."""
    from otherhalf.experiments.runner.models import compared_models

    return list(compared_models()) if text.strip() == ALL else names_in(text) or []


def seconds_of(text: str | None) -> float | None:
    """Return the seconds of a duration such as 90s, 30m or 1h30m."""
    if text is None:
        return None
    if DURATION.fullmatch(text.strip()):
        parts = re.findall(r"(\d+(?:\.\d+)?)([smhd])", text)
        total = sum(float(number) * UNITS[unit] for number, unit in parts)
        if total > 0:
            return total
    raise InputError(f"--time {text!r} is no duration: give a number and a unit, as in 90s, 30m or 1h30m")


def summarize(told: Told) -> Summary:
    """Return a search for a person: what was chosen, the best trials, and what to doubt."""
    summary, search = Summary(), told.search
    summary.say(told.title, BOLD)
    summary.say(told.choice())
    summary.say(told.on_test())
    columns = [Column("trial", right=True), Column("validation", right=True), Column("fits", right=True)]
    columns += [Column("end"), Column("model and settings")]
    rows = []
    for trial in told.ordered()[:SHOWN]:
        score = told.score_of(trial)
        shown = "–" if score is None else f"{score:.4f}"
        rows.append((str(trial.number), shown, str(len(trial.scores)), trial.state, trial.title))
    summary.table(columns, rows)
    summary.part()
    if len(search.trials) > SHOWN:
        summary.say(f"{len(search.trials) - SHOWN} more trials are on the page.")
    for doubt in told.doubts():
        summary.item(doubt)
    summary.part()
    return summary


def _say_how_long(graph: Graph, names: list[str], split: str, seed: int) -> None:
    """Say about how long a fit of GOAL takes, if it is among the models and no short one."""
    from otherhalf.data.splits import split as make_split
    from otherhalf.estimators.goal import GOALClassifier
    from otherhalf.experiments.runner.models import GOAL

    if GOAL in names:
        estimate = GOALClassifier(seed=seed).estimate(graph, make_split(graph, split, seed))
        if not estimate.is_short:
            say(f"One fit of GOAL's defaults: {estimate}. A search has about two fits per trial.")


def _shown(limit: float | None) -> Callable[[Search, Trial, int, Outcome], None]:
    """Return the callback that prints a line on standard error after each fit."""
    started = time.monotonic()

    def show(search: Search, trial: Trial, fit: int, outcome: Outcome) -> None:
        known = outcome.result or {}
        score = "failed" if known.get("val") is None else f"{known['val']:.4f}"
        passed = f"{_clock(time.monotonic() - started)}" + ("" if limit is None else f" of {_clock(limit)}")
        line = (
            f"[{len(search.trials)}/{search.wanted}] trial {trial.number}, fit {fit + 1}: {score} in "
            f"{outcome.seconds:.1f} s ({passed}) {trial.title}"
        )
        print(printable(line), file=sys.stderr, flush=True)

    return show


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


def _check_out(out: Path) -> None:
    """Raise InputError if the model could not be written; before the search, not after it."""
    from otherhalf.estimators.run_files import RunFiles

    RunFiles(out, "").check()


def _write(values: dict[str, Any], page: str, path: Path, pages: list[Path]) -> None:
    import json

    from otherhalf.system.atomic import atomic_write

    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    for each in pages:
        with atomic_write(each) as temporary:
            temporary.write_bytes(page.encode("utf-8"))
