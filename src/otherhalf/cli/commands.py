"""The command line: parse, call the library, print. Heavy imports wait until a command runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from otherhalf.cli.console import progress, run
from otherhalf.cli.experiments import compare, reproduce, search
from otherhalf.cli.options import (
    Data,
    Device,
    Directed,
    Features,
    Follow,
    Id,
    Json,
    Kind,
    Label,
    Preset,
    Seed,
    Source,
    Target,
    Threads,
    open_graph,
)
from otherhalf.errors import InputError
from otherhalf.system.process import keep_freed_memory

app = typer.Typer(
    help="Find the missing half of a graph and classify its nodes with both halves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def diagnose(
    data: Data,
    split: Annotated[
        str | None,
        typer.Option(
            help="The split on which the look-up of identical nodes is scored; default: uniform, if there "
            "are labels enough for it."
        ),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
    id: Id = None,
    label: Label = None,
    features: Features = None,
    source: Source = None,
    target: Target = None,
    directed: Directed = False,
) -> None:
    """Tell whether a graph mostly joins like with like, and which half of it is missing.

    And warn where copying the labels of identical nodes scores well without learning: that is an audit, which
    scores once on the test labels of a split.
    """
    from otherhalf.data.splits import split as make_split
    from otherhalf.diagnosis.duplicates import audit_duplicates
    from otherhalf.diagnosis.verdict import diagnose as run_diagnosis

    _set_threads(threads)
    if device != "cpu":  # nothing here computes on it, but a typo should not pass; torch takes a while
        from otherhalf.nn.inputs import usable_device

        usable_device(device)
    graph = open_graph(data, id, label, features, source, target, directed)
    try:
        parts = make_split(graph, split or "uniform", seed)
    except InputError:
        if split is not None:
            raise
        parts = None  # too few labels; the rest of the diagnosis needs none
    result = run_diagnosis(graph, seed=seed)
    values, text = result.to_dict(), str(result)
    if parts is not None:
        audit = audit_duplicates(graph, parts)
        values["duplicates"] = audit.to_dict()
        text = "\n".join(filter(None, [text, audit.warning]))
    _print(values, text, as_json)


@app.command()
def complement(
    data: Data,
    out: Annotated[Path | None, typer.Option(help="Write the found half to this .npz file.")] = None,
    preset: Preset = "best",
    split: Kind = "uniform",
    seed: Seed = 0,
    follow: Follow = "ks",
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
    id: Id = None,
    label: Label = None,
    features: Features = None,
    source: Source = None,
    target: Target = None,
    directed: Directed = False,
) -> None:
    """Find the missing half of a graph."""
    from otherhalf.complement.missing_half import find_missing_half
    from otherhalf.data.splits import split as make_split
    from otherhalf.system.atomic import check_place

    _set_threads(threads)
    graph = open_graph(data, id, label, features, source, target, directed)
    parts = make_split(graph, split, seed)
    if out is not None:
        check_place(out, (".npz",))
    with progress() as on_step:
        half = find_missing_half(
            graph, parts, seed, follow=follow, preset=preset, device=device, on_step=on_step
        )
    if out is not None:
        half.to_npz(out)
    result = {
        "name": graph.name,
        "kind": half.kind,
        "edges": half.num_edges,
        "k": half.k,
        "homophily": half.homophily(graph.y),
        "train_homophily": half.homophily(graph.y, parts.train),
        "test_homophily": half.homophily(graph.y, parts.test),
        "encoder": half.encoder,
        "candidates": half.candidates,
        "sampled": half.sampled,
        "seconds": half.seconds["total"],
        "out": None if out is None else str(out),
    }
    text = (
        f"{half!r}\n"
        f"Homophily over pairs found by all nodes {_number(result['homophily'])}, by training nodes "
        f"{_number(result['train_homophily'])}, by test nodes {_number(result['test_homophily'])}.\n"
        f"{half.seconds['total']:.1f} s; "
        + (f"written to {out}." if out else "give --out half.npz to keep it.")
    )
    _print(result, text, as_json)


@app.command()
def fit(
    data: Data,
    preset: Preset = "best",
    split: Kind = "uniform",
    seed: Seed = 0,
    follow: Follow = "ks",
    out: Annotated[
        Path | None, typer.Option(help="Write the model and its predictions to this folder.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a fit into --out that was stopped.")
    ] = False,
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
    id: Id = None,
    label: Label = None,
    features: Features = None,
    source: Source = None,
    target: Target = None,
    directed: Directed = False,
) -> None:
    """Diagnose a graph, find its missing half, train a classifier on both halves and score it."""
    from otherhalf.data.splits import split as make_split
    from otherhalf.estimators.run_folder import fit_into, summary

    _set_threads(threads)
    if resume and out is None:
        raise InputError("--resume needs to know which fit to go on with: give its folder with --out")
    graph = open_graph(data, id, label, features, source, target, directed)
    parts = make_split(graph, split, seed)
    from otherhalf.estimators.goal import GOALClassifier

    model = GOALClassifier(preset, seed=seed, follow=follow, device=device)
    with progress() as on_step:
        result = fit_into(model, graph, parts, out, resume=resume, on_step=on_step)
    _print(result, summary(result), as_json)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `fit --out` wrote.")],
    data: Data,
    out: Annotated[Path, typer.Option(help="Where to write the predictions: .csv or .parquet.")],
    as_json: Json = False,
    threads: Threads = None,
    device: Device = "cpu",
    id: Id = None,
    label: Label = None,
    features: Features = None,
    source: Source = None,
    target: Target = None,
    directed: Directed = False,
) -> None:
    """Predict the class of every node of the fitted graph, or of that graph with nodes and edges added."""
    _set_threads(threads)
    from otherhalf.data.predictions import write_predictions
    from otherhalf.estimators.goal import GOALClassifier

    fitted = GOALClassifier.load(model)
    fitted.device = device
    graph = open_graph(data, id, label, features, source, target, directed)
    probabilities = fitted.predict_proba(graph)
    labels = fitted.classes_[probabilities.argmax(axis=1)]
    write_predictions(out, graph, labels, probabilities, fitted.classes_)
    new = graph.num_nodes - fitted.missing_half_.num_nodes
    result = {"nodes": graph.num_nodes, "new_nodes": new, "out": str(out)}
    _print(result, f"{graph.num_nodes} predictions ({new} for new nodes) written to {out}.", as_json)


app.command()(compare)
app.command()(reproduce)
app.command()(search)


@app.command()
def datasets(as_json: Json = False) -> None:
    """List the named data sets, and where each is found."""
    from otherhalf.data.catalog import DATASETS
    from otherhalf.data.folders import search_folders

    rows = []
    for entry in DATASETS.values():
        found = [
            str(f / f"{entry.name}.npz") for f in search_folders() if (f / f"{entry.name}.npz").is_file()
        ]
        rows.append({**vars(entry), "file": found[0] if found else None})
    if as_json:
        _print({"datasets": rows}, "", as_json)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("name", "nodes", "edges", "classes", "features"):
        table.add_column(column, justify="left" if column == "name" else "right", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("what it is")
    for row in rows:
        sizes = [f"{row[key]:,}" for key in ("nodes", "edges", "classes", "features")]
        table.add_row(row["name"], *sizes, "yes" if row["file"] else "no", row["description"])
    # In a file or a pipe there is no edge to wrap at.
    Console(width=None if sys.stdout.isatty() else 160).print(table)
    print("\nAlso csbm:nodes=1000,homophily=0.2 (a stochastic block model) and cora@0.3 (its edges redrawn).")


def main() -> None:
    """Run the command line: status 0 done, 2 the input is wrong, 1 anything else."""
    keep_freed_memory()
    run(app)


def _set_threads(threads: int | None) -> None:
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def _print(values: dict[str, Any], text: str, as_json: bool) -> None:
    print(json.dumps(values) if as_json else text)


def _number(value: Any) -> str:
    return "unknown" if value is None else f"{value:.3f}"
