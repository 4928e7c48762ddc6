"""``compare``: any graph, any models, the same splits and the same number of trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from otherhalf.data.entries import catalogue_name
from otherhalf.data.splits import ONE_SPLIT, published_splits
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.estimators.simple_rows import SIMPLE
from otherhalf.experiments.comparison import REFERENCE, Comparison, Row, judge, row_values, verdict_values
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.models import GOAL_DEFAULT, model_name, title_of
from otherhalf.experiments.statistics import LEVEL, MARGIN, POWER, TIED, UNDECIDED, Verdict, p_value
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.experiments.tuning.search import check_runs, search, search_seeds
from otherhalf.experiments.tuning.tuned import packaged_settings, params_of, read_tuned
from otherhalf.experiments.workbench import Workbench
from otherhalf.graph import Graph
from otherhalf.system.fields import integer, number
from otherhalf.training.metrics import METRICS, check_metric


@dataclass(frozen=True)
class Compared:
    """The result of a comparison."""

    comparison: Comparison
    rows: list[Row]
    settings_from: Mapping[str, str]
    margin: float = MARGIN

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each model against GOAL; empty if GOAL is not among the models."""
        return judge(self.rows, self.comparison.benchmark.metric, self.margin)

    @property
    def missing(self) -> list[str]:
        """Models without a score on every split: a run failed, or the metric was undefined."""
        known = {row.model for row in self.rows}
        return [model for model in self.comparison.settings if model not in known]

    @property
    def title(self) -> str:
        """Title of the table."""
        benchmark = self.comparison.benchmark
        runs = f"{self.comparison.runs} {benchmark.split} split(s)"
        if self._one_split:
            runs = f"{self.comparison.runs} run(s) on the {benchmark.split} split"
        return f"{benchmark.data}: {METRICS[benchmark.metric].title}, {runs}"

    @property
    def _one_split(self) -> bool:
        return self.comparison.benchmark.split in ONE_SPLIT

    def values(self) -> dict[str, Any]:
        """Return the comparison for JSON: ``rows`` of the models with scores, and the ``missing`` models."""
        benchmark = self.comparison.benchmark
        rows = []
        for row in self.rows:
            settings = {"settings": dict(self.comparison.settings[row.model])}
            tests = verdict_values(self.verdicts.get(row.model))
            origin = {"settings_from": self.settings_from[row.model]}
            rows.append({**row_values(row), **tests, **settings, **origin})
        about = {"name": benchmark.data, "split": benchmark.split, "metric": benchmark.metric}
        options = {"ensemble": self.comparison.ensemble, "margin": self.margin}
        return {**about, **options, "rows": rows, "missing": self.missing}

    def table(self) -> Table:
        """Return the models, best first, and the difference of GOAL to each if GOAL is among them."""
        with_goal = bool(self.verdicts)
        tested = ["GOAL minus it", "adjusted p", "against GOAL"] if with_goal else []
        table = Table(["", "test", "validation", *tested, "settings"])
        quality = self.comparison.benchmark.quality
        rows = sorted(self.rows, key=lambda row: -quality(row.test.mean))
        tests = best_in_bold([str(row.test) for row in rows], [quality(row.test.mean) for row in rows])
        for row, test in zip(rows, tests, strict=True):
            cells = [self._title_of(row.model), test, f"{100 * row.validation.mean:.2f}"]
            if with_goal:
                cells += self._difference_cells(row)
            table.add(*cells, self.settings_from[row.model])
        table.notes = [note for note in self._notes() if note]
        return table

    def _title_of(self, model: str) -> str:
        members = self.comparison.members(model)
        return title_of(model) if members is None else f"{title_of(model)} ×{members}"

    def _difference_cells(self, row: Row) -> list[str]:
        if row.difference is None:  # GOAL itself
            return ["", "", ""]
        verdict = self.verdicts[row.model]
        words = verdict.words
        if words == UNDECIDED and verdict.detectable is not None:
            words += f" (detects {100 * verdict.detectable:.2f})"
        p = "" if verdict.p is None else p_value(verdict.p, 3)
        return [f"{100 * row.difference.mean:+z.2f}", p, words]

    def _notes(self) -> list[str]:
        numbers = "In percent, mean ± standard deviation (ddof 1)."
        if self._one_split:
            numbers += " All runs are on one split: the result says nothing about other splits."
        left_out = ", ".join(self._title_of(model) for model in self.missing)
        if left_out:
            left_out = f"Left out, because there is not a score for every split: {left_out}."
        return [numbers, self._note_on_tests(), self._note_on_ensembles(), left_out]

    def _note_on_tests(self) -> str:
        if self._one_split or not self.verdicts:
            return ""
        count = sum(verdict.p is not None for verdict in self.verdicts.values())
        if count == 0:
            return (
                "No model can be tested against GOAL: a test needs three or more splits, and differences "
                "that vary between them."
            )
        return (
            "Tests are against GOAL: corrected resampled t-test of the paired differences, p adjusted for "
            f"{count} comparison(s) by Holm's method. Better or worse than GOAL: adjusted p < {LEVEL}. "
            f"{TIED.capitalize()}: two one-sided tests, adjusted in the same way, show that the difference "
            f"is less than {100 * self.margin:g} percentage point(s). {UNDECIDED.capitalize()}: neither is "
            f"shown; in brackets is the smallest difference that one test at {LEVEL:.0%} detects with these "
            f"splits in {POWER:.0%} of cases."
        )

    def _note_on_ensembles(self) -> str:
        members = self.comparison.ensemble
        goal = self.comparison.goal_is_ensemble and len(self.comparison.settings) > 1
        if members is not None:
            return ("GOAL is an ensemble of several models. " if goal else "") + (
                f"×{members}: the class probabilities are the mean of {members} fits with different seeds on "
                "the same split."
            )
        if not goal:
            return ""
        return (
            "GOAL is an ensemble of several models, and the others are single models: --ensemble M gives "
            "each of them M members."
        )


