"""The ablation (``tab:ablation``): GOAL without one term of its convolution, or with only one."""

from typing import Any

from otherhalf.estimators.goal import COEFFICIENT_NAMES
from otherhalf.estimators.presets import preset_settings
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import ABLATION, DATASETS, SHORT
from otherhalf.experiments.paper.summaries import means, percent_cell, summary, summary_values
from otherhalf.experiments.paper.tasks import ALONE, variants
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.results import all_results
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import Summary
from otherhalf.experiments.table import Table, best_in_bold

PARAMS = {"preset": "paper"}


class Ablation(Experiment):
    """Variants in rows, data sets in columns.

    A variant differs from GOAL only in the classifier's coefficients: the classifier is trained again, from
    the same seed, on the missing half of the GOAL run on that split.
    """

    name = "ablation"
    title = "Ablation: terms of the convolution"
    label = "tab:ablation"
    datasets = DATASETS
    runs = 5  # up to eight trainings each; variants are compared on the same half, split by split

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return one job per split, which trains all variants."""
        benchmark, seeds = BenchmarkData.named(data), range(request.runs)
        return [benchmark.job("ablation", "goal", PARAMS, seed, alone=list(ALONE)) for seed in seeds]

    def table(self, request: Request, store: Store) -> Table:
        """Return our numbers, and below them the paper's numbers and the gaps."""
        table = Table(["", *(SHORT.get(data, data) for data in request.datasets)])
        columns = []
        for data in request.datasets:
            summaries = self._summaries(data, request, store)
            cells = [percent_cell(ours, ABLATION[row][data][0]) for row, ours in summaries.items()]
            columns.append(best_in_bold(cells, means(list(summaries.values()))))
        for index, row in enumerate(ABLATION):
            table.add(row, *(column[index] for column in columns))
        table.notes = _notes(request)
        return table

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return our number, the paper's, the gap and the tried coefficients of each variant."""
        tried = variants(_base(data))
        return {
            row: {
                **summary_values(ours, ABLATION[row][data][0]),
                "coefficients": [dict(zip(COEFFICIENT_NAMES, each, strict=True)) for each in tried[row]],
            }
            for row, ours in self._summaries(data, request, store).items()
        }

    def _summaries(self, data: str, request: Request, store: Store) -> dict[str, Summary | None]:
        results = all_results(store, self.jobs_of(data, request))
        return {row: summary(results, "variants", row, "test") for row in ABLATION}


def _base(data: str) -> tuple[float, ...]:
    return preset_settings("paper", data).goal.coefficients


def _notes(request: Request) -> list[str]:
    notes = [
        "Test accuracy in percent, mean ± standard deviation (ddof 1) over "
        f"{request.runs} uniform split(s); the best mean of each column is bold. Under it the paper's number "
        "and, in brackets, ours less the paper's. GOAL is the preset `paper`; every variant is trained on "
        "the half that GOAL found, from the same seed.",
        f"A term alone is trained with the strengths {' and '.join(f'{each:g}' for each in ALONE)}, and the "
        "better on validation counts, split by split. Alone it is a mere scale of the layer, and with GOAL's "
        "own strength, which may be 0.1 or 0, the layer would learn too slowly to be judged; the paper does "
        "not say what it did.",
    ]
    same = []
    for data in request.datasets:
        base = _base(data)
        absent = [n for n, strength in zip(COEFFICIENT_NAMES, base, strict=True) if strength == 0]
        if absent:
            same.append(f"{' and '.join(absent)} on {SHORT.get(data, data)}")
    if same:
        notes.append(
            f"GOAL itself has no {', no '.join(same)}: the variant without that term is GOAL, and was not "
            "trained again; likewise, variants whose coefficients are the same have the same numbers."
        )
    return notes
