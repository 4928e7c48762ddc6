"""From the results of several runs to a cell of a table, or to values for JSON."""

from typing import Any

from otherhalf.experiments.runner.results import number
from otherhalf.experiments.statistics import Summary

DASH = "–"


def summary(results: list[dict[str, Any]] | None, *path: str) -> Summary | None:
    """Return the summary of the numbers at this path; None without results, or if a number is undefined."""
    numbers = [number(result, *path) for result in results or ()]
    known = [each for each in numbers if each is not None]
    return Summary.of(known) if known and len(known) == len(numbers) else None


def means(summaries: list[Summary | None]) -> list[float | None]:
    """Return the mean of each summary."""
    return [None if each is None else each.mean for each in summaries]


def percent_cell(ours: Summary | None, paper: float | None = None) -> str:
    """Return our number, or a dash, and below it the paper's number and the gap."""
    if paper is None:
        return DASH if ours is None else str(ours)
    if ours is None:
        return f"{DASH}\n{paper:.2f}"
    return f"{ours}\n{paper:.2f} ({gap(ours, paper):+z.2f})"


def summary_values(ours: Summary | None, paper: float | None = None) -> dict[str, Any]:
    """Return the same for JSON: our numbers as shares of 1, the paper's number and the gap in percent."""
    values: dict[str, Any] = {"mean": None, "std": None, "runs": 0} if ours is None else {**vars(ours)}
    if paper is not None:
        values |= {"paper": paper, "gap": None if ours is None else gap(ours, paper)}
    return values


def gap(ours: Summary, paper: float) -> float:
    """Return our number minus the paper's, in percent."""
    return 100 * ours.mean - paper
