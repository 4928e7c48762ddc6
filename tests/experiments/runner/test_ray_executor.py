import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.experiments.runner.test_executor import ROOT, descendants, gone, job, toy, wait_until
from tests.ray_nodes import RAY, three_nodes

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.runner import ray_executor
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.executor import executor_named, run_jobs
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.ray_executor import RayExecutor, attempt_on
from otherhalf.experiments.runner.run import run
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.tasks import Worker

pytestmark = RAY

GRAPH = replace(contextual_sbm(90, 3, 5, homophily=0.9, signal=4.0, seed=2), name="mine")
BENCHMARK = BenchmarkData.of(GRAPH, "uniform")
QUICK = {"epochs": 5, "patience": 5, "hidden": 8}


@pytest.fixture(scope="module")
def started():
    with three_nodes() as nodes:
        yield nodes


@pytest.fixture(scope="module")
def connected(started):
    return RayExecutor(started.address)


@pytest.fixture
def executor(started, connected):
    started.ensure(3)
    return connected


def scores(outcome):
    return {name: outcome.result[name] for name in ("val", "test", "epochs", "nodes")}


def test_jobs_on_a_graph_that_the_other_machines_do_not_have(executor, tmp_path):
    graphs = GraphFolder(tmp_path)
    graphs.put(GRAPH, BENCHMARK.data_hash)
    jobs = [BENCHMARK.job("fit", model, QUICK, seed) for model in ("gcn", "mlp") for seed in (0, 1)]
    here = {one.key: outcome for one, outcome in run_jobs(jobs, Worker(graphs), 0, 1)}
    assert executor.slots(1) == 3
    started = []
    there = {}
    for one, outcome in executor(jobs, Worker(graphs), 2, 1, started.append):
        there[one.key] = outcome
        for file in tmp_path.iterdir():  # the graph was sent before the first job began
            file.unlink()
    assert {key: scores(outcome) for key, outcome in there.items()} == {
        key: scores(outcome) for key, outcome in here.items()
    }
    assert started == jobs
    assert all(outcome.threads == 1 and outcome.peak_memory_mb > 50 for outcome in there.values())


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("input", "input", "this data set has no fixed splits: choose another protocol"),
        ("crash", "crash", "KeyError: 'nothing there'"),
        ("no memory", "crash", "there was not enough memory (MemoryError), and "),
    ],
)
def test_a_job_that_fails_has_the_reason_it_has_in_a_process(executor, what, kind, message):
    outcomes = {one.seed: each for one, each in executor([job(0), job(1, what=what), job(2)], toy, 2, 1)}
    assert [outcomes[i].done for i in range(3)] == [True, False, True]
    assert outcomes[1].kind == kind
    assert outcomes[1].summary.startswith(message)


def test_a_job_that_kills_its_worker_fails_and_affects_no_other(executor):
    jobs = [job(0), job(1, what="out of memory"), job(2)]
    outcomes = {one.seed: outcome for one, outcome in executor(jobs, toy, 2, 1)}
    assert [outcomes[i].done for i in range(3)] == [True, False, True]
    assert outcomes[1].kind == "crash"
    assert "died" in outcomes[1].summary


def test_a_node_that_is_killed_in_a_sweep_loses_nothing_and_nothing_is_done_twice(
    started, executor, tmp_path
):
    notes, store = tmp_path / "notes", Store(tmp_path / "store")
    notes.mkdir()
    jobs = [job(i, what="sleep", seconds=1.5, note=str(notes)) for i in range(6)]
    ended = []

    def watch(event):
        if type(event).__name__ == "Finished":
            ended.append(event.job.key)
            if len(ended) == 1:
                wait_until(lambda: len(os.listdir(notes)) >= 3)
                started.kill_one()

    assert run(jobs, store, toy, workers=3, executor=executor, on_event=watch) == []
    assert sorted(ended) == sorted(each.key for each in jobs)
    assert all(store.has(each) for each in jobs)
    again = []
    assert run(jobs, store, toy, executor=executor, on_event=again.append) == []
    assert [len(event.jobs) for event in again] == [0]
    assert again[0].workers == 2  # as many as the cluster has left


def test_a_changed_graph_is_refused():
    other = replace(GRAPH, name="other", y=(GRAPH.y + 1) % 3)
    outcome = attempt_on(Worker(), other, BENCHMARK.job("fit", "mlp", QUICK, 0), 1)
    assert outcome.kind == "input"
    assert "has changed since the experiment was planned" in outcome.message


def test_a_ray_is_named_by_its_address(monkeypatch):
    assert executor_named("ray") == RayExecutor()
    assert executor_named("ray://auto").address.text == "auto"
    with pytest.raises(InputError, match="is no address of a Ray"):
        executor_named("ray://head")


def test_without_ray_one_sentence_names_the_extra(monkeypatch):
    def missing():
        raise InputError("Ray is not installed")

    monkeypatch.setattr(ray_executor, "check_installed", missing)
    with pytest.raises(InputError, match="Ray is not installed"):
        executor_named("ray://auto")


def test_the_slots_of_this_machine_need_no_connection(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert [RayExecutor().slots(threads) for threads in (1, 3, 9)] == [8, 2, 1]


COMMAND = """
import signal
import sys
from otherhalf.cli.signals import Stopped, end, listening
from otherhalf.experiments.runner.ray_executor import RayExecutor
from tests.experiments.runner import test_executor

jobs = [test_executor.job(i, what="sleep", note=sys.argv[1]) for i in range(4)]
sys.argv[1:] = ["compare"]
with listening():
    try:
        list(RayExecutor()(jobs, test_executor.toy, 2, 1))
    except Stopped as stopped:
        end(stopped)
"""


def test_nothing_outlives_a_command_with_a_ray_of_its_own(tmp_path):
    statuses = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"PYTHONPATH": os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])}
    processes = {}
    for number in statuses:
        notes = tmp_path / number.name
        notes.mkdir()
        processes[number] = subprocess.Popen(
            [sys.executable, "-c", COMMAND, str(notes)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    for number, status in statuses.items():
        process = processes[number]
        wait_until(lambda: len(os.listdir(tmp_path / number.name)) == 2, seconds=120)  # noqa: B023
        family = descendants(process.pid)
        assert len(family) > 4
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does: to the children too
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (status, ""), err
        if status > 0:
            assert err == "otherhalf: stopped; finished runs are kept: the same command continues\n"
        wait_until(lambda: all(map(gone, family)), seconds=30)  # noqa: B023
