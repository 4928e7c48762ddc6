"""A fit for a person: how good the model is, what it is made of, where it fails, and what was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otherhalf.cli.drawing import Column
from otherhalf.cli.fit_details import Details
from otherhalf.cli.summary import BOLD, WARNING, Summary

MOST = 3
"""Most confusions, and most similarities that a half is made of, that are named."""


def summarize(result: Mapping[str, Any], details: Details | None = None) -> Summary:
    """Return a fit for a person.

    Args:
        result: The result of :func:`~otherhalf.estimators.run_folder.fit_into`; that of an older version has
            less.
        details: What else is known of the fit.
    """
    known = details or Details()
    summary = Summary()
    summary.say(_headline(result, known), BOLD)
    summary.say(_graph_line(result, known.verdict))
    summary.say(_half_line(result))
    summary.say(_worth_line(known.worth))
    _metrics(summary, result, known)
    _members(summary, result)
    _simple(summary, result)
    _groups(summary, known)
    summary.part()
    summary.say(str(result.get("metric_reason", "")))
    summary.say(_better_simple(result), WARNING)
    summary.say(_failures(result))
    if result["contradiction"]:
        summary.say(
            "The labels contradict D. `--follow` chooses: labels (the default), or ks, as in the paper (the "
            "default of the method embedding)."
        )
    summary.say(_coefficients(result))
    summary.say(_origin(result))
    for line in _files(result):
        summary.say(line)
    return summary


def _headline(result: Mapping[str, Any], known: Details) -> str:
    """Return the score on the test nodes or, where none has a label, on the validation nodes."""
    name, title = _metric(result)
    test, val = _score(result, "test"), _score(result, "val")
    if test is None:
        return f"Validation {title} is {_shown(name, val)}; no test node has a label."
    text = f"Test {title} is {_shown(name, test)}"
    if name in known.intervals:
        low, high = known.intervals[name]
        text += f" (95 % interval {_shown(name, low)} to {_shown(name, high)})"
    return f"{text}; validation {title} is {_shown(name, val)}."


def _metric(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return the metric of the fit and its title; an older result has accuracy."""
    from otherhalf.training.metrics import METRICS

    name = str(result.get("metric", "accuracy"))
    return name, METRICS[name].title


def _score(result: Mapping[str, Any], part: str) -> float | None:
    values = result.get("metrics", {}).get(part, {})
    value = values.get(_metric(result)[0], result[f"{part}_accuracy"])
    return None if value is None else float(value)


def _shown(metric: str, value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.2%}" if metric == "accuracy" else f"{value:.4f}"


def _graph_line(result: Mapping[str, Any], verdict: str) -> str:
    from otherhalf.diagnosis.verdict import opposite

    by_features = f"{result['tendency']}-prone by D = {result['ks']:.3f}"
    if result["contradiction"]:
        by_features += f", but {opposite(result['tendency'])}-prone by its labels"
    return f"{verdict or result['name'] or 'The graph'}{' It is ' if verdict else ' is '}{by_features}."


def _half_line(result: Mapping[str, Any]) -> str:
    from otherhalf.data.notes import counted
    from otherhalf.diagnosis.sentences import adjective

    if result["missing_half"] is None:
        return "It was fitted without the missing half."
    ways = (result["missing_half_words"] or f"encoder {result['encoder']}").split("; ")
    if more := len(ways[MOST:]):
        ways[MOST:] = [f"and {counted(more, 'more way')}"]
    text = f"The missing {adjective(result['missing_half'])} half has {result['missing_half_edges']:,} edges"
    same = result["missing_half_test_homophily"]
    if same is not None:
        text += f", of which {same:.0%} are within a class at test nodes"
    return f"{text} ({'; '.join(ways)})."


def _worth_line(worth: Mapping[str, Any] | None) -> str:
    if worth is None:
        return ""
    one, none, drawn = (_shown("", worth[key]) for key in ("with", "without", "random"))
    return f"The {worth['title']} is {one} with it, {none} without it, {drawn} with a random half."


def _metrics(summary: Summary, result: Mapping[str, Any], known: Details) -> None:
    """Add every metric beside that of the most frequent class; an older result has only accuracy."""
    from otherhalf.estimators.evaluation import Evaluation
    from otherhalf.training.metrics import METRICS

    if "evaluation" not in result:
        return
    part = "test" if result["test_accuracy"] is not None else "val"
    found = Evaluation.from_dict(result["evaluation"][part])
    rows = []
    for name, metric in METRICS.items():
        value = found.metrics.get(name)
        if value is not None:
            low, high = known.intervals.get(name, (None, None))
            interval = "" if low is None or high is None else f"{low:.3f} to {high:.3f}"
            title = metric.title + ("" if metric.larger_is_better else " (less is better)")
            usual = found.majority[name]
            rows.append((title, f"{value:.4f}", interval, "" if usual is None else f"{usual:.4f}"))
    where = {"test": "test", "val": "validation"}[part]
    numbers = ("model", "95 % interval", "majority class")
    columns = [Column(f"on {found.nodes:,} {where} nodes"), *(Column(each, right=True) for each in numbers)]
    summary.table(columns, rows)


