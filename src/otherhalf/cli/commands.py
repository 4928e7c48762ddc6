"""The command line: parse, call the library, print. Heavy imports wait until a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otherhalf.cli.compare import compare
from otherhalf.cli.console import print_json, run, set_threads
from otherhalf.cli.datasets import datasets
from otherhalf.cli.diagnose import diagnose
from otherhalf.cli.drawing import Column
from otherhalf.cli.experiments import reproduce, search
from otherhalf.cli.fit import fit
from otherhalf.cli.inspect import inspect
from otherhalf.cli.options import (
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
    free_folder,
    path_option,
    takes_data,
)
from otherhalf.cli.predict import predict
from otherhalf.cli.progress import progress
from otherhalf.cli.report import report
from otherhalf.cli.summary import BOLD, Summary
from otherhalf.cli.tune import tune
from otherhalf.system.memory import check_room_for_libraries
from otherhalf.system.paths import check_present_folder
from otherhalf.system.process import keep_freed_memory
from otherhalf.system.version import VERSION

if TYPE_CHECKING:
    from otherhalf.complement.missing_half import MissingHalf

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
    check_present_folder()
    check_room_for_libraries()


app.command()(diagnose)


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
    with progress(quiet=as_json) as on_step:
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
    if as_json:
        print_json(result)
        return
    summary = Summary()
    summary.say(_half_in_words(half), BOLD)
    _add_homophily(summary, result)
    summary.part()
    written = f"{rows:,} rows written to {out}." if rows is not None else f"written to {out}."
    summary.say(f"{half.seconds['total']:.1f} s; " + (written if out else "give --out half.csv to keep it."))
    keep = ("preset", "split", "seed", "follow", "method", "threads", "device")
    summary.next(open_graph.command("fit", "--out", free_folder("model"), keep=keep))
    summary.print()


def _half_in_words(half: MissingHalf) -> str:
    from otherhalf.diagnosis.sentences import adjective

    made = half.words or f"encoder {half.encoder}"
    sampled = " sampled" if half.sampled else ""
    count = f"{half.k} + {half.k}" if half.kind == "both" else str(half.k)
    return (
        f"The missing {adjective(half.kind)} half has {half.num_edges:,} edges: each node is joined to "
        f"{count} of {half.candidates:,}{sampled} nodes ({made})."
    )


def _add_homophily(summary: Summary, result: dict[str, Any]) -> None:
    keys = {"all": "homophily", "training": "train_homophily", "test": "test_homophily"}
    shares = {name: result[key] for name, key in keys.items() if result[key] is not None}
    columns = [Column("pairs of nodes"), Column("within a class", right=True), Column("", bars=True)]
    summary.table(columns, [(name, f"{share:.1%}", float(share)) for name, share in shares.items()])


app.command()(fit)
app.command()(predict)
app.command()(report)
app.command()(inspect)
app.command()(compare)
app.command()(reproduce)
app.command()(search)
app.command()(tune)
app.command()(datasets)


def main() -> None:
    """Run the command line. Exit status: 0 done, 2 the input is wrong, 1 anything else."""
    keep_freed_memory()
    run(app)
