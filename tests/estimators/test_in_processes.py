import os
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import otherhalf as oh
from otherhalf.errors import InputError
from otherhalf.estimators import in_processes
from otherhalf.estimators.estimate import Estimate
from otherhalf.estimators.in_processes import MembersInProcesses, memory_of_processes, worthwhile_processes
from otherhalf.estimators.members.fitting import members_fitted_by
from otherhalf.system.threads import SMALL

SETTINGS = {"seed": 0, "epochs": 8, "patience": 8}
LONG = Estimate(60.0, 300.0, 1_000_000_000, 1_000, 5_000)


@pytest.fixture(scope="module", autouse=True)
def two_threads():
    """Trainings of a small graph take one of them, here and elsewhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def graph():
    return oh.load("csbm:nodes=120,classes=2,features=8,seed=0")


@pytest.fixture(scope="module")
def split(graph):
    return oh.split(graph, seed=0)


@pytest.fixture(scope="module")
def alone(graph, split):
    return oh.GOALClassifier(**SETTINGS).fit(graph, split)


def fit(graph, split, others, **options):
    with others, members_fitted_by(others):
        return oh.GOALClassifier(**SETTINGS).fit(graph, split, **options)


def assert_equal(model, other, graph):
    assert np.array_equal(model.predict_proba(graph), other.predict_proba(graph))
    rows = [
        [(row.member, row.validation, row.weight) for row in each.leaderboard_] for each in (model, other)
    ]
    assert rows[0] == rows[1]
    assert list(model.history_) == list(other.history_)


def test_a_fit_in_processes_is_the_fit_in_one(graph, split, alone, tmp_path):
    steps = []
    model = fit(graph, split, MembersInProcesses(2), on_step=lambda *step: steps.append(step))
    assert_equal(model, alone, graph)
    assert {stage for stage, _, _ in steps if stage.startswith("member-")}
    assert all(0 <= done <= total for _, done, total in steps)


def test_a_member_whose_process_dies_is_fitted_here(graph, split, alone):
    others = MembersInProcesses(1)
    done = []

    def kill_one(stage, count, total):
        busy = others._workers._busy if others._workers else []
        if busy and not done:
            done.append(busy[0].process.pid)
            os.kill(done[0], signal.SIGKILL)

    model = fit(graph, split, others, on_step=kill_one)
    assert done
    assert_equal(model, alone, graph)


@pytest.mark.parametrize("error", [OSError("too many processes"), EOFError(), InputError("no folder")])
def test_where_no_process_can_start_all_is_fitted_here(graph, split, alone, monkeypatch, error):
    def refuse_to_start(*arguments):
        raise error

    monkeypatch.setattr("otherhalf.system.workers.start_server", refuse_to_start)
    monkeypatch.setattr(in_processes, "start_server", refuse_to_start)
    assert_equal(fit(graph, split, MembersInProcesses(2)), alone, graph)


def test_an_error_is_raised_here():
    """A worker says nothing of it: where it is met again, its cause is known, and somebody sees it."""
    with (
        MembersInProcesses(2) as others,
        pytest.raises(InputError, match=f"the view has 7 nodes, and here is {os.getpid()}"),
    ):
        list(others(GRAPHLESS, [refuse, refuse]))


def refuse(view):
    """Fail to fit a member, in any process."""
    raise InputError(f"the view has {view.graph.num_nodes} nodes, and here is {os.getpid()}")


GRAPHLESS = SimpleNamespace(graph=SimpleNamespace(num_nodes=7))


def test_a_fit_that_was_stopped_goes_on(graph, split, alone, tmp_path):
    """The trainings keep their state wherever they run."""

    class Enough(Exception):
        pass

    def stop(stage, done, total):
        if stage.startswith("member-") and any(tmp_path.glob("member-*")):
            raise Enough

    with pytest.raises(Enough):
        fit(graph, split, MembersInProcesses(2), checkpoints=tmp_path, on_step=stop)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept
    assert_equal(fit(graph, split, MembersInProcesses(2), checkpoints=tmp_path), alone, graph)


def test_processes_are_for_small_graphs_that_take_a_while(graph, monkeypatch):
    free = 10_000_000_000
    monkeypatch.setattr(in_processes, "available_bytes", lambda: free)
    assert worthwhile_processes(graph, LONG, 4) == 4
    assert worthwhile_processes(graph, LONG, 1) == 1
    assert worthwhile_processes(graph, replace(LONG, nodes=SMALL), 4) == 1
    assert worthwhile_processes(graph, replace(LONG, seconds=5.0), 4) == 1
    assert worthwhile_processes(graph, replace(LONG, seconds=None), 4) == 1
    for count in (2, 3):
        tight = replace(LONG, memory=free - memory_of_processes(graph, count))
        assert worthwhile_processes(graph, tight, 4) == count
    assert worthwhile_processes(graph, replace(LONG, memory=free - memory_of_processes(graph, 2) + 1), 4) == 1
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])  # Windows
    assert worthwhile_processes(graph, LONG, 4) == 1


def test_no_process_is_left(graph, split):
    others = MembersInProcesses(2)
    pids = set()

    def remember(stage, done, total):
        if others._workers:
            pids.update(each.process.pid for each in [*others._workers._busy, *others._workers._idle])

    fit(graph, split, others, on_step=remember)
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
