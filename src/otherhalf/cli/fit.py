"""The command ``fit``: diagnose, learn the missing half, train, score, and keep all of it."""

from pathlib import Path
from typing import Annotated

import typer

from otherhalf.cli.console import command_line, print_json, say, set_threads, typed
from otherhalf.cli.fit_details import Details
from otherhalf.cli.fit_summary import summarize
from otherhalf.cli.options import (
    ClassWeight,
    Device,
    Follow,
    Json,
    Kind,
    Method,
    OpenGraph,
    Preset,
    Seed,
    SpreadsheetSafe,
    Threads,
    class_weight_of,
    free_folder,
    path_option,
    takes_data,
)
from otherhalf.cli.profile import show_profile
from otherhalf.cli.progress import progress
from otherhalf.cli.report import save_page
from otherhalf.cli.tables import Page, check_page
from otherhalf.errors import InputError
from otherhalf.system.profile import profiled, stage


@takes_data
def fit(
    open_graph: OpenGraph,
    preset: Preset = "best",
    split: Kind = "uniform",
    seed: Seed = 0,
    follow: Follow = None,
    method: Method = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=path_option, help="Write the model and its predictions to this folder."),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Only the spread of labels and one plain model, in seconds.")
    ] = False,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="In the end, fit once more to training and validation nodes together."),
    ] = False,
    metric: Annotated[
        str,
        typer.Option(
            help="What the validation nodes select by: auto (accuracy, or average_precision where one of two "
            "classes is rare), accuracy, roc_auc, average_precision, balanced_accuracy, macro_f1, top_3, "
            "log_loss, calibration_error."
        ),
    ] = "auto",
    class_weight: ClassWeight = None,
    no_simple: Annotated[
        bool,
        typer.Option(
            "--no-simple",
            help="Leave out the simple models that the result is compared with; --fast and the method "
            "embedding leave them out too.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue a fit into --out that was stopped, with the same number of threads: sums in "
            "another order end in other digits.",
        ),
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Show in the end where the time went, stage by stage.")
    ] = False,
    page: Page = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: Json = False,
    threads: Threads = None,
    executor: Annotated[
        str | None,
        typer.Option(
            help="What fits the members of the ensemble, several at a time: processes of this machine, ray, "
            "or ray://HOST:PORT for a cluster. Default: processes where that is faster."
        ),
    ] = None,
    device: Device = "cpu",
) -> None:
    """Diagnose a graph, learn its missing half, train a classifier on both halves and score it."""
    set_threads(threads)
    if resume and out is None:
        raise InputError("--resume continues a fit in a folder: give the folder with --out")
    check_page(page)
    with profiled() as recorded:
        with stage("imports"):
            from otherhalf.data.splits import split as make_split
            from otherhalf.estimators.distributed import members_on
            from otherhalf.estimators.goal import GOALClassifier
            from otherhalf.estimators.in_processes import with_processes
            from otherhalf.estimators.run_folder import fit_into
            from otherhalf.report.content import complete_content, content_writer
        with stage("reading the graph"):
            graph = open_graph()
            parts = make_split(graph, split, seed)

        model = GOALClassifier(
            preset,
            seed=seed,
            follow=follow,
            method=method,
            metric=metric,
            fast=fast,
            refit=refit,
            class_weight=class_weight_of(class_weight),
            device=device,
        )
        model.need(graph, parts).check()  # a fit that is refused needs no announcement
        estimate = model.estimate(graph, parts)
        if device == "cpu":
            estimate = with_processes(executor, model, graph, parts, estimate)
        if not resume and not estimate.is_short:
            say(f"{estimate}.")
        if not resume and estimate.is_long and not fast:
            quick = GOALClassifier(preset, seed=seed, fast=True).estimate(graph, parts)
            say(f"With --fast it would be {quick.duration}, with fewer and simpler models.")
        shown = progress(quiet=as_json, estimate=None if resume else estimate)
        with members_on(executor, estimate.processes), shown as on_step:
            simple = not (no_simple or fast or model.resolved_settings().method == "embedding")
            result = fit_into(
                model,
                graph,
                parts,
                out,
                resume=resume,
                on_step=on_step,
                simple=simple,
                spreadsheet_safe=spreadsheet_safe,
                write_report=content_writer(model, graph, parts, command=command_line()),
                show=summarize,
            )
        if resume and out is not None:
            complete_content(out, graph, parts, result, command=command_line())
        if page is not None:
            save_page(page, out, model, graph, parts, result)
    stages = {"profile": recorded.rows()} if profile else {}
    if as_json:
        print_json({**result, "estimate": estimate.to_dict(), **stages})
        return
    details = Details.of_model(model, graph, parts) if out is None else Details.of_folder(out)
    summary = summarize(result, details)
    if profile:
        show_profile(summary, recorded)
    summary.next(*_next(open_graph, out))
    summary.print()


def _next(open_graph: OpenGraph, out: Path | None) -> list[str]:
    """Return the next commands: the report and predictions or, of a fit that was not kept, the same fit."""
    if out is None:
        return [f"{command_line()} --out {free_folder('model')}"]
    # The model knows what the columns of its tables mean.
    options = open_graph.given.get("directed", ())
    predict = ["predict", str(out), open_graph.data, *options, "--out", "predictions.csv"]
    return [typed(["report", str(out), "--open"]), typed(predict)]