def _members(summary: Summary, result: Mapping[str, Any]) -> None:
    """Add the members of the model, with bars for their weights."""
    rows = [
        (
            row["member"],
            _four(row["validation"]),
            f"{row['seconds']:.1f}",
            f"{row['weight']:.2f}",
            float(row["weight"]),
        )
        for row in result["leaderboard"]
    ]
    numbers = (Column(each, right=True) for each in ("validation", "seconds", "weight"))
    summary.table([Column("member of the model"), *numbers, Column("", bars=True)], rows)


def _simple(summary: Summary, result: Mapping[str, Any]) -> None:
    """Add the simple models, which are no part of the model; an older result has none."""
    rows = [
        (row["title"], _four(row["validation"]), f"{row['seconds']:.1f}", _four(row["test"]))
        for row in result.get("simple", [])
    ]
    numbers = (Column(each, right=True) for each in ("validation", "seconds", "test"))
    summary.table([Column("simple model, to compare with"), *numbers], rows)


def _four(value: Any) -> str:
    return "" if value is None else f"{value:.4f}"


def _groups(summary: Summary, known: Details) -> None:
    """Add the score by degree; bars are for shares."""
    groups = [group for group in known.by_degree if group["value"] is not None]
    if len(groups) < 2:
        return
    share = known.group_metric != "log loss"
    rows = [
        (
            group["label"],
            f"{group['nodes']:,}",
            f"{group['value']:.4f}",
            float(group["value"]) if share else None,
        )
        for group in groups
    ]
    columns = [Column("by number of neighbours"), Column("nodes", right=True)]
    summary.table([*columns, Column(known.group_metric, right=True), Column("", bars=True)], rows)


def _better_simple(result: Mapping[str, Any]) -> str:
    from otherhalf.estimators.simple_rows import better_simple

    rows = result.get("simple", [])
    return better_simple(rows, result["metric"], _score(result, "val")) if rows else ""


def _failures(result: Mapping[str, Any]) -> str:
    """Return which classes are confused most often, and which is found least."""
    from otherhalf.system.names import short

    if "evaluation" not in result:
        return ""
    found = result["evaluation"]["test" if result["test_accuracy"] is not None else "val"]
    pairs = [
        f"{short(row['true'])!r} taken for {short(row['predicted'])!r} ({row['nodes']:,})"
        for row in found["largest"][:MOST]
    ]
    if not pairs:
        return ""
    seen = [row for row in found["per_class"] if row["recall"] is not None]
    worst = min(seen, key=lambda row: row["recall"])
    return (
        f"Most often wrong: {', '.join(pairs)}. Of the class {short(worst['class'])!r}, "
        f"{worst['recall']:.0%} of {worst['nodes']:,} nodes are found."
    )


def _coefficients(result: Mapping[str, Any]) -> str:
    layers = (
        ", ".join(f"{name} {value:.2f}" for name, value in layer.items()) for layer in result["coefficients"]
    )
    text = "; ".join(layers)
    return f"Coefficients by layer: {text}." if text else ""


def _origin(result: Mapping[str, Any]) -> str:
    seconds, processes = result["seconds"], result.get("processes", 1)
    beside = f", without that of {processes} processes beside this one" if processes > 1 else ""
    return (
        f"{result['split']} split, seed {result['seed']}, preset {result['preset']}; "
        f"{seconds['total']:.1f} s: diagnosis {seconds['diagnose']:.1f}, missing half "
        f"{seconds['complement']:.1f}, training {seconds['train']:.1f}; "
        f"peak memory {result['peak_memory_mb']:.0f} MB{beside}."
    )


def _files(result: Mapping[str, Any]) -> list[str]:
    """Return what a fit wrote to its folder; an older result does not say whether the half is among it."""
    from otherhalf.estimators.run_files import HALF_FILE, PREDICTIONS_FILE, REPORT_FILE, RESULT_FILE
    from otherhalf.estimators.run_folder import MOST_HALF_ROWS

    if "out" not in result:
        return []
    files = [RESULT_FILE, PREDICTIONS_FILE, *([REPORT_FILE] if result.get("report") else [])]
    lines = []
    if result.get("half_rows") is not None:
        files.append(f"{HALF_FILE} ({result['half_rows']:,} edges of the missing half)")
    elif "half_rows" in result and result["missing_half"] is not None:
        lines.append(
            f"The missing half has more than {MOST_HALF_ROWS:,} edges and was not written: "
            "`otherhalf complement --out half.parquet` writes it."
        )
    return [f"{result['out']} has the model, {', '.join(files[:-1])} and {files[-1]}.", *lines]
