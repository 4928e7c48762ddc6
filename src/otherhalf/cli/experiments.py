"""The commands that make evidence: compare, search, reproduce. Parse, call the library, print."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otherhalf.cli.options import (
    Data,
    Device,
    Directed,
    Features,
    Id,
    Json,
    Kind,
    Label,
    Source,
    Target,
    open_graph,
)
from otherhalf.errors import InputError

if TYPE_CHECKING:
    from otherhalf.experiments.runner.workbench import Workbench
    from otherhalf.experiments.table import Table
    from otherhalf.graph import Graph

Workers = Annotated[
    int | None, typer.Option(min=1, help="Runs at a time; default: as many as the cores allow.")
]
Threads = Annotated[int, typer.Option(min=1, help="Threads of each run.")]
StoreFolder = Annotated[
    Path, typer.Option("--store", help="The folder of the records: what is in it is not run again.")
]
Models = Annotated[str | None, typer.Option(help="Models, with commas between; default: all of them.")]
DataSets = Annotated[str | None, typer.Option(help="Data sets, with commas between; default: all of them.")]

STORE = Path("results/runs")
FIGURES = Path("results/figures")
PART_FIGURES = Path("results/figures-of-a-part")
"""So that two data sets or runs, tried out, do not take the place of the figures on the results page."""
WIDEST = 1000
"""Characters of a printed table at most."""


def compare(
    data: Data,
    models: Models = None,
    runs: Annotated[int, typer.Option(min=1, help="Splits, numbered from 0.")] = 10,
    split: Kind = "uniform",
    budget: Annotated[
        int,
        typer.Option(
            min=0,
            help="Settings to try for each model, judged on the validation nodes of other splits. 0: those "
            "found before for a named data set, else each model's defaults.",
        ),
    ] = 0,
    metric: Annotated[
        str, typer.Option(help="accuracy, or roc_auc for two classes; named data sets have their own.")
    ] = "accuracy",
    store: StoreFolder = STORE,
    workers: Workers = None,
    threads: Threads = 1,
    device: Device = "cpu",
    as_json: Json = False,
    id: Id = None,
    label: Label = None,
    features: Features = None,
    source: Source = None,
    target: Target = None,
    directed: Directed = False,
) -> None:
    """Compare models on any graph: the same splits, the same budget, paired differences to GOAL."""
    from otherhalf.data.catalog import resolve
    from otherhalf.experiments.compare import compare as run_comparison
    from otherhalf.experiments.models import PAPERS, RIVALS, check_model

    wanted = _names(models) or [*PAPERS, *RIVALS]
    for model in wanted:
        check_model(model)
    graph = open_graph(data, id, label, features, source, target, directed)
    # A file may hold a graph of the catalogue where the catalogue itself does not find it.
    own = graph if resolve(data) is None else None
    with _workbench(store, workers, threads, device, own) as workbench:
        result = run_comparison(
            graph, wanted, workbench, runs=runs, split=split, budget=budget, metric=metric
        )
    _finish(workbench, result.values(), [(result.title, result.table())], as_json)


def search(
    datasets: DataSets = None,
    models: Models = None,
    trials: Annotated[int, typer.Option(min=1, help="Settings to try for each model.")] = 8,
    split: Kind = "uniform",
    out: Annotated[
        Path | None, typer.Option(help="The folder of the settings files; default: the package's own.")
    ] = None,
    store: StoreFolder = STORE,
    workers: Workers = None,
    threads: Threads = 1,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Find the settings of every model in the paper's tables, the same number of trials for each."""
    from otherhalf.data.catalog import load
    from otherhalf.data.splits import published_splits
    from otherhalf.experiments.models import PAPERS, RIVALS, TITLES, check_model
    from otherhalf.experiments.paper.published import DATASETS
    from otherhalf.experiments.paper.table1 import PublishedSplits
    from otherhalf.experiments.runner.benchmark_data import BenchmarkData
    from otherhalf.experiments.table import Table
    from otherhalf.experiments.tuning.search import search as run_search
    from otherhalf.experiments.tuning.search import search_seeds
    from otherhalf.experiments.tuning.tuned import packaged_settings, settings_kept, write_tuned
    from otherhalf.system.atomic import check_folder

    wanted = _names(models) or [*PAPERS, *RIVALS]
    for model in wanted:
        check_model(model)
    usual = PublishedSplits.datasets if split == PublishedSplits.split else DATASETS
    benchmarks = [BenchmarkData.named(name, split) for name in _names(datasets) or usual]
    folder = out or packaged_settings(split)
    check_folder(folder)  # what could not be written at the end is refused now
    for benchmark in benchmarks:
        settings_kept(benchmark.data, wanted, trials, folder)
    values: dict[str, Any] = {}
    tables = []
    with _workbench(store, workers, threads, device) as workbench:
        for (
            benchmark
        ) in benchmarks:  # one after the other: what is finished is written before the next begins
            pairs = [(model, benchmark) for model in wanted]
            there = len(published_splits(load(benchmark.data), split)) if split == "fixed" else None
            seeds = search_seeds(split, there)
            if not seeds:
                raise InputError(f"{benchmark.data} comes without fixed splits: choose another split")
            choices = run_search(pairs, workbench.store, workbench.run, trials=trials, seeds=seeds)
            if workbench.failed:
                break
            found = dict(zip(wanted, choices, strict=True))
            path = write_tuned(benchmark.data, found, seeds, folder)
            told = {model: vars(choice) for model, choice in found.items()}
            values[benchmark.data] = {"file": str(path), "models": told}
            table = Table(["", "validation", "settings"])
            for model, choice in found.items():
                settings = ", ".join(f"{name} {value}" for name, value in choice.params.items())
                table.add(TITLES[model], f"{100 * choice.validation:.2f}", settings or "the defaults")
            tables.append((f"{benchmark.data}: best of {trials} trials, written to {path}", table))
    _finish(workbench, {"trials": trials, "datasets": values}, tables, as_json)


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="table1, ablation, topology, discrimination, autotune, arxiv, eigenvalues, filters; or "
            "fixed: published splits of graphs that the paper leaves out.",
        ),
    ],
    datasets: DataSets = None,
    models: Models = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs of each; default: as on the results page.")
    ] = None,
    store: StoreFolder = STORE,
    figures: Annotated[
        Path | None,
        typer.Option(
            help=f"The folder that figures are written to; default: {FIGURES} for the whole of an "
            f"experiment, {PART_FIGURES} for a part of it.",
            show_default=False,
        ),
    ] = None,
    workers: Workers = None,
    threads: Threads = 1,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Make a table or figure of the paper anew: run what has not been run, show it beside the paper's."""
    from otherhalf.experiments.paper.registry import EXPERIMENTS
    from otherhalf.report.charts import check_drawing

    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}: choose one of {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    request = experiment.request(_names(datasets), _names(models), runs)
    whole = store == STORE and request == experiment.request()
    figures = figures or (FIGURES if whole else PART_FIGURES)
    if experiment.draws:
        check_drawing(figures)  # what could not be drawn at the end is refused now
    with _workbench(store, workers, threads, device) as workbench:
        workbench.run(experiment.jobs(request))
    drawn = experiment.figures(request, workbench.store, figures)
    values = {**experiment.values(request, workbench.store), "figures": [str(path) for path in drawn]}
    title = f"{experiment.title} ({experiment.label})" if experiment.label else experiment.title
    _finish(workbench, values, [(title, experiment.table(request, workbench.store))], as_json)
    if drawn and not as_json:
        print("Drawn: " + ", ".join(str(path) for path in drawn))


@contextmanager
def _workbench(
    store: Path, workers: int | None, threads: int, device: str, own: Graph | None = None
) -> Iterator[Workbench]:
    """The runner over this store; own data is put where every run finds it as it is now."""
    from otherhalf.data.npz import write_npz
    from otherhalf.experiments.runner.store import Store
    from otherhalf.experiments.runner.workbench import Workbench

    with ExitStack() as stack:
        places = {}
        if own is not None:
            try:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="otherhalf-"))
            except OSError as error:
                raise InputError(
                    f"no folder for temporary files can be made ({error.strerror}): free some space, or let "
                    "TMPDIR name a folder that has some"
                ) from error
            path = Path(folder) / "graph.npz"
            write_npz(own, path)
            places[own.name or "graph"] = str(path)
        yield Workbench(Store(store, device), workers=workers, threads=threads, places=places)


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise InputError(f"{text!r} names nothing: give names with commas between")
    return names


def _finish(
    workbench: Workbench, values: dict[str, Any], tables: list[tuple[str, Table]], as_json: bool
) -> None:
    if as_json:
        print(json.dumps({**values, "failed": [outcome.message for _, outcome in workbench.failed]}))
    else:
        from rich.console import Console
        from rich.text import Text

        for title, table in tables:
            console, drawn = Console(), table.rich()
            # A column that does not fit would lose its last digits: rather let the terminal break the line.
            needed = console.measure(drawn, options=console.options.update(max_width=WIDEST)).maximum
            console.width = max(console.width, needed)
            console.print(Text(title, style="bold"), soft_wrap=True)  # with names that are not to be broken
            console.print(drawn)
    if workbench.failed:
        from otherhalf.experiments.runner.workbench import failure

        raise failure(workbench.failed)
