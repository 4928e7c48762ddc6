"""The page of a search over settings: what was tried, what was chosen, and what to doubt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otherhalf.report.page import render_search
from otherhalf.report.svg import climb

MOST_SETTINGS = 12
"""Most settings whose values are shown side by side."""


def search_page(values: Mapping[str, Any], words: Mapping[str, Any], command: str = "") -> str:
    """Return the page.

    Args:
        values: The search as JSON has it.
        words: Its texts: ``title``, ``metric`` (its title), ``larger_is_better``, ``choice``, ``on_test`` and
            ``how``, and by the number of each trial in ``trials`` its ``title``, best trials first.
        command: The command that made the search.
    """
    trials = {row["trial"]: row for row in values["trials"]}
    rows = [{**trials[number], "title": title} for number, title in words["trials"].items()]
    chosen, sign = values["chosen"]["trial"], 1 if words["larger_is_better"] else -1
    firsts = [(_first(row, sign), row["trial"] == chosen) for row in values["trials"]]
    name = words["metric"] if sign > 0 else f"{words['metric']}, its sign changed"
    chart = climb(firsts, "Trials in their order", "trial", f"validation {name} of the first fit")
    content = {
        **words,
        "values": values,
        "rows": rows,
        "importance": values["importance"][:MOST_SETTINGS],
        "range": _range(values),
        "left_out": max(0, len(values["importance"]) - MOST_SETTINGS),
        "command": command,
    }
    return render_search(content, chart)


def _first(row: Mapping[str, Any], sign: int) -> float | None:
    return sign * row["scores"][0] if row["scores"] else None


def _range(values: Mapping[str, Any]) -> tuple[float, float]:
    """Return the lowest mean of all values of settings, and the distance to the highest."""
    means = [value["mean"] for row in values["importance"] for value in row["values"]]
    return min(means, default=0.0), (max(means, default=1.0) - min(means, default=0.0)) or 1.0
