import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.runner import executor
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.run import Finished, Planned, Reused, Started, run
from otherhalf.experiments.runner.store import Store

ROOT = Path(__file__).parents[3]


def job(seed=0, model="gcn", **options):
    return Job("toy", "cora", "h", model, options, "", seed)


def toy(one):
    """A result that depends on the job alone."""
    if one.options.get("fail"):
        raise InputError("this data set has no fixed splits: choose another protocol")
    time.sleep(one.options.get("seconds", 0))
    return {"test": random.Random(one.key).random(), "many": [one.seed] * 500}


def many(count=20):
    return [job(i, "gcn" if i % 2 else "mlp", seconds=0.08) for i in range(count)]


def recording(order, quick=False):
    """Return an executor that appends each job to ``order``, and does it unless it is to be quick."""

    def execute(jobs, work, workers, threads, on_start=None):
        for one in jobs:
            order.append((one.model, one.seed))
            yield one, Outcome({} if quick else work(one), 1.0, 1.0, threads)

    return execute


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The results of a run without interruptions."""
    store = Store(tmp_path_factory.mktemp("undisturbed"))
    run(many(), store, toy, workers=0)
    return store


@pytest.fixture(autouse=True)
def quick_start(monkeypatch):
    """The jobs of these tests need no torch."""
    monkeypatch.setattr(executor, "PRELOAD", ["otherhalf.experiments.runner.executor", "numpy", "pytest"])


def test_nothing_is_run_twice(store):
    jobs = [job(i) for i in range(4)]
    order = []
    run([*jobs[:2], jobs[0]], store, toy, workers=1, executor=recording(order))
    assert order == [("gcn", 0), ("gcn", 1)]
    run(jobs, store, toy, workers=1, executor=recording(order))
    assert order[2:] == [("gcn", 2), ("gcn", 3)]
    run(jobs, store, toy, workers=1, executor=recording(order))
    assert len(order) == 4


def test_another_configuration_is_run(store):
    run([job(0, lr=0.1)], store, toy, workers=0)
    order = []
    run([job(0, lr=0.2)], store, toy, workers=1, executor=recording(order))
    assert order == [("gcn", 0)]


def test_processes_give_the_same_as_this_process(store, tmp_path):
    other = Store(tmp_path / "other")
    run(many(6), store, toy, workers=0)
    run(many(6), other, toy, workers=2)
    assert [other.get(one).result for one in many(6)] == [store.get(one).result for one in many(6)]


def test_a_failed_job_is_returned_and_tried_again(store):
    ((failed, outcome),) = run([job(0), job(1, fail=True), job(2)], store, toy, workers=0)
    assert failed == job(1, fail=True)
    assert outcome.message == "this data set has no fixed splits: choose another protocol"
    assert [store.has(each) for each in (job(0), failed, job(2))] == [True, False, True]
    assert len(run([failed], store, toy, workers=0)) == 1


def test_the_unknown_and_the_longest_come_first(store):
    for model, seconds in (("mlp", 1.0), ("gat", 30.0), ("gcn", 5.0)):
        for extra in (-0.5, 0.5):
            store.add(job(99, model, extra=extra), Outcome({}, seconds + extra, 1.0, 1))
    order = []
    jobs = [job(seed, model) for seed in (0, 1) for model in ("mlp", "gcn", "goal", "gat")]
    run(jobs, store, toy, workers=2, executor=recording(order))
    assert order == [(model, seed) for model in ("goal", "gat", "gcn", "mlp") for seed in (0, 1)]


def test_events(store):
    run([job(0)], store, toy, workers=0)
    events = []

    def on_event(event):
        events.append(event)
        if isinstance(event, Finished) and event.outcome.done:
            assert store.has(event.job)  # it is recorded before the event

    run([job(0), job(1), job(2, fail=True)], store, toy, workers=0, on_event=on_event)
    planned = events[0]
    assert isinstance(planned, Planned)
    assert (planned.jobs, planned.reused) == ([job(1), job(2, fail=True)], [job(0)])
    assert planned.estimates.of(job(1)) is not None
    assert planned.estimates.of(job(1, "unknown")) is None
    assert [type(event) for event in events[1:]] == [Started, Finished] * 2
    assert [event.outcome.kind for event in events if isinstance(event, Finished)] == ["done", "input"]


def test_a_store_that_cannot_be_written_stops_everything(store, monkeypatch):
    closed, started = [], []

    def execute(jobs, work, workers, threads, on_start=None):
        try:
            for one in jobs:
                started.append(one.seed)
                yield one, Outcome(work(one), 1.0, 1.0, threads)
        finally:
            closed.append(True)

    run([job(0)], store, toy, workers=0)

    def full(handle):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="free some space and start again"):
            run([job(i) for i in range(5)], store, toy, workers=1, executor=execute)
    assert (closed, started) == ([True], [1])
    assert [record.job.seed for record in store.records()] == [0]


def test_a_folder_that_cannot_be_written_to_is_an_error_before_anything_runs(tmp_path):
    (tmp_path / "file").touch()
    order = []
    with pytest.raises(InputError, match="no folder that can be written to"):
        run([job()], Store(tmp_path / "file" / "x"), toy, workers=1, executor=recording(order))
    assert order == []


@pytest.mark.parametrize("wrong", [{"workers": -1}, {"threads": 0}])
def test_too_few_workers_or_threads(store, wrong):
    with pytest.raises(InputError, match="too small"):
        run([job()], store, toy, **wrong)


@pytest.mark.parametrize(("cores", "threads", "workers"), [(8, 1, 8), (8, 3, 2), (2, 4, 1), (None, 1, 1)])
def test_workers_fill_the_cores(store, monkeypatch, cores, threads, workers):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    events = []
    run([job()], store, toy, threads=threads, executor=recording([]), on_event=events.append)
    assert events[0].workers == workers


RUN = """
import sys
from otherhalf.experiments.runner import executor
from otherhalf.experiments.runner import run as runner
from otherhalf.experiments.runner import store
from tests.experiments.runner import test_run

