"""Beside the paper: graphs that nothing was chosen on."""

from otherhalf.experiments.paper.comparison_notes import Compared
from otherhalf.experiments.paper.comparison_table import ComparisonTable
from otherhalf.experiments.paper.experiment import Request
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import GOAL, TREES
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tuning.search import Tuned


class HeldOut(ComparisonTable):
    """GOAL, trees and baselines, all with their defaults, on graphs that no default was chosen on."""

    name = "heldout"
    title = "Beside the paper: graphs that nothing was chosen on"
    label = ""
    datasets = (
        "dblp",
        "cora_ml",
        "coauthor_cs",
        "coauthor_physics",
        "facebook_pagepage",
        "github_social",
        "debian_bookworm",
    )
    models = ("mlp", "gcn", "appnp", "sage", "chebynet", "jknet", GOAL, "acmgcn", TREES)
    runs = 3
    split = "uniform"
    directed = ("debian_bookworm",)

    def tuned(self, data: str) -> dict[str, Tuned]:
        """Return nothing: a search would choose on these graphs."""
        return {}

    def may_be_missing(self, job: Job) -> bool:
        """Return true: the runs are made once, at the end."""
        return True

    def _notes(self, request: Request, compared: Compared, store: Store) -> list[str]:
        held_out = (
            "No default and no setting was chosen on these graphs. They are run once, at the end, and "
            "reported as they fall."
        )
        return [*super()._notes(request, compared, store), held_out]
