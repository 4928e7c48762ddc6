from typing import ClassVar

import pytest

from otherhalf.data.entries import DATASETS
from otherhalf.errors import InputError, RunsFailed
from otherhalf.experiments import workbench as module
from otherhalf.experiments.runner import graphs as graphs_module
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.workbench import Workbench, failure


def job(seed=0, model="gcn"):
    return Job("fit", "cora", "h", model, {}, "uniform", seed)


class Graphs(GraphFolder):
    """Has every graph, and counts."""

    fetched: ClassVar[list] = []

    def fetch(self, data, data_hash):
        self.fetched.append((data, data_hash))


@pytest.fixture
def workbench(tmp_path, monkeypatch):
    """Make a workbench whose runs do nothing; ``s1=error`` is what the run with seed 1 raises."""
    monkeypatch.setattr(Graphs, "fetched", [])

    def make(**errors):
        made = Workbench(Store(tmp_path / "runs"), workers=0, graphs=Graphs())
        made.done = []

        def work(one):
            made.done.append(one.seed)
            if f"s{one.seed}" in errors:
                raise errors[f"s{one.seed}"]
            return {"test": 0.5}

        monkeypatch.setattr(module, "Worker", lambda graphs, device: work)
        return made

    return make


def test_only_jobs_without_a_record_are_run(workbench, capsys):
    one = workbench()
    one.run([job(0), job(1)])
    one.run([job(1), job(2)])
    assert one.done == [0, 1, 2]
    assert one.failed == []
    assert "1 of 2 runs already have records" in capsys.readouterr().err
    again = workbench()
    again.run([job(0), job(1), job(2)])
    assert again.done == []
    assert capsys.readouterr().err == ""  # nothing is run


def test_a_graph_is_fetched_once_before_its_runs(workbench, monkeypatch):
    one = workbench()
    one.run([job(0), job(1), job(0, "mlp")])
    assert Graphs.fetched == [("cora", "h")]
    one.run([job(0)])
    assert Graphs.fetched == [("cora", "h")]

    def absent(self, data, data_hash):
        raise InputError(f"{data} is not at hand")

    monkeypatch.setattr(Graphs, "fetch", absent)
    with pytest.raises(InputError, match="cora is not at hand"):
        one.run([job(2)])
    assert (one.done, one.failed) == ([0, 1, 0], [])


def test_this_process_reads_no_graph(workbench, data_dir, monkeypatch):
    """The worker processes read it; here it would be thrown away."""
    for name in ("open_data", "read_npz"):
        monkeypatch.setattr(graphs_module, name, lambda *_: pytest.fail("it was read"))
    one = workbench()
    one.graphs = GraphFolder()
    content = DATASETS["texas"].fingerprint
    one.run([Job("fit", "texas", content, "mlp", {}, "uniform", seed) for seed in range(2)])
    assert one.done == [0, 1]


def test_nothing_to_do(workbench):
    workbench().run([])


def test_a_job_that_failed_is_not_tried_again_by_this_workbench(workbench):
    one = workbench(s1=InputError("too few labels: label more nodes"))
    one.run([job(0), job(1)])
    one.run([job(1), job(2)])
    one.run([job(1)])
    assert one.done == [0, 1, 2]
    ((failed, outcome),) = one.failed
    assert (failed, outcome.message) == (job(1), "too few labels: label more nodes")
    another = workbench()
    another.run([job(1)])
    assert another.done == [1]


def test_wrong_input_is_an_input_error(workbench):
    one = workbench(s1=InputError("too few labels: label more nodes"))
    one.run([job(0), job(1)])
    error = failure(one.failed)
    assert isinstance(error, InputError)
    assert str(error) == (
        "1 run(s) failed, the first being gcn on cora, seed 1: too few labels: label more nodes; the others "
        "are kept"
    )


def test_a_crash_is_not_even_if_it_is_not_the_first(workbench):
    one = workbench(
        s1=InputError("too few labels: label more nodes"), s2=ZeroDivisionError("division by zero")
    )
    one.run([job(0), job(1), job(2)])
    error = failure(one.failed)
    assert isinstance(error, RunsFailed)
    assert str(error).startswith("2 run(s) failed, the first being gcn on cora, seed 1: too few labels")
    (_, crash) = one.failed
    assert isinstance(failure([crash]), RunsFailed)
    assert "seed 2: ZeroDivisionError: division by zero; the others" in str(failure([crash]))


def test_a_process_that_was_killed_is_a_crash_too():
    killed = Outcome(None, 1.0, 0.0, 1, "crash", "killed by signal 9 (out of memory?)")
    error = failure([(Job("audit", "cora", "h", "", {}, "", 3), killed)])
    assert isinstance(error, RunsFailed)
    assert "the first being audit on cora, seed 3: killed by signal 9 (out of memory?)" in str(error)


def test_another_executor(workbench):
    given = []

    def executor(jobs, work, workers, threads, on_start=None):
        given.append((workers, threads))
        return run_jobs(jobs, work, 0, threads, on_start)

    one = workbench()
    one.executor, one.workers, one.threads = executor, 3, 2
    one.run([job(0)])
    assert (given, one.done) == ([(3, 2)], [0])


def test_an_unusable_device_is_an_error_at_once(tmp_path):
    with pytest.raises(InputError, match="tpu"):
        Workbench(Store(tmp_path, "tpu"))


def test_progress_is_shown(workbench, capsys):
    one = workbench(s1=InputError("no"))
    one.run([job(0), job(1)])
    shown = capsys.readouterr().err
    assert "cora gcn seed 0: test 50.00" in shown
    assert "cora gcn seed 1: failed: no" in shown
