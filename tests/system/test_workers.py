import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from otherhalf.system.threads import THREAD_VARIABLES
from otherhalf.system.workers import Answered, Died, Told, Workers, start_server, tell_parent

PRELOAD = ("numpy", "pytest")


def toy(item):
    """Do what the item says, in a worker."""
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "leave":
        os._exit(3)
    if item == "raise":
        raise KeyError(item)
    for count in range(item if isinstance(item, int) else 0):
        tell_parent(("step", count))
    return item, os.getpid()


def test_a_worker_tells_and_answers():
    with Workers(toy, 2, 1, PRELOAD) as workers:
        events = list(workers.do([0, 2]))
    assert [event.value for item, event in events if isinstance(event, Told)] == [("step", 0), ("step", 1)]
    answers = {item: event.value[0] for item, event in events if isinstance(event, Answered)}
    assert answers == {0: 0, 2: 2}


def test_workers_stay_from_one_call_to_the_next_until_the_block_ends():
    with Workers(toy, 1, 1, PRELOAD) as workers:
        (_, first), (_, second) = workers.do(["a", "b"])
        ((_, third),) = workers.do(["c"])
        assert first.value[1] == second.value[1] == third.value[1] != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(first.value[1], 0)


@pytest.mark.parametrize(("item", "status"), [("die", -signal.SIGKILL), ("leave", 3), ("raise", 1)])
def test_a_worker_that_dies_fails_its_item_only(item, status):
    with Workers(toy, 2, 1, PRELOAD) as workers:
        events = dict(workers.do(["a", item, "b", "c"]))
    assert isinstance(events[item], Died)
    assert events[item].status == status
    assert 0 <= events[item].seconds < 60
    assert [events[name].value[0] for name in "abc"] == ["a", "b", "c"]


def test_what_is_sent_needs_no_shared_memory():
    """Torch would pass a tensor through a file of shared memory, which a container may not have."""
    import torch

    tensor = torch.arange(1_000_000)
    with Workers(twice, 1, 1, ("numpy", "torch")) as workers:
        ((_, answer),) = workers.do([tensor])
    assert np.array_equal(answer.value[0], 2 * tensor)
    assert answer.value[1] == []


def twice(tensor):
    """Return the double, and the shared memory that this process has."""
    with open("/proc/self/maps") as maps:
        return 2 * tensor, [line for line in maps if "/dev/shm/torch" in line]


def test_the_environment_is_as_before():
    before = dict(os.environ)
    start_server(3, PRELOAD)
    assert dict(os.environ) == before
    with Workers(environment, 1, 3, PRELOAD) as workers:
        ((_, answer),) = workers.do(["?"])
    assert answer.value == dict.fromkeys(THREAD_VARIABLES, "3")


def environment(item):
    """Return the number of threads of this process."""
    return {name: os.environ.get(name) for name in THREAD_VARIABLES}


def test_elsewhere_nobody_is_told():
    tell_parent("nothing happens")


LOST_PARENT = """
from contextlib import nullcontext
from otherhalf.system.workers import _serve

class Pipe(nullcontext):
    send_bytes = print

    def recv_bytes(self):
        raise {error}

_serve(Pipe(), None, 1)
"""


@pytest.mark.parametrize("error", ["EOFError", "ConnectionResetError", "BrokenPipeError"])
def test_a_worker_that_loses_its_parent_is_silent(error):
    code = LOST_PARENT.format(error=error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
