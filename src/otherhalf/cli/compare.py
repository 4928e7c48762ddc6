"""The command ``compare``: models on the same splits, and what tests show of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from otherhalf.cli.console import command_line, print_json
from otherhalf.cli.drawing import Column
from otherhalf.cli.experiments import (
    STORE,
    ExecutorName,
    GraphFolder,
    Models,
    StoreFolder,
    Threads,
    Workers,
    chosen_models,
    make_workbench,
)
from otherhalf.cli.options import Device, Json, Kind, OpenGraph, free_folder, path_option, takes_data
from otherhalf.cli.summary import BOLD, Summary
from otherhalf.cli.tables import Page, check_page, write_tables
from otherhalf.system.scratch import temporary_folder

if TYPE_CHECKING:
    from otherhalf.experiments.compare import Compared

KEPT = (
    *("models", "split", "budget", "metric", "ensemble", "margin", "settings", "graphs", "store"),
    *("executor", "workers", "threads", "device"),
)
"""Options of a comparison that one with more splits has too."""

LONGEST_TITLE = 16


@takes_data
def compare(
    open_graph: OpenGraph,
    models: Models = None,
    runs: Annotated[int, typer.Option(min=1, help="Number of splits.")] = 10,
    split: Kind = "uniform",
    budget: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of settings to try for each model, on the validation nodes of other splits. With 0, "
            "named data sets have the settings that come with the package, other graphs the defaults.",
        ),
    ] = 0,
    metric: Annotated[
        str, typer.Option(help="accuracy, or roc_auc for two classes; a named data set has its own metric.")
    ] = "accuracy",
    ensemble: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Number of times to fit every model but GOAL on each split, with different seeds; their "
            "class probabilities are averaged. Default: once.",
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(min=0.01, help="Models that differ by less than this are tied, in percentage points."),
    ] = 1.0,
    settings: Annotated[
        Path | None,
        typer.Option(
            parser=path_option, help="Folder of settings that `search` wrote; default: the package's."
        ),
    ] = None,
    graphs: GraphFolder = None,
    report: Page = None,
    store: StoreFolder = STORE,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    threads: Threads = 1,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Compare models on any graph: the same splits, the same budget, paired tests against GOAL."""
    from otherhalf.experiments.compare import compare as run_comparison
    from otherhalf.experiments.workbench import failure

    names = chosen_models(models, simple=True)
    check_page(report)
    with temporary_folder() as folder:
        workbench = make_workbench(
            store, executor, workers, threads, device, graphs=graphs or folder, quiet=as_json
        )
        graph = open_graph()
        result = run_comparison(
            graph,
            names,
            workbench,
            runs=runs,
            split=split,
            budget=budget,
            metric=metric,
            settings_folder=settings,
            ensemble=ensemble,
            margin=margin / 100,
        )
    values = result.values()
    write_tables(report, [(result.title, result.table())], command_line(), rows=values["rows"])
    if as_json:
        print_json({**values, "failed": [outcome.message for _, outcome in workbench.failed]})
    else:
        summary = summarize(result)
        summary.next(*_next(open_graph, result))
        summary.print()
    if workbench.failed:
        raise failure(workbench.failed)


def summarize(result: Compared) -> Summary:
    """Return a comparison for a person: the models, best first, and what the tests show."""
    from otherhalf.experiments.statistics import p_value

    quality = result.comparison.benchmark.quality
    summary = Summary()
    summary.say(result.title, BOLD)
    rows = []
    for row in sorted(result.rows, key=lambda row: -quality(row.test.mean)):
        lead = "" if row.difference is None else f"{100 * row.difference.mean:+z.2f}"
        verdict = result.verdicts.get(row.model)
        p = "" if verdict is None or verdict.p is None else p_value(verdict.p, 3)
        words = "" if verdict is None else verdict.words
        rows.append((_name(result, row.model), str(row.test), row.test.mean, lead, p, words))
    columns = [Column("model"), Column("test", right=True), Column("", bars=True)]
    columns += [Column("GOAL's lead", right=True), Column("p", right=True), Column("against GOAL")]
    shown = len(columns) if result.verdicts else 3
    summary.table(columns[:shown], [row[:shown] for row in rows])
    summary.part()
    for text in (*_findings(result), _settings(result), *result.table().notes):
        summary.say(text)
    return summary


def _name(result: Compared, model: str) -> str:
    """Return the title of a model or, if it is long, the name by which one chooses it."""
    from otherhalf.experiments.runner.models import title_of

    members, title = result.comparison.members(model), title_of(model)
    name = title if len(title) <= LONGEST_TITLE else model
    return name if members is None else f"{name} ×{members}"


def _findings(result: Compared) -> Iterator[str]:
    """Yield what the tests show of the models against GOAL, a sentence for each verdict."""
    from otherhalf.experiments.comparison import REFERENCE
    from otherhalf.experiments.statistics import BETTER, TIED, UNDECIDED, WORSE

    if REFERENCE not in result.comparison.settings:
        yield "Nothing is tested: GOAL, which the others are tested against, is not among the models."
    sentences = {WORSE: "Worse than GOAL", BETTER: "Better than GOAL", TIED: "Tied with GOAL"}
    for words in (BETTER, WORSE, TIED, UNDECIDED):
        found = []
        for model, verdict in result.verdicts.items():
            if verdict.words == words:
                seen = verdict.detectable if words == UNDECIDED else None
                found.append(_name(result, model) + ("" if seen is None else f" (detects {100 * seen:.2f})"))
        if found:
            yield f"{sentences.get(words, words.capitalize())}: {', '.join(found)}."


def _settings(result: Compared) -> str:
    """Return where the settings of the models come from."""
    by_origin: dict[str, list[str]] = {}
    for model, origin in result.settings_from.items():
        by_origin.setdefault(origin, []).append(_name(result, model))
    if len(by_origin) == 1:
        return f"Settings of all models: {next(iter(by_origin))}."
    return "Settings: " + "; ".join(f"{origin}: {', '.join(of)}" for origin, of in by_origin.items()) + "."


def _next(open_graph: OpenGraph, result: Compared) -> list[str]:
    """Return the next commands: more splits if these decide too little, and a fit if GOAL is not beaten."""
    from otherhalf.data.splits import ONE_SPLIT
    from otherhalf.experiments.statistics import BETTER, UNDECIDED
    from otherhalf.experiments.tuning.search import SEEDS

    comparison, found = result.comparison, {verdict.words for verdict in result.verdicts.values()}
    split, most = comparison.benchmark.split, min(SEEDS)
    commands = []
    if UNDECIDED in found and split not in (*ONE_SPLIT, "fixed", "given") and comparison.runs < most:
        runs = str(min(most, max(10, 2 * comparison.runs)))
        commands.append(open_graph.command("compare", "--runs", runs, keep=KEPT))
    if BETTER not in found:
        commands.append(open_graph.command("fit", "--out", free_folder("model"), keep=("split", "device")))
    return commands or [open_graph.command("diagnose")]
