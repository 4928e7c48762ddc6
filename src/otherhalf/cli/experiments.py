"""The commands for experiments: search and reproduce. Parse, call the library, print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otherhalf.cli.console import command_line
from otherhalf.cli.options import MOST_THREADS, Device, Json, Kind, path_option
from otherhalf.cli.tables import Page, check_page, write_tables
from otherhalf.errors import InputError, printable

if TYPE_CHECKING:
    from otherhalf.experiments.table import Table
    from otherhalf.experiments.workbench import Workbench

Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of runs at a time; default: as many as the cores allow.")
]
Threads = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Number of threads of each run.")]
StoreFolder = Annotated[
    Path,
    typer.Option(
        "--store", parser=path_option, help="Folder of the records; a run with a record is not done again."
    ),
]
GraphFolder = Annotated[
    Path | None,
    typer.Option(
        parser=path_option,
        help="Folder for your own graph, which all runs can read; default: a temporary one.",
    ),
]
ExecutorName = Annotated[
    str,
    typer.Option(
        "--executor",
        help="What runs the jobs: processes; ray, a Ray of this machine; ray://auto or ray://HOST:PORT, all "
        "machines of a Ray cluster; or one that was registered.",
    ),
]
Models = Annotated[str | None, typer.Option(help="Models, separated by commas; default: all.")]
DataSets = Annotated[str | None, typer.Option(help="Data sets, separated by commas; default: all.")]

STORE = Path("results/runs")
SETTINGS = Path("results/settings")
FIGURES = Path("results/figures")
PART_FIGURES = Path("results/figures-of-a-part")
"""Separate, so that a part of an experiment does not replace the figures of the results page."""
WIDEST = 1000
"""Largest width of a printed table, in characters."""


def search(
    datasets: DataSets = None,
    models: Models = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of settings to try for each model.")] = 8,
    split: Kind = "uniform",
    out: Annotated[
        Path | None,
        typer.Option(
            parser=path_option,
            help=f"Folder of the settings files; default: {SETTINGS}/SPLIT.",
            show_default=False,
        ),
    ] = None,
    store: StoreFolder = STORE,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    threads: Threads = 1,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Search for the best settings of every model, with the same number of trials for each."""
    from otherhalf.data.catalog import load
    from otherhalf.data.splits import published_splits
    from otherhalf.experiments.paper.published import DATASETS
    from otherhalf.experiments.paper.table1 import PublishedSplits
    from otherhalf.experiments.runner.benchmark_data import BenchmarkData
    from otherhalf.experiments.runner.models import model_name, title_of
    from otherhalf.experiments.table import Table
    from otherhalf.experiments.tuning.search import search as run_search
    from otherhalf.experiments.tuning.search import search_seeds
    from otherhalf.experiments.tuning.tuned import settings_to_keep, write_tuned
    from otherhalf.system.atomic import check_folder

    names = list(dict.fromkeys(map(model_name, chosen_models(models))))  # a search is of the model itself
    usual = PublishedSplits.datasets if split == PublishedSplits.split else DATASETS
    benchmarks = [BenchmarkData.named(name, split) for name in names_in(datasets) or usual]
    folder = out or SETTINGS / split
    workbench = make_workbench(store, executor, workers, threads, device, quiet=as_json)
    check_folder(folder)  # before the search, not after it
    for benchmark in benchmarks:
        settings_to_keep(benchmark.data, names, trials, folder)
    values: dict[str, Any] = {}
    tables = []
    for benchmark in benchmarks:  # one at a time, so that each file is written before the next search
        available = len(published_splits(load(benchmark.data), split)) if split == "fixed" else None
        seeds = search_seeds(split, available)
        if not seeds:
            raise InputError(f"{benchmark.data} comes without fixed splits: choose another split")
        pairs = [(model, benchmark) for model in names]
        choices = run_search(pairs, workbench.store, workbench.run, trials=trials, seeds=seeds)
        if workbench.failed:
            break
        tuned = dict(zip(names, choices, strict=True))
        path = write_tuned(benchmark.data, tuned, seeds, folder)
        by_model = {model: vars(choice) for model, choice in tuned.items()}
        values[benchmark.data] = {"file": str(path), "models": by_model}
        table = Table(["", "validation", "settings"])
        for model, choice in tuned.items():
            settings = ", ".join(f"{name} {value}" for name, value in choice.params.items())
            table.add(title_of(model), f"{100 * choice.validation:.2f}", settings or "the defaults")
        tables.append((f"{benchmark.data}: best of {trials} trials, written to {path}", table))
    _finish(workbench, {"trials": trials, "datasets": values}, tables, as_json)


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="table1, ablation, topology, discrimination, autotune, arxiv, eigenvalues, filters; or, "
            "beside the paper, fixed: published splits of graphs that the paper leaves out; directed: with "
            "the direction of the edges; heldout: graphs that nothing was chosen on; worth: what each part "
            "of GOAL is worth.",
        ),
    ],
    datasets: DataSets = None,
    models: Annotated[
        str | None,
        typer.Option(help="Models, of worth the parts, separated by commas; default: all."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Number of runs of each; default: as on the results page.")
    ] = None,
    report: Page = None,
    store: StoreFolder = STORE,
    figures: Annotated[
        Path | None,
        typer.Option(
            parser=path_option,
            help=f"Folder of the figures; default: {FIGURES} for an entire experiment, {PART_FIGURES} for a "
            "part of it.",
            show_default=False,
        ),
    ] = None,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    threads: Threads = 1,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Make a table or figure of the paper: do the missing runs, and show our numbers and the paper's."""
    from otherhalf.experiments.paper.registry import EXPERIMENTS
    from otherhalf.report.charts import check_drawing

    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}: choose one of {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    request = experiment.request(names_in(datasets), names_in(models), runs)
    entire = store == STORE and request == experiment.request()
    figures = figures or (FIGURES if entire else PART_FIGURES)
    workbench = make_workbench(store, executor, workers, threads, device, quiet=as_json)
    check_page(report)
    if experiment.draws:
        check_drawing(figures)  # before the runs, not after them
    workbench.run(experiment.jobs(request))
    drawn = experiment.figures(request, workbench.store, figures)
    values = {**experiment.values(request, workbench.store), "figures": [str(path) for path in drawn]}
    title = f"{experiment.title} ({experiment.label})" if experiment.label else experiment.title
    tables = [(title, experiment.table(request, workbench.store))]
    write_tables(report, tables, command_line(), figures=drawn)
    _finish(workbench, values, tables, as_json)
    if drawn and not as_json:
        print("Drawn: " + ", ".join(str(path) for path in drawn))


def make_workbench(
    store: Path,
    executor: str,
    workers: int | None,
    threads: int,
    device: str,
    *,
    graphs: Path | None = None,
    quiet: bool = False,
) -> Workbench:
    """Return the workbench that the options of a command describe."""
    from otherhalf.experiments.runner.executor import executor_named
    from otherhalf.experiments.runner.graphs import GraphFolder
    from otherhalf.experiments.runner.store import Store
    from otherhalf.experiments.workbench import Workbench

    return Workbench(
        Store(store, device),
        workers=workers,
        threads=threads,
        graphs=GraphFolder(graphs),
        executor=executor_named(executor),
        quiet=quiet,
    )


def chosen_models(text: str | None, *, simple: bool = False) -> list[str]:
    """Return the models that the text names, default all; raise InputError if there is no such model.

    Args:
        text: Names with commas between.
        simple: Whether the simple ones, which have nothing to search, are among all.
    """
    from otherhalf.estimators.simple_rows import SIMPLE
    from otherhalf.experiments.runner.models import compared_models, title_of

    names = names_in(text) or [*compared_models(), *(SIMPLE if simple else ())]
    for name in names:
        title_of(name)
    return names


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a text with commas between; None for None."""
    if text is None:
        return None
    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise InputError(f"{text!r} names nothing: give names with commas between")
    return names


def _finish(
    workbench: Workbench, values: dict[str, Any], tables: list[tuple[str, Table]], as_json: bool
) -> None:
    """Print the result; raise an error if runs failed."""
    if as_json:
        print(json.dumps({**values, "failed": [outcome.message for _, outcome in workbench.failed]}))
    else:
        from rich.console import Console
        from rich.text import Text

        for title, table in tables:
            console, drawn = Console(), table.rich()
            # A column that does not fit would lose its last digits, so the terminal must break the line.
            needed = console.measure(drawn, options=console.options.update(max_width=WIDEST)).maximum
            console.width = max(console.width, needed)
            console.print(
                Text(printable(title), style="bold"), soft_wrap=True
            )  # names in it must not be broken
            console.print(drawn)
    if workbench.failed:
        from otherhalf.experiments.workbench import failure

        raise failure(workbench.failed)
