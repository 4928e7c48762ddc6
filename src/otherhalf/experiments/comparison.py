"""Models against each other on the same splits: the jobs, and what their records come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from otherhalf.experiments.paper.summaries import whole
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.runner.workbench import number
from otherhalf.experiments.statistics import Difference, Summary, paired_difference

REFERENCE = "goal"


@dataclass(frozen=True)
class Row:
    """One model on one graph; ``difference`` is GOAL less this model, over the same splits."""

    model: str
    test: Summary
    validation: Summary
    difference: Difference | None


@dataclass(frozen=True)
class Comparison:
    """Models with their settings on one graph, ``runs`` splits each, numbered from 0."""

    benchmark: BenchmarkData
    settings: Mapping[str, Mapping[str, Any]]
    runs: int

    def jobs(self) -> list[Job]:
        """Every fit that is compared."""
        return [job for model in self.settings for job in self.jobs_of(model)]

    def jobs_of(self, model: str) -> list[Job]:
        """The fits of one model, by split."""
        params = self.settings[model]
        return [self.benchmark.job("fit", model, params, seed) for seed in range(self.runs)]

    def rows(self, store: Store) -> list[Row]:
        """Each model all of whose runs are there, in the order given."""
        scores = {model: self._scores(store, model) for model in self.settings}
        reference = scores.get(REFERENCE)
        rows = []
        for model, found in scores.items():
            if found is None:
                continue
            test, validation, ratio = found
            difference = None
            if reference is not None and model != REFERENCE:
                difference = paired_difference(reference[0], test, ratio)
                if self.benchmark.split == "public":  # one split: the test is of differences over many
                    difference = replace(difference, p=None)
            rows.append(Row(model, Summary.of(test), Summary.of(validation), difference))
        return rows

    def _scores(self, store: Store, model: str) -> tuple[list[float], list[float], float] | None:
        found = whole(store, self.jobs_of(model))
        if found is None:
            return None
        scores = [(number(result, "test"), number(result, "val")) for result in found]
        known = [(test, val) for test, val in scores if test is not None and val is not None]
        if len(known) < len(scores):
            return None
        tests, validation = map(list, zip(*known, strict=True))
        nodes = found[0]["nodes"]
        return tests, validation, nodes["test"] / nodes["train"]


def row_values(row: Row) -> dict[str, Any]:
    """A row for programs: scores as shares of 1."""
    values: dict[str, Any] = {
        "model": row.model,
        "mean": row.test.mean,
        "std": row.test.std,
        "runs": row.test.runs,
        "validation_mean": row.validation.mean,
    }
    if row.difference is not None:
        values["goal_minus_model"] = vars(row.difference)
    return values