def compare(
    graph: Graph,
    models: Sequence[str],
    workbench: Workbench,
    *,
    runs: int = 10,
    split: str = "uniform",
    budget: int = 0,
    metric: str = "accuracy",
    settings_folder: Path | None = None,
    ensemble: int | None = None,
    margin: float = MARGIN,
) -> Compared:
    """Fit every model on the same splits and compare the scores.

    Args:
        graph: The graph.
        models: Names of models, as in :func:`~otherhalf.experiments.runner.models.title_of`.
        workbench: Runs the fits and keeps their records.
        runs: Number of splits; their seeds are 0, 1, ….
        split: Protocol of the splits.
        budget: Number of settings to try for each model but GOAL, on the validation nodes of splits that are
            not reported (of published splits: the first ones). With 0, a data set of the catalogue has the
            settings that come with the package, and any other graph the defaults of each model.
        metric: Name of the metric; a data set of the catalogue has the metric of the catalogue.
        settings_folder: Folder of the settings that `otherhalf search` wrote; default: that of the package.
        ensemble: Number of times to fit every model but GOAL on each split, with different seeds; the class
            probabilities are averaged. Default: one fit.
        margin: Models whose scores differ by less than this are tied with GOAL.
    """
    number(0, above=True).check("margin", margin)
    if ensemble is not None:
        integer(2).check("ensemble", ensemble)
    check_metric(metric, graph.num_classes)
    available = _check_splits(graph, split, runs)
    benchmark = BenchmarkData.of(graph, split, metric)
    if not workbench.graphs.has(benchmark.data, benchmark.data_hash):
        workbench.graphs.put(graph, benchmark.data_hash)
    others = [model for model in models if model != REFERENCE]
    if budget:
        searched = [model for model in others if model not in SIMPLE]
        pairs = [(model, benchmark) for model in searched]
        seeds = search_seeds(split, available)
        choices = search(pairs, workbench.store, workbench.run, trials=budget, seeds=seeds)
        chosen = {model: choice.params for model, choice in zip(searched, choices, strict=True)}
        chosen |= {model: {} for model in others if model in SIMPLE}
        origin = {model: f"best of {budget}" if model in searched else "defaults" for model in others}
    else:
        folder = settings_folder or packaged_settings(split)
        tuned = read_tuned(benchmark.data, folder) if catalogue_name(graph) else {}
        chosen = params_of(others, tuned)
        origin = {model: "tuned before" if model_name(model) in tuned else "defaults" for model in others}
    # GOAL chooses its members by itself on each split; there is nothing to search.
    settings = {model: chosen.get(model, GOAL_DEFAULT) for model in models}
    origin |= {REFERENCE: "defaults"} if REFERENCE in models else {}
    comparison = Comparison(benchmark, settings, runs, ensemble)
    workbench.run(comparison.jobs())
    return Compared(comparison, comparison.rows(workbench.store), origin, margin)


def _check_splits(graph: Graph, split: str, runs: int) -> int | None:
    """Raise InputError if the graph does not have the splits; return how many it has, None for any number."""
    make_split(graph, split, 0)
    if split != "fixed":
        check_runs(runs)
        return None
    available = len(published_splits(graph, split))
    if runs > available:
        raise InputError(
            f"{graph.name or 'this graph'} has {available} fixed split(s), which is too few for {runs} runs: "
            f"give {available} runs or less"
        )
    return available
