"""``compare``: any graph, any models, the same splits and the same number of trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otherhalf.data.entries import catalogue_name
from otherhalf.data.splits import published_splits
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.experiments.comparison import Comparison, Row, row_values
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.models import title_of
from otherhalf.experiments.statistics import p_value
from otherhalf.experiments.table import Table, best_in_bold
from otherhalf.experiments.tuning.search import check_runs, search, search_seeds
from otherhalf.experiments.tuning.tuned import packaged_settings, params_of, read_tuned
from otherhalf.experiments.workbench import Workbench
from otherhalf.graph import Graph
from otherhalf.training.metrics import METRICS, check_metric


@dataclass(frozen=True)
class Compared:
    """The result of a comparison."""

    comparison: Comparison
    rows: list[Row]
    settings_from: Mapping[str, str]

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
            runs = f"{self.comparison.runs} run(s) on the public split"
        return f"{benchmark.data}: {METRICS[benchmark.metric].title}, {runs}"

    @property
    def _one_split(self) -> bool:
        return self.comparison.benchmark.split == "public"

    def values(self) -> dict[str, Any]:
        """Return the comparison for JSON: ``rows`` of the models with scores, and the ``missing`` models."""
        benchmark = self.comparison.benchmark
        rows = []
        for row in self.rows:
            settings = {"settings": dict(self.comparison.settings[row.model])}
            rows.append({**row_values(row), **settings, "settings_from": self.settings_from[row.model]})
        about = {"name": benchmark.data, "split": benchmark.split, "metric": benchmark.metric}
        return {**about, "rows": rows, "missing": self.missing}

    def table(self) -> Table:
        """Return the models, best first, and the difference of GOAL to each if GOAL is among them."""
        with_goal = any(row.difference is not None for row in self.rows)
        table = Table(["", "test", "validation", *(["GOAL minus it", "p"] if with_goal else []), "settings"])
        quality = self.comparison.benchmark.quality
        rows = sorted(self.rows, key=lambda row: -quality(row.test.mean))
        tests = best_in_bold([str(row.test) for row in rows], [quality(row.test.mean) for row in rows])
        for row, test in zip(rows, tests, strict=True):
            cells = [title_of(row.model), test, f"{100 * row.validation.mean:.2f}"]
            if with_goal:
                cells += _difference_cells(row)
            table.add(*cells, self.settings_from[row.model])
        note = "In percent, mean ± standard deviation (ddof 1)."
        if self._one_split:
            note += " All runs are on one split: the result says nothing about other splits."
        elif with_goal:
            note += (
                " p: corrected resampled t-test of the paired differences, not adjusted for the number of "
                "comparisons."
            )
        table.notes = [note]
        if self.missing:
            left_out = ", ".join(title_of(model) for model in self.missing)
            table.notes.append(f"Left out, because there is not a score for every split: {left_out}.")
        return table


def _difference_cells(row: Row) -> list[str]:
    if row.difference is None:  # GOAL itself
        return ["", ""]
    p = row.difference.p
    return [f"{100 * row.difference.mean:+z.2f}", "" if p is None else p_value(p, 3)]


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
) -> Compared:
    """Fit every model on the same splits and compare the scores.

    Args:
        graph: The graph.
        models: Names of models, as in :func:`~otherhalf.experiments.runner.models.title_of`.
        workbench: Runs the fits and keeps their records.
        runs: Number of splits; their seeds are 0, 1, ….
        split: Protocol of the splits.
        budget: Number of settings to try for each model, on the validation nodes of splits that are not
            reported (of published splits: the first ones). With 0, a data set of the catalogue has the
            settings that come with the package, and any other graph the defaults of each model.
        metric: Name of the metric; a data set of the catalogue has the metric of the catalogue.
        settings_folder: Folder of the settings that `otherhalf search` wrote; default: that of the package.
    """
    check_metric(metric, graph.num_classes)
    available = _check_splits(graph, split, runs)
    benchmark = BenchmarkData.of(graph, split, metric)
    if not workbench.graphs.has(benchmark.data, benchmark.data_hash):
        workbench.graphs.put(graph, benchmark.data_hash)
    if budget:
        pairs = [(model, benchmark) for model in models]
        seeds = search_seeds(split, available)
        choices = search(pairs, workbench.store, workbench.run, trials=budget, seeds=seeds)
        settings = {model: choice.params for model, choice in zip(models, choices, strict=True)}
        origin = dict.fromkeys(models, f"best of {budget}")
    else:
        folder = settings_folder or packaged_settings(split)
        tuned = read_tuned(benchmark.data, folder) if catalogue_name(graph) else {}
        settings = params_of(models, tuned)
        origin = {model: "tuned before" if model in tuned else "defaults" for model in models}
    comparison = Comparison(benchmark, settings, runs)
    workbench.run(comparison.jobs())
    return Compared(comparison, comparison.rows(workbench.store), origin)


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
