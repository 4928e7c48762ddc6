"""Models against each other on the same splits: the jobs, and a row per model from their records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.results import all_results, number
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import Difference, Summary, paired_difference

REFERENCE = "goal"


@dataclass(frozen=True)
class Row:
    """One model on one graph; ``difference`` is GOAL minus this model, over the same splits."""

    model: str
    test: Summary
    validation: Summary
    difference: Difference | None


@dataclass(frozen=True)
class Comparison:
    """Models with their settings on one graph, each on the splits 0 … ``runs`` − 1."""

    benchmark: BenchmarkData
    settings: Mapping[str, Mapping[str, Any]]
    runs: int

    @cached_property
    def jobs_by_model(self) -> dict[str, list[Job]]:
        """The fits of each model, by split."""
        return {
            model: [self.benchmark.job("fit", model, params, seed) for seed in range(self.runs)]
            for model, params in self.settings.items()
        }

    def jobs(self) -> list[Job]:
        """Return every fit of the comparison."""
        return [job for jobs in self.jobs_by_model.values() for job in jobs]

    def rows(self, store: Store) -> list[Row]:
        """Return a row for each model that has a record of every run, in the order given."""
        scores = {model: _scores(store, jobs) for model, jobs in self.jobs_by_model.items()}
        reference = scores.get(REFERENCE)
        rows = []
        for model, known in scores.items():
            if known is None:
                continue
            test, validation, ratio = known
            difference = None
            if reference is not None and model != REFERENCE:
                difference = paired_difference(reference[0], test, ratio)
                if self.benchmark.split == "public":  # one split: the test is about differences over many
                    difference = replace(difference, p=None)
            rows.append(Row(model, Summary.of(test), Summary.of(validation), difference))
        return rows


def _scores(store: Store, jobs: list[Job]) -> tuple[list[float], list[float], float] | None:
    """Return test scores, validation scores, and the number of test nodes per training node."""
    results = all_results(store, jobs)
    if results is None:
        return None
    scores = [(number(result, "test"), number(result, "val")) for result in results]
    known = [(test, val) for test, val in scores if test is not None and val is not None]
    if len(known) < len(scores):
        return None
    tests, validation = map(list, zip(*known, strict=True))
    nodes = results[0]["nodes"]
    return tests, validation, nodes["test"] / nodes["train"]


def row_values(row: Row) -> dict[str, Any]:
    """Return a row for JSON; scores are shares of 1."""
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
