"""Beside the paper: Chameleon and Squirrel with the direction of their links, and filtered."""

from typing import Any

from otherhalf.experiments.paper.comparison_notes import Compared
from otherhalf.experiments.paper.comparison_table import ComparisonTable
from otherhalf.experiments.paper.experiment import Request
from otherhalf.experiments.paper.published import DIRECTED
from otherhalf.experiments.paper.summaries import DASH
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import GOAL, TREES
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table

SPLITS = {
    "chameleon_directed": "uniform",
    "squirrel_directed": "uniform",
    "chameleon_filtered_directed": "fixed",
    "squirrel_filtered_directed": "fixed",
}
"""Protocol of each data set, as that of the same graph without direction."""


class Directed(ComparisonTable):
    """A table of its own, because a result with direction is never compared with one without."""

    name = "directed"
    title = "Beside the paper: with the direction of the edges"
    label = ""
    datasets = tuple(SPLITS)
    models = (GOAL, TREES)
    directed = tuple(SPLITS)

    def split_of(self, data: str) -> str:
        """Return the protocol: uniform, and fixed for the filtered graphs."""
        return SPLITS[data]

    def may_be_missing(self, job: Job) -> bool:
        """Return true: no run has been made for the page before."""
        return True

    def table(self, request: Request, store: Store) -> Table:
        """Return the comparison, and below it the best published numbers."""
        table = super().table(request, store)
        cells = [f"{DIRECTED[data]:.1f}" if data in DIRECTED else DASH for data in request.datasets]
        table.add("best published, fixed splits", *cells)
        return table

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return the rows, and the best published number in percent; None if there is none."""
        return {**super().values_of(data, request, store), "best_published": DIRECTED.get(data)}

    def _notes(self, request: Request, compared: Compared, store: Store) -> list[str]:
        numbers, *others = super()._notes(request, compared, store)
        published = (
            "Best published: the best numbers that were found for these graphs with direction. They are on "
            "fixed splits, ours on uniform ones: the protocols differ, so they stand here for context only."
        )
        return [numbers, published, *others]
