"""GOAL_at (``tab:GOAL_autotune``): the four coefficients are learned with the weights.

All four start at 1, not at the preset's coefficients. Those were tuned by hand, which is what GOAL_at should
make unnecessary. Also, the zeros among them could not be unlearned: a coefficient is 5 sigmoid(θ), a start at
0 becomes 0.01, that is θ = −6.2, and Adam with lr 0.01 moves θ by about 0.01 per epoch. To raise such a
coefficient to 1, θ = −1.4, would take nearly 500 epochs of equal sign, which is all that the preset allows.
(On Chameleon, split 0, with that start α and δ end at 0.013 and below.)
"""

from statistics import mean
from typing import Any

from otherhalf.estimators.goal import COEFFICIENT_NAMES
from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import AUTOTUNE, SHORT, TABLE1
from otherhalf.experiments.paper.summaries import DASH, gap, percent_cell, summary, summary_values
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.results import all_results
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import Summary
from otherhalf.experiments.table import Table

PARAMS = {"preset": "paper"}
START = [1.0, 1.0, 1.0, 1.0]

Layers = list[dict[str, float]]


class Autotune(Experiment):
    """GOAL_at, GOAL, and the learned coefficients."""

    name = "autotune"
    title = "Learned coefficients, GOAL_at"
    label = "tab:GOAL_autotune"
    datasets = tuple(AUTOTUNE)
    runs = 5  # as in the ablation, with the same GOAL

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return one job per split: GOAL, and GOAL_at on the missing half of that GOAL."""
        benchmark, seeds = BenchmarkData.named(data), range(request.runs)
        return [benchmark.job("autotune", "goal", PARAMS, seed, start=START) for seed in seeds]

    def table(self, request: Request, store: Store) -> Table:
        """Return a row for each data set."""
        heading = "α, β, γ, δ by layer"
        table = Table(["", "GOAL_at", "paper's GOAL_at", "gap", "GOAL", "paper's GOAL", heading])
        for data in request.datasets:
            ours, goal, layers = self._read(data, request, store)
            table.add(
                SHORT.get(data, data),
                percent_cell(ours),
                f"{AUTOTUNE[data]:.2f}",
                DASH if ours is None else f"{gap(ours, AUTOTUNE[data]):+z.2f}",
                percent_cell(goal),
                f"{TABLE1['goal'][data][0]:.2f}",
                "\n".join(", ".join(f"{layer[name]:.2f}" for name in COEFFICIENT_NAMES) for layer in layers)
                or DASH,
            )
        table.notes = [
            f"Test accuracy in percent, mean ± standard deviation (ddof 1) over {request.runs} uniform "
            "split(s). GOAL: the preset `paper`, not the settings of Table 1. GOAL_at: the same on the same "
            "half with coefficients that start at 1 and are learned with the weights; gap: ours less the "
            "paper's GOAL_at. The coefficients are means over the runs, first layer first."
        ]
        return table

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return GOAL_at and GOAL, each with the paper's number, and the coefficients."""
        ours, goal, layers = self._read(data, request, store)
        return {
            "goal_at": summary_values(ours, AUTOTUNE[data]),
            "goal": summary_values(goal, TABLE1["goal"][data][0]),
            "coefficients": layers,
        }

    def _read(
        self, data: str, request: Request, store: Store
    ) -> tuple[Summary | None, Summary | None, Layers]:
        """Return the accuracies of GOAL_at and GOAL, and the mean learned coefficients of each layer."""
        results = all_results(store, self.jobs_of(data, request))
        by_layer = zip(*(result["coefficients"] for result in results or ()), strict=True)
        layers = [{name: mean(run[name] for run in runs) for name in COEFFICIENT_NAMES} for runs in by_layer]
        return summary(results, "learned", "test"), summary(results, "fixed", "test"), layers
