"""The command ``diagnose``: what kind of graph it is, and which half is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from otherhalf.cli.console import print_json, set_threads
from otherhalf.cli.drawing import Column
from otherhalf.cli.options import Device, Json, OpenGraph, Seed, Threads, free_folder, takes_data
from otherhalf.cli.summary import BOLD, WARNING, Summary
from otherhalf.errors import InputError

if TYPE_CHECKING:
    from otherhalf.diagnosis.verdict import Diagnosis


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
    values, warning = result.to_dict(), ""
    if parts is not None:
        audit = audit_duplicates(graph, parts)
        values["duplicates"], warning = audit.to_dict(), audit.warning
    if as_json:
        print_json(values)
        return
    summary = summarize(result, warning)
    if parts is not None:  # a fit needs labels
        keep = ("split", "seed", "threads", "device")
        summary.next(open_graph.command("fit", "--out", free_folder("model"), keep=keep))
    summary.print()


def summarize(diagnosis: Diagnosis, warning: str = "") -> Summary:
    """Return a diagnosis for a person.

    Args:
        diagnosis: The diagnosis.
        warning: What the audit of identical nodes warns of.
    """
    from otherhalf.diagnosis.plain_words import sentence
    from otherhalf.diagnosis.sentences import about_graph, choice, doubts, reason, sample, worth_of_simple

    summary = Summary()
    summary.say(sentence(diagnosis, diagnosis.name), BOLD)
    summary.say(about_graph(replace(diagnosis, name="")))  # the name may be long, and is said already
    _cosines(summary, diagnosis)
    _measures(summary, diagnosis)
    _simple(summary, diagnosis)
    summary.part()
    contradiction = "The labels contradict D." if diagnosis.contradiction else ""
    summary.say(sample(diagnosis))
    summary.say(worth_of_simple(diagnosis))
    summary.say(" ".join(filter(None, (doubts(diagnosis), contradiction, reason(diagnosis)))))
    summary.say(choice(diagnosis))
    summary.say(warning, WARNING)
    return summary


def _cosines(summary: Summary, d: Diagnosis) -> None:
    """Add the two distributions that D compares, in the range that the chart of a report has."""
    from otherhalf.report.drawings import drawn_bins

    first, last = drawn_bins(d.connected.tolist(), d.random.tolist())
    rows = [
        (name, heights[first:last].tolist(), f"mean {mean:6.3f}")
        for name, heights, mean in (
            ("connected pairs", d.connected, d.mean_connected),
            ("random pairs", d.random, d.mean_random),
        )
    ]
    low, high = d.bin_edges[first], d.bin_edges[last]
    summary.histograms("cosine of the features of two nodes", (f"{low:.2f}", f"{high:.2f}"), rows)


def _measures(summary: Summary, d: Diagnosis) -> None:
    from otherhalf.diagnosis.homophily import LABEL_THRESHOLD
    from otherhalf.diagnosis.plain_words import MEASURES

    rows = [("D (K-S statistic)", f"{d.ks:.3f}", f"± {d.ks_std:.3f}", f"{d.threshold:g}", d.tendency)]
    for name, (title, _) in MEASURES.items():
        value, bounds = getattr(d, name), d.intervals.get(name)
        if value is None:
            continue
        interval = "" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}"
        decides = name == "adjusted_homophily"
        means = (f"{LABEL_THRESHOLD:g}", d.label_tendency or "") if decides else ("", "")
        rows.append((title, f"{value:.3f}", interval, *means))
    numbers = (Column(each, right=True) for each in ("value", "± or 95 %", "threshold"))
    summary.table([Column("measure"), *numbers, Column("means")], rows)


def _simple(summary: Summary, d: Diagnosis) -> None:
    titles = {
        "majority": "the most frequent class",
        "neighbours": "the most frequent label of neighbours",
        "features": "a logistic regression on features",
    }
    rows = [
        (title, f"{d.simple[way]['accuracy']:.1%}", float(d.simple[way]["accuracy"]))
        for way, title in titles.items()
        if way in d.simple
    ]
    columns = [Column("what would score without a model"), Column("accuracy", right=True)]
    summary.table([*columns, Column("", bars=True)], rows)