executor.PRELOAD = ["otherhalf.experiments.runner.executor"]
runner.run(test_run.many(), store.Store(sys.argv[1]), test_run.toy, workers=int(sys.argv[2]))
"""


def start_runner(folder, workers=2):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-c", RUN, str(folder), str(workers)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def count_lines(store):
    return sum(path.read_bytes().count(b"\n") for path in store.folder.glob("*/*/*.jsonl"))


def test_a_runner_that_is_killed_repeatedly_gets_the_same_results(store, undisturbed):
    delays = random.Random(0)
    kills = 0
    for _ in range(60):
        before = len(store.records())
        process = start_runner(store.folder)
        # A random time after its first record, so that every attempt adds something.
        while process.poll() is None and len(store.records()) == before:
            time.sleep(0.005)
        time.sleep(delays.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        kills += 1
    assert process.returncode == 0
    assert kills >= 2
    assert count_lines(store) == len(many()) == len({record.key for record in store.records()})
    for one in many():
        assert store.get(one).result == undisturbed.get(one).result
    order = []
    run(many(), store, toy, workers=1, executor=recording(order))
    assert order == []


def test_two_runners_at_the_same_time_get_the_same_results(store, undisturbed):
    processes = [start_runner(store.folder) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert {record.key for record in store.records()} == {one.key for one in many()}
    assert count_lines(store) == len(many())  # no run was done twice
    for one in many():
        assert store.get(one).result == undisturbed.get(one).result


def test_children_end_when_the_store_is_full(store, monkeypatch):
    sleepers = [job(i, seconds=30) for i in range(1, 3)]

    def full(*values):
        raise InputError("full")

    monkeypatch.setattr(store, "add", full)
    start = time.monotonic()
    with pytest.raises(InputError, match="full"):
        run([job(0), *sleepers], store, toy, workers=3, executor=run_jobs)
    assert time.monotonic() - start < 15


def test_two_processes_share_the_jobs(store, undisturbed):
    """Each run is done once, and both have every record in the end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = len(run(many(), store, toy, workers=0))
        finally:
            os._exit(status)
    done = []
    run(many(), store, toy, workers=0, on_event=lambda event: done.append(event))
    assert [store.get(one).result for one in many()] == [undisturbed.get(one).result for one in many()]
    assert os.waitpid(child, 0)[1] == 0
    lines = [line for path in store.folder.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert len(lines) == 20
    assert not (store.folder / ".claims").exists()
    reused, finished = ([event for event in done if isinstance(event, kind)] for kind in (Reused, Finished))
    assert len(reused) + len(finished) + len(done[0].reused) == 20
    assert reused


def test_the_job_of_a_process_that_dies_is_taken_over(store):
    child = os.fork()
    if child == 0:
        begin = store.folder.with_name("begun").touch
        run([job(0, seconds=60)], store, lambda one: begin() or toy(one), workers=0)
        os._exit(0)
    while not store.folder.with_name("begun").exists():
        time.sleep(0.01)
    order = []
    killer = threading.Timer(0.3, os.kill, [child, signal.SIGKILL])
    killer.start()
    run([job(0, seconds=60)], store, toy, workers=1, executor=recording(order, quick=True))
    os.waitpid(child, 0)
    assert order == [("gcn", 0)]
