"""The command line: parse, call the library, print. Heavy imports wait until a command runs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from otherhalf.cli.console import command_line, print_result, progress, run, say, set_threads
from otherhalf.cli.datasets import datasets
from otherhalf.cli.experiments import compare, reproduce, search
from otherhalf.cli.inspect import inspect
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
    path_option,
    takes_data,
)
from otherhalf.cli.predict import predict
from otherhalf.cli.report import report, save_page
from otherhalf.cli.tables import Page, check_page
from otherhalf.errors import InputError
from otherhalf.system.memory import check_room_for_libraries
from otherhalf.system.process import keep_freed_memory
from otherhalf.system.version import VERSION

app = typer.Typer(
    help="Learn the missing half of a graph and classify its nodes with both halves.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"otherhalf {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave."),
    ] = False,
) -> None:
    """Learn the missing half of a graph and classify its nodes with both halves."""
    check_room_for_libraries()


@app.command()
@takes_data
def diagnose(
    open_graph: OpenGraph,
    split: Annotated[
        str | None,
        typer.Option(
            help="Split on which the look-up of identical nodes is scored; default: uniform, if there are "
            "enough labels."
        ),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
) -> None:
    """Diagnose whether a graph mostly joins like with like, and which half of it is missing.

    Also warn if copying the labels of identical nodes scores well without learning. That audit scores once on
    the test labels of a split.
    """
    from otherhalf.data.splits import split as make_split
    from otherhalf.diagnosis.duplicate_audit import audit_duplicates
    from otherhalf.diagnosis.verdict import diagnose as run_diagnosis

    set_threads(threads)
    if device != "cpu":  # nothing here computes on it, but a typo must not pass; torch is slow to import
        from otherhalf.system.device import usable_device

        usable_device(device)
    graph = open_graph()
    try:
        parts = make_split(graph, split or "uniform", seed)
    except InputError:
        if split is not None:
            raise
        parts = None  # too few labels for a split; the diagnosis itself needs none
    result = run_diagnosis(graph, seed=seed)
    values, text = result.to_dict(), str(result)
    if parts is not None:
        audit = audit_duplicates(graph, parts)
        values["duplicates"] = audit.to_dict()
        text = "\n".join(filter(None, [text, audit.warning]))
    print_result(values, text, as_json)


@app.command()
@takes_data
def complement(
    open_graph: OpenGraph,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=path_option,
            help="Write the found edges with ids and weights to this .csv, .tsv, .csv.gz, .parquet or "
            ".graphml file, or the missing half to this .npz file.",
        ),
    ] = None,
    preset: Preset = "best",
    split: Kind = "uniform",
    seed: Seed = 0,
    follow: Follow = None,
    method: Method = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
) -> None:
    """Learn the missing half of a graph."""
    from otherhalf.complement.half_files import NPZ, check_half_file
    from otherhalf.data.splits import split as make_split
    from otherhalf.estimators.find import find_missing_half

    set_threads(threads)
    graph = open_graph()
    parts = make_split(graph, split, seed)
    if out is not None:
        check_half_file(out, graph)
    with progress() as on_step:
        half = find_missing_half(
            graph,
            parts,
            seed,
            method=method,
            follow=follow,
            preset=preset,
            device=device,
            on_step=on_step,
        )
    rows = None
    if out is not None and out.suffix.lower() == NPZ:
        half.to_npz(out)
    elif out is not None:
        rows = half.to_table(out, graph, spreadsheet_safe=spreadsheet_safe)
    result = {
        "name": graph.name,
        "kind": half.kind,
        "edges": half.num_edges,
        "k": half.k,
        "homophily": half.homophily(graph.y),
        "train_homophily": half.homophily(graph.y, parts.train),
        "test_homophily": half.homophily(graph.y, parts.test),
        "method": half.method,
        "words": half.words,
        "encoder": half.encoder,
        "candidates": half.candidates,
        "sampled": half.sampled,
        "seconds": half.seconds["total"],
        "rows": rows,
        "out": None if out is None else str(out),
    }
    written = f"{rows:,} rows written to {out}." if rows is not None else f"written to {out}."
    text = (
        f"{half!r}\n"
        f"Homophily over the pairs of all nodes {_number(result['homophily'])}, of training nodes "
        f"{_number(result['train_homophily'])}, of test nodes {_number(result['test_homophily'])}.\n"
        f"{half.seconds['total']:.1f} s; " + (written if out else "give --out half.csv to keep it.")
    )
    print_result(result, text, as_json)


@app.command()
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
    page: Page = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
) -> None:
    """Diagnose a graph, learn its missing half, train a classifier on both halves and score it."""
    from otherhalf.data.splits import split as make_split
    from otherhalf.estimators.run_folder import fit_into, summary

    set_threads(threads)
    if resume and out is None:
        raise InputError("--resume continues a fit in a folder: give the folder with --out")
    check_page(page)
    graph = open_graph()
    parts = make_split(graph, split, seed)
    from otherhalf.estimators.goal import GOALClassifier
    from otherhalf.report.content import complete_content, content_writer

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
    if not resume and not estimate.is_short:
        say(f"{estimate}.")
    if not resume and estimate.is_long and not fast:
        quick = GOALClassifier(preset, seed=seed, fast=True).estimate(graph, parts)
        say(f"With --fast it would be {quick.duration}, with fewer and simpler models.")
    with progress() as on_step:
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
        )
    if resume and out is not None:
        complete_content(out, graph, parts, result, command=command_line())
    if page is not None:
        save_page(page, out, model, graph, parts, result)
    print_result({**result, "estimate": estimate.to_dict()}, summary(result), as_json)


app.command()(predict)
app.command()(report)
app.command()(inspect)
app.command()(compare)
app.command()(reproduce)
app.command()(search)
app.command()(datasets)


def main() -> None:
    """Run the command line. Exit status: 0 done, 2 the input is wrong, 1 anything else."""
    keep_freed_memory()
    run(app)


def _number(value: Any) -> str:
    return "unknown" if value is None else f"{value:.3f}"
