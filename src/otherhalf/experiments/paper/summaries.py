"""From the records of several runs to the cell of a table: nothing where one of them is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.runner.workbench import number, results
from otherhalf.experiments.statistics import Summary

DASH = "–"


def whole(store: Store, jobs: Iterable[Job]) -> list[dict[str, Any]] | None:
    """What the jobs came to, or None where one of them has not been run."""
    found = results(store, jobs)
    done = [result for result in found if result is not None]
    return done if done and len(done) == len(found) else None


def summary(found: list[dict[str, Any]] | None, *path: str) -> Summary | None:
    """Of one number of each result, at this path in it; None without results or where one is undefined."""
    numbers = [number(result, *path) for result in found or ()]
    known = [each for each in numbers if each is not None]
    return Summary.of(known) if known and len(known) == len(numbers) else None


def percent_cell(ours: Summary | None, paper: float | None) -> str:
    """Ours, and under it the paper's number and the gap; without ours a dash in its place."""
    if paper is None:
        return DASH if ours is None else str(ours)
    if ours is None:
        return f"{DASH}\n{paper:.2f}"
    return f"{ours}\n{paper:.2f} ({gap(ours, paper):+z.2f})"


def summary_values(ours: Summary | None, paper: float | None = None) -> dict[str, Any]:
    """The same for programs: shares of 1, the paper's number and the gap in percent."""
    values: dict[str, Any] = {"mean": None, "std": None, "runs": 0} if ours is None else {**vars(ours)}
    if paper is not None:
        values |= {"paper": paper, "gap": None if ours is None else gap(ours, paper)}
    return values


def gap(ours: Summary, paper: float) -> float:
    """Ours less the paper's, in percent."""
    return 100 * ours.mean - paper
