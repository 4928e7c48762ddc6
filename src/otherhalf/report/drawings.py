"""The charts of a report, drawn from its content."""

import re
from itertools import accumulate
from typing import Any

from markupsafe import Markup

from otherhalf.report.svg import SERIES, Bar, Line, Point, bars, histograms, lines, reliability, scale

PARTS = {"test": "test nodes", "val": "validation nodes"}
"""Names of the parts of a split that a model is evaluated on."""

OUTERMOST = 0.001
"""Share of the pairs that a histogram leaves out, half of it on each side."""

TRAINING = re.compile(r" \d+$")
"""The number of a training in its name."""


def drawings(content: dict[str, Any]) -> dict[str, Any]:
    """Return every chart of the page by its name (None: nothing to draw), and the shades of the confusion."""
    verdict, classifier, evaluation = content["verdict"], content["classifier"], content["evaluation"]
    members = _trained(classifier)
    return {
        "scale": verdict and _scale(verdict),
        "cosines": verdict and _cosines(verdict["cosines"]),
        "measures": verdict and _measures(verdict["measures"]),
        "halves": _halves(content["halves"]["rows"]),
        "worth": _worth(content["halves"]["worth"]),
        "losses": _curves(members, "losses", "training loss"),
        "scores": _curves(members, "scores", f"validation {classifier['metric_title']}"),
        "trained": list(members),
        "by": [_groups(by, evaluation["part"]) for by in evaluation["by"]],
        "reliability": _reliability(evaluation["reliability"]),
        "confusion": [[cell / (sum(row) or 1) for cell in row] for row in evaluation["confusion"]],
    }


def _scale(verdict: dict[str, Any]) -> Markup | None:
    if verdict["ks"] is None:
        return None
    zones = ("unlike nodes are joined", "like nodes are joined")
    return scale(verdict["ks"], verdict["ks_std"], verdict["threshold"], zones, "D and its threshold")


def _cosines(cosines: dict[str, Any] | None) -> Markup | None:
    if not cosines or len(cosines["bins"]) < 2:
        return None
    first, last = drawn_bins(cosines["connected"], cosines["random"])
    heights = [cosines[name][first:last] for name in ("connected", "random")]
    title = "How similar the features of joined nodes and of random pairs are"
    return histograms(
        cosines["bins"][first : last + 1], heights, title, "cosine of the features of two nodes"
    )


def drawn_bins(*histograms: list[float]) -> tuple[int, int]:
    """Return the first bin to draw and the one after the last: all but the outermost pairs are between."""
    firsts, lasts = [], []
    for heights in histograms:
        left = OUTERMOST * sum(heights) / 2
        sums = list(accumulate(heights))
        firsts.append(next((bin for bin, total in enumerate(sums) if total > left), 0))
        lasts.append(next((bin for bin, total in enumerate(sums) if total >= sums[-1] - left), 0))
    return min(firsts), max(lasts) + 1


def _measures(measures: list[dict[str, Any]]) -> Markup | None:
    rows = [Bar(each["title"], each["value"], each["low"], each["high"]) for each in measures]
    return bars(rows, "What the labels say, with 95% intervals") if rows else None


def _halves(rows: list[dict[str, Any]]) -> Markup | None:
    found = [place for place, row in enumerate(rows) if row["name"] == "found"]
    drawn = [Bar(row["title"], row["all"]) for row in rows]
    title = "Share of edges within a class"
    return bars(drawn, title, mark=found[0] if found else -1) if drawn else None


def _worth(worth: dict[str, Any] | None) -> Markup | None:
    if worth is None:
        return None
    names = {"with": "with the found half", "without": "without it", "random": "with a random half instead"}
    rows = [Bar(title, worth[name]) for name, title in names.items()]
    return bars(rows, f"{worth['title']} with and without the found half", mark=0)


def _trained(classifier: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the curves of each member that was trained, the members of most weight first.

    A member is trained several times: "GOAL 2" is the second training of GOAL.
    """
    weights = {row["member"]: row["weight"] or 0.0 for row in classifier["leaderboard"]}
    found: dict[str, list[dict[str, Any]]] = {}
    for curve in classifier["curves"]:
        found.setdefault(TRAINING.sub("", curve["name"]), []).append(curve)
    order = sorted(found, key=lambda member: -weights.get(member, 0.0))
    return {member: found[member] for member in order[:SERIES]}


def _curves(members: dict[str, list[dict[str, Any]]], key: str, title: str) -> Markup | None:
    drawn = [
        Line(curve["name"], curve[key], curve["step"] or 1, curve["best"], place)
        for place, curves in enumerate(members.values())
        for curve in curves
        if curve[key]
    ]
    return lines(drawn, f"{title} by epoch", "epoch", title) if drawn else None


def _groups(by: dict[str, Any], part: str) -> Markup | None:
    rows = [
        Bar(group["label"], group["value"], group["low"], group["high"], f"{group['nodes']:,} nodes")
        for group in by["groups"]
    ]
    return bars(rows, f"Accuracy by {by['title']}, {PARTS[part]}") if rows else None


def _reliability(bins: list[dict[str, Any]]) -> Markup | None:
    points = [
        Point(each["confidence"], each["accuracy"], each["nodes"])
        for each in bins
        if each["nodes"] and each["confidence"] is not None and each["accuracy"] is not None
    ]
    return reliability(points, "Is the model right as often as it says?") if points else None
