import pytest

from otherhalf.experiments.paper.heldout import HeldOut
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1
from otherhalf.experiments.runner.models import GOAL_DEFAULT
from otherhalf.experiments.tuning.search import Tuned, candidates
from otherhalf.experiments.tuning.tuned import PACKAGED_SETTINGS

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = HeldOut()
NODES = {"train": 6, "val": 2, "test": 2}


def test_no_graph_was_used_before():
    assert not set(ABOUT.datasets) & {*Table1.datasets, *PublishedSplits.datasets}
    assert not set(ABOUT.datasets) & {path.stem for path in PACKAGED_SETTINGS.glob("*/*.toml")}


def test_every_model_has_its_defaults(monkeypatch):
    tuned = {"gcn": Tuned({"hidden": 17}, 0.8, 8)}
    monkeypatch.setattr("otherhalf.experiments.paper.comparison_table.read_tuned", lambda *_: tuned)
    jobs = ABOUT.jobs(ABOUT.request(["dblp"]))
    fits = [job for job in jobs if job.task == "fit"]
    assert len(fits) == 27
    assert {(job.split, job.seed) for job in jobs} == {("uniform", seed) for seed in range(3)}
    for job in fits:
        default = GOAL_DEFAULT if job.model == "goal" else candidates(job.model, 1)[0]
        assert job.options["params"] == default


def test_the_table(records):
    request = ABOUT.request(["dblp", "debian_bookworm"], ["gcn", "goal"])
    comparison, _ = ABOUT.comparisons(request)
    for model, test in (("gcn", 0.7), ("goal", 0.8)):
        for job in comparison.jobs_by_model[model]:
            records.put(job, test=test + job.seed * (0.01 if model == "gcn" else 0), val=0.7, nodes=NODES)
    table = ABOUT.table(request, records)
    assert table.rows[:2] == [["GCN", "71.00 ± 1.00", "–"], ["GOAL", "**80.00 ± 0.00**", "–"]]
    assert "Directed, where the same out-neighbours are tried too: debian_bookworm;" in table.notes[1]
    assert table.notes[2] == "With defaults, because no search has been made: GCN."
    assert "GOAL is first on dblp (better than 1 of 1)." in table.notes[3]
    assert table.notes[-1].endswith("They are run once, at the end, and reported as they fall.")


def test_nothing_needs_to_be_run_before_the_page_is_made(records):
    assert ABOUT.reported(ABOUT.request(), records) == []
