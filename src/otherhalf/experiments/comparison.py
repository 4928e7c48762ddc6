"""Models against each other on the same splits: the jobs, and a row per model from their records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from otherhalf.data.splits import ONE_SPLIT
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.results import all_results, number
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import (
    MARGIN,
    Difference,
    Summary,
    Verdict,
    paired_difference,
    verdicts,
)
from otherhalf.training.metrics import METRICS

REFERENCE = "goal"
ENSEMBLE = "kernel"
"""GOAL's method that is an ensemble of several models."""


@dataclass(frozen=True)
class Row:
    """One model on one graph; ``difference`` is GOAL minus this model, over the same splits."""

    model: str
    test: Summary
    validation: Summary
    difference: Difference | None


@dataclass(frozen=True)
class Comparison:
    """Models with their settings on one graph, each on the splits 0 … ``runs`` − 1.

    Attributes:
        benchmark: The graph.
        settings: Arguments of each model.
        runs: Number of splits.
        ensemble: Number of fits of every model but GOAL whose class probabilities are averaged; None for one
            fit, whose job has no such number.
    """

    benchmark: BenchmarkData
    settings: Mapping[str, Mapping[str, Any]]
    runs: int
    ensemble: int | None = None

    @cached_property
    def jobs_by_model(self) -> dict[str, list[Job]]:
        """The fits of each model, by split."""
        return {
            model: [self._job(model, params, seed) for seed in range(self.runs)]
            for model, params in self.settings.items()
        }

    def _job(self, model: str, params: Mapping[str, Any], seed: int) -> Job:
        members = self.members(model)
        if members is None:
            return self.benchmark.job("fit", model, params, seed)
        return self.benchmark.job("averaged", model, params, seed, members=members)

    def members(self, model: str) -> int | None:
        """Return how many fits of a model are averaged; None if it is fitted once."""
        return None if model == REFERENCE else self.ensemble

    @property
    def goal_is_ensemble(self) -> bool:
        """Whether GOAL is among the models and, with its settings here, an ensemble of several models."""
        jobs = self.jobs_by_model.get(REFERENCE, [])
        return any(job.options["settings"].get("method") == ENSEMBLE for job in jobs)

    def jobs(self) -> list[Job]:
        """Return every fit of the comparison."""
        return [job for jobs in self.jobs_by_model.values() for job in jobs]

    def rows(self, store: Store) -> list[Row]:
        """Return a row for each model that has a record of every run, in the order given."""
        scores = {model: scores_of(store, jobs) for model, jobs in self.jobs_by_model.items()}
        reference = scores.get(REFERENCE)
        rows = []
        for model, known in scores.items():
            if known is None:
                continue
            test, validation, ratio = known
            difference = None
            if reference is not None and model != REFERENCE:
                difference = paired_difference(reference[0], test, ratio)
                if self.benchmark.split in ONE_SPLIT:  # one split: the test is about differences over many
                    difference = replace(difference, p=None, error=None)
            rows.append(Row(model, Summary.of(test), Summary.of(validation), difference))
        return rows


def judge(rows: Sequence[Row], metric: str, margin: float = MARGIN) -> dict[str, Verdict]:
    """Return the verdict on each model that has a difference to GOAL; the tests are adjusted together."""
    compared = [(row.model, row.difference) for row in rows if row.difference is not None]
    larger = METRICS[metric].larger_is_better
    found = verdicts([difference for _, difference in compared], margin=margin, larger_is_better=larger)
    return dict(zip([model for model, _ in compared], found, strict=True))


def scores_of(store: Store, jobs: list[Job]) -> tuple[list[float], list[float], float] | None:
    """Return test scores, validation scores, and the number of test nodes per training node.

    None if one of the fits has no record, or an undefined score.
    """
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
        difference = row.difference
        values["goal_minus_model"] = {"mean": difference.mean, "std": difference.std, "p": difference.p}
    return values


def verdict_values(verdict: Verdict | None) -> dict[str, Any]:
    """Return a verdict for JSON; None, as for GOAL itself, gives the same keys without values."""
    if verdict is None:
        return {"p_value_adjusted": None, "verdict": None, "detectable": None}
    return {"p_value_adjusted": verdict.p, "verdict": verdict.words, "detectable": verdict.detectable}
