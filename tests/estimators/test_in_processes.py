import os
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import otherhalf as oh
from otherhalf.errors import InputError
from otherhalf.estimators import in_processes
from otherhalf.estimators.estimate import Estimate
from otherhalf.estimators.in_processes import MOST_PROCESSES, MembersInProcesses, with_processes
from otherhalf.estimators.members import boosted
from otherhalf.estimators.members.fitting import members_fitted_by
from otherhalf.estimators.memory import member_need
from otherhalf.nn.memory import Sizes
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


@pytest.fixture
def fitted_here(monkeypatch):
    """Return the parts of boosted trees that this process fits, by their number: a worker's are not seen."""
    seen, usual = [], boosted.fit_boosted_trees

    def watched(*arguments, **options):
        seen.append(arguments[3])
        return usual(*arguments, **options)

    monkeypatch.setattr(boosted, "fit_boosted_trees", watched)
    return seen


def test_a_fit_in_processes_is_the_fit_in_one(graph, split, alone, fitted_here):
    steps = []
    others = MembersInProcesses(2)
    model = fit(graph, split, others, on_step=lambda *step: steps.append(step))
    assert_equal(model, alone, graph)
    assert fitted_here == []
    assert others.processes == 2
    assert {stage for stage, _, _ in steps if stage.startswith("member-")}
    assert all(0 <= done <= total for _, done, total in steps)


def test_where_a_process_dies_the_rest_is_done_here(graph, split, alone):
    others = MembersInProcesses(2)
    done = []

    def kill_one(stage, count, total):
        busy = others._workers._busy if others._workers else []
        if busy and not done:
            done.append(busy[0].process.pid)
            os.kill(done[0], signal.SIGKILL)

    model = fit(graph, split, others, on_step=kill_one)
    assert done
    assert others.processes == 1
    assert_equal(model, alone, graph)


@pytest.mark.parametrize("error", [OSError("too many processes"), EOFError(), InputError("no folder")])
def test_where_no_process_can_start_all_is_fitted_here(graph, split, alone, monkeypatch, fitted_here, error):
    steps = []

    def refuse_to_start(*arguments):
        raise error

    monkeypatch.setattr("otherhalf.system.workers.start_server", refuse_to_start)
    monkeypatch.setattr(in_processes, "start_server", refuse_to_start)
    model = fit(graph, split, MembersInProcesses(2), on_step=lambda *step: steps.append(step[0]))
    assert_equal(model, alone, graph)
    assert len(fitted_here) == 5
    assert any(stage.startswith("member-") for stage in steps)


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
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.safetensors")}
    assert kept
    torch.set_num_threads(3)
    try:
        with pytest.raises(InputError, match="continue it with --threads 2, or start without --resume"):
            fit(graph, split, MembersInProcesses(2), checkpoints=tmp_path)
    finally:
        torch.set_num_threads(2)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.safetensors")} == kept
    steps = []
    model = fit(
        graph, split, MembersInProcesses(2), checkpoints=tmp_path, on_step=lambda *step: steps.append(step)
    )
    assert_equal(model, alone, graph)


@pytest.fixture
def counted(graph, split, monkeypatch):
    """Return the number of processes of an executor and an estimate, with four threads on eight cores."""
    monkeypatch.setattr("torch.get_num_threads", lambda: 4)
    monkeypatch.setattr(in_processes, "_cores", lambda: 8)
    monkeypatch.setattr(in_processes, "available_bytes", lambda: FREE)

    def count(executor, estimate, **settings):
        model = oh.GOALClassifier(**settings)
        return with_processes(executor, model, graph, split, estimate).processes

    return count


FREE = 10_000_000_000


def test_processes_are_for_small_graphs_that_take_a_while(counted, monkeypatch):
    assert counted(None, LONG) == 4
    assert counted(None, replace(LONG, nodes=SMALL)) == 1
    assert counted(None, replace(LONG, seconds=5.0)) == 1
    assert counted(None, replace(LONG, seconds=None)) == 1
    assert counted("ray", LONG) == 1
    monkeypatch.setattr("torch.get_num_threads", lambda: 1)
    assert counted(None, LONG) == 1
    monkeypatch.setattr("torch.get_num_threads", lambda: 64)
    monkeypatch.setattr(in_processes, "available_bytes", lambda: 10 * FREE)
    assert counted(None, LONG) == MOST_PROCESSES
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])  # Windows
    assert counted(None, LONG) == counted("processes", LONG) == 1


def test_processes_that_are_asked_for_are_as_many_as_the_cores_allow(counted):
    assert counted("processes", replace(LONG, seconds=5.0)) == 8
    assert counted("processes", replace(LONG, nodes=SMALL)) == 2
    assert counted("processes", LONG, method="embedding") == 1


def test_what_is_announced_fits_into_the_memory(graph, split, counted, monkeypatch):
    model = oh.GOALClassifier()
    for free in range(2_000_000_000, 4_000_000_000, 100_000_000):
        monkeypatch.setattr(in_processes, "available_bytes", lambda free=free: free)
        shared = with_processes(None, model, graph, split, LONG)
        assert shared.memory <= free
        assert shared.memory > LONG.memory or shared.processes == 1
    assert shared.processes > 1


def test_a_process_has_room_for_the_largest_training():
    """Of ACM-GCN+ on many columns the weights and Adam's state are larger than the graph."""
    few, many = (
        member_need(Sizes.of(given, 1000), oh.GOALClassifier().resolved_settings())
        for given in (graph_of(100), graph_of(100_000))
    )
    weights = 6 * 64 * 99_900 * 4 * 4  # of two layers of three maps; with gradients, and two moments of Adam
    assert many - few > weights / 2


def graph_of(columns):
    """Return a graph with few entries in this many columns."""
    x = sp.random(3000, columns, density=1e-4, format="csr", dtype=np.float32, random_state=0)
    return oh.Graph(edges=np.array([[0, 1], [1, 2]]), x=x, y=np.arange(3000) % 3)


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
