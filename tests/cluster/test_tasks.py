import os
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.ray_nodes import RAY, wait_until

from otherhalf.cluster import tasks as module
from otherhalf.cluster.tasks import ATTEMPTS, Lost
from otherhalf.cluster.versions import own_versions
from otherhalf.errors import InputError, RunsFailed

pytestmark = RAY


def work(what, value=None):
    """Everything that a call can do to its process."""
    if what == "input":
        raise InputError("no such thing: choose another")
    if what == "die":
        os._exit(7)
    if isinstance(what, str):  # a file: leave a note, and wait until there is another
        note = Path(what, f"{os.getpid()}-{time.monotonic_ns()}")
        note.touch()
        while not Path(what, "go").exists():
            time.sleep(0.05)
        return what
    return what, os.getpid(), None if value is None else int(value.sum())


def test_calls_run_in_order_with_a_value_that_is_put_once(tasks):
    made = []

    def make():
        made.append(1)
        return np.arange(100_000)

    started = []
    ended = dict(
        tasks.run(
            work,
            range(6),
            lambda item: (item, tasks.share("numbers", make)),
            at_once=2,
            on_start=started.append,
        )
    )
    assert {item: (what, total) for item, (what, _, total) in ended.items()} == {
        item: (item, 4_999_950_000) for item in range(6)
    }
    assert os.getpid() not in {pid for _, pid, _ in ended.values()}
    assert started == list(range(6))
    assert made == [1]
    assert tasks.slots(1) == 3
    assert tasks.slots(2) == 0


def test_an_error_of_a_call_arrives_as_it_is(tasks):
    with pytest.raises(InputError, match="no such thing: choose another"):
        list(tasks.map(work, ["input"], lambda item: (item,)))


def cut_off_once(path):
    """Fail as a worker does that loses its connection to Ray; at the second time, do not."""
    if not Path(path).exists():
        Path(path).touch()
        raise OSError("Broken pipe")
    return "done"


def test_a_call_that_loses_its_connection_is_done_again(tasks, tmp_path):
    path = str(tmp_path / "tried")
    assert list(tasks.map(cut_off_once, [path], lambda item: (item,))) == [(path, "done")]


def test_a_call_whose_worker_dies_each_time_is_lost_and_no_other(tasks):
    ended = dict(tasks.run(work, [1, "die", 2], lambda item: (item,), at_once=2))
    assert isinstance(ended["die"], Lost)
    assert "died" in ended["die"].message
    assert ended[1][0] == 1
    assert ended[2][0] == 2
    with pytest.raises(RunsFailed, match=rf"lost {ATTEMPTS} times"):
        list(tasks.map(work, ["die"], lambda item: (item,)))


def test_a_node_that_is_killed_costs_only_what_it_ran(nodes, tasks, tmp_path):
    folders = [str(tmp_path / name) for name in "abc"]
    for folder in folders:
        os.mkdir(folder)
    ended = {}
    with closing(tasks.run(work, folders, lambda item: (item,), at_once=3)) as running:
        # All three are asked for when the first result is: a thread waits for them, and kills a node.
        from threading import Thread

        def kill_and_go():
            wait_until(lambda: all(os.listdir(folder) for folder in folders))
            pids = [name.partition("-")[0] for folder in folders for name in os.listdir(folder)]
            nodes.kill_one()
            wait_until(lambda: not all(Path("/proc", pid).exists() for pid in pids))
            for folder in folders:
                Path(folder, "go").touch()

        thread = Thread(target=kill_and_go)
        thread.start()
        for item, result in running:
            ended[item] = result
        thread.join()
    assert ended == {folder: folder for folder in folders}
    notes = [len(list(Path(folder).glob("*-*"))) for folder in folders]
    assert sorted(notes) == [1, 1, 2]  # the call of the dead node, and no other, was made again


def test_a_worker_with_another_version_is_refused(tasks, monkeypatch):
    monkeypatch.setattr(tasks, "_versions", {**own_versions(), "otherhalf": "9.9"})
    with pytest.raises(
        InputError,
        match=r"the worker on .* has otherhalf .*, and this process has otherhalf 9.9",
    ):
        list(tasks.run(work, [1], lambda item: (item,), at_once=1))


def test_where_no_machine_is_large_enough(tasks, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LOOKS", 0.3)
    with pytest.raises(InputError, match=r"no machine of the Ray cluster has 2 free processor\(s\)"):
        list(tasks.run(work, [1], lambda item: (item,), at_once=1, threads=2))


def test_closing_ends_the_calls(tasks, tmp_path):
    ended = tasks.run(work, [1, str(tmp_path)], lambda item: (item,), at_once=2)
    with closing(ended):
        assert next(ended)[0] == 1
        wait_until(lambda: os.listdir(tmp_path))
        (note,) = os.listdir(tmp_path)
    wait_until(lambda: not Path("/proc", note.partition("-")[0]).exists())
