from dataclasses import replace

import pytest

from otherhalf.experiments.paper.registry import EXPERIMENTS
from otherhalf.experiments.tasks import TASKS

pytestmark = pytest.mark.usefixtures("no_data")


def test_the_experiments_of_the_paper_are_there():
    assert {experiment.label for experiment in EXPERIMENTS.values()} == {
        "",  # what is not in the paper: published splits, directed, held-out graphs, worth
        "fig:comp_homophily",
        "fig:compare different filters",
        "fig:cosine comp",
        "tab:GOAL_autotune",
        "tab:ablation",
        "tab:eigen",
        "tab:large_exp",
        "tab:node classification",
    }


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_planned_and_shown_without_data_and_records(name, records, tmp_path):
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert experiment.title
    request = experiment.request()
    request = replace(request, runs=1)
    jobs = experiment.jobs(request)
    assert jobs
    assert {job.data for job in jobs} <= set(experiment.datasets)
    assert len({job.key for job in jobs}) == len(jobs)
    assert {job.task for job in jobs} <= set(TASKS)
    table = experiment.table(request, records)
    assert "–" in table.markdown()
    assert isinstance(experiment.values(request, records), dict)
    assert experiment.figures(request, records, tmp_path / "figures") == []
