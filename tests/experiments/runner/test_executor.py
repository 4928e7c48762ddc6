import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.runner import executor
from otherhalf.experiments.runner.executor import EXECUTORS, executor_named, run_jobs
from otherhalf.experiments.runner.job import Job
from otherhalf.system import workers
from otherhalf.system.threads import THREAD_VARIABLES

ROOT = Path(__file__).parents[3]


def job(seed=0, **options):
    return Job("toy", "cora", "h", "gcn", options, "", seed)


def toy(one):
    """Everything that a job can do to its process."""
    what = one.options.get("what", "work")
    if "note" in one.options:
        Path(one.options["note"], str(os.getpid())).touch()
    if what == "sleep":
        time.sleep(one.options.get("seconds", 60))
    if what == "input":
        raise InputError("this data set has no fixed splits: choose another protocol")
    if what == "crash":
        raise KeyError("nothing there")
    if what in ("linger", "exit and linger"):
        threading.Thread(target=time.sleep, args=(60,)).start()
    if what.startswith("exit"):
        sys.exit(3)
    if what == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "out of memory":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "no memory":
        raise MemoryError
    if what == "nan":
        return {"test": float("nan")}
    if what == "big":
        return {"text": "x" * 2_000_000}
    if what == "hog":
        return {"size": int(np.ones(100_000_000, dtype=np.uint8).sum())}
    if what == "print":
        print("something for a person")
    environment = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    return {"seed": one.seed, "pair": (1, np.float32(0.5)), "pid": os.getpid(), "environment": environment}


@pytest.fixture(scope="module", autouse=True)
def quick_start():
    """The jobs of these tests need no torch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "PRELOAD", ["otherhalf.experiments.runner.executor", "numpy", "pytest"])
        yield


def gone(pid):
    """Return whether a process has ended; a zombie has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)


def test_a_fixed_number_of_processes_does_one_job_after_the_other():
    before = dict(os.environ)
    outcomes = {one.seed: outcome for one, outcome in run_jobs([job(i) for i in range(5)], toy, 2, 3)}
    assert sorted(outcomes) == [0, 1, 2, 3, 4]
    assert all(outcome.done and outcome.threads == 3 for outcome in outcomes.values())
    assert [outcomes[i].result["seed"] for i in range(5)] == [0, 1, 2, 3, 4]
    assert outcomes[0].result["pair"] == [1, 0.5]
    assert outcomes[0].result["environment"] == dict.fromkeys(THREAD_VARIABLES, "3")
    pids = {outcome.result["pid"] for outcome in outcomes.values()}
    assert len(pids) == 2
    assert os.getpid() not in pids
    assert all(map(gone, pids))
    assert dict(os.environ) == before


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_process_that_dies_while_idle_is_replaced():
    with closing(run_jobs([job(0), job(1)], toy, 1, 1)) as outcomes:
        pid = next(outcomes)[1].result["pid"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{pid}").exists())  # not even a zombie
        _, outcome = next(outcomes)
    assert outcome.done
    assert outcome.result["pid"] != pid


def test_an_executor_has_a_name():
    assert executor_named("processes") is run_jobs
    assert list(EXECUTORS) == ["processes", "ray"]
    with pytest.raises(InputError, match="there is no executor 'threads': choose one of processes, ray"):
        executor_named("threads")


def test_without_workers_the_jobs_run_in_this_process():
    started = []
    outcomes = list(run_jobs([job(0), job(1, what="crash"), job(2)], toy, 0, 1, started.append))
    assert [outcome.kind for _, outcome in outcomes] == ["done", "crash", "done"]
    assert outcomes[0][1].result["pid"] == os.getpid()
    assert [one.seed for one in started] == [0, 1, 2]


def test_torch_has_the_number_of_threads():
    import torch

    before = torch.get_num_threads()
    try:
        ((_, outcome),) = run_jobs([job()], lambda one: {"threads": torch.get_num_threads()}, 0, 2)
    finally:
        torch.set_num_threads(before)
    assert outcome.result == {"threads": 2}


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("input", "input", "this data set has no fixed splits: choose another protocol"),
        ("crash", "crash", "KeyError: 'nothing there'"),
        ("exit", "crash", "left with status 3 and no result"),
        ("segfault", "crash", "killed by signal 11 (Segmentation fault)"),
        (
            "out of memory",
            "crash",
            "killed by signal 9, as the system does where memory is used up: run fewer",
        ),
        ("no memory", "crash", "there was not enough memory (MemoryError), and "),
        ("nan", "crash", "ValueError: Out of range float values are not JSON compliant"),
    ],
)
def test_a_job_that_fails_has_a_reason_and_affects_no_other(what, kind, message):
    jobs = [job(0), job(1, what=what), job(2), job(3)]
    outcomes = {one.seed: outcome for one, outcome in run_jobs(jobs, toy, 2, 1)}
    assert [outcomes[i].done for i in range(4)] == [True, False, True, True]
    assert outcomes[1].kind == kind
    assert outcomes[1].summary.startswith(message)
    assert outcomes[1].result is None
    assert ("Traceback" in outcomes[1].message) == (what in ("crash", "nan"))


def test_jobs_start_in_order_and_only_as_many_as_there_are_workers():
    events = []
    jobs = [job(i) for i in range(5)]
    for one, _ in run_jobs(jobs, toy, 2, 1, lambda one: events.append(("start", one.seed))):
        events.append(("end", one.seed))
    assert [seed for what, seed in events if what == "start"] == [0, 1, 2, 3, 4]
    running = [sum(1 if what == "start" else -1 for what, _ in events[: i + 1]) for i in range(len(events))]
    assert max(running) == 2
    assert running[-1] == 0


def test_a_long_job_delays_no_other():
    jobs = [job(0, what="sleep"), *(job(i) for i in range(1, 5))]
    with closing(run_jobs(jobs, toy, 2, 1)) as outcomes:
        assert [next(outcomes)[0].seed for _ in range(4)] == [1, 2, 3, 4]


def test_a_large_result_arrives():
    ((_, outcome),) = run_jobs([job(what="big")], toy, 1, 1)
    assert len(outcome.result["text"]) == 2_000_000


def test_peak_memory_is_that_of_the_job_alone():
    jobs = [job(0), job(1, what="hog"), job(2)]
    small, large, next_small = (outcome.peak_memory_mb for _, outcome in run_jobs(jobs, toy, 1, 1))
    assert large > small + 60
    assert abs(next_small - small) < 20


def test_a_thread_that_a_job_leaves_does_not_keep_its_process_alive(monkeypatch):
    monkeypatch.setattr(workers, "SECONDS_TO_EXIT", 0.2)
    start = time.monotonic()
    (_, done), (_, exited) = run_jobs([job(what="linger"), job(what="exit and linger")], toy, 1, 1)
    assert done.done
    assert gone(done.result["pid"])
    assert exited.kind == "crash"
    assert time.monotonic() - start < 30


def test_closing_ends_running_jobs(tmp_path):
    jobs = [job(0), *(job(i, what="sleep", note=str(tmp_path)) for i in (1, 2, 3))]
    with closing(run_jobs(jobs, toy, 3, 1)) as outcomes:
        assert next(outcomes)[0].seed == 0
        wait_until(lambda: len(os.listdir(tmp_path)) == 2)
        start = time.monotonic()
    assert time.monotonic() - start < 3
    assert all(gone(pid) for pid in os.listdir(tmp_path))
    assert len(os.listdir(tmp_path)) == 2


SLEEPERS = """
import sys
from otherhalf.experiments.runner import executor
from tests.experiments.runner import test_executor

executor.PRELOAD = ["otherhalf.experiments.runner.executor"]
jobs = [test_executor.job(i, what=sys.argv[2], note=sys.argv[1]) for i in range(4)]
try:
    list(executor.run_jobs(jobs, test_executor.toy, 2, 1))
except KeyboardInterrupt:
    print("stopped")
"""


def sleepers(folder, what="sleep", **environment):
    """Start a process that runs sleeping jobs; it leads a process group, as in a shell."""
    return subprocess.Popen(
        [sys.executable, "-c", SLEEPERS, str(folder), what],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # an ignored one would be inherited
    )


def descendants(pid):
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            pids += [int(entry.name), *descendants(int(entry.name))]
    return pids


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_nothing_outlives_a_runner_that_is_killed(tmp_path):
    process = sleepers(tmp_path)
    wait_until(lambda: len(os.listdir(tmp_path)) == 2)
    family = descendants(process.pid)
    assert {int(name) for name in os.listdir(tmp_path)} <= set(family)
    process.kill()
    process.communicate()
    wait_until(lambda: all(map(gone, family)), seconds=5)
    assert len(os.listdir(tmp_path)) == 2


def test_ctrl_c_ends_everything_without_a_message(tmp_path):
    process = sleepers(tmp_path)
    wait_until(lambda: len(os.listdir(tmp_path)) == 2)
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the children too
        with suppress(subprocess.TimeoutExpired):
            out, err = process.communicate(timeout=5)
            break
    assert (process.returncode, out) == (0, "stopped\n")
    # Python drops an interruption that comes while an object is removed, and says so; one presses again then.
    assert err == "" or err.startswith("Exception ignored in")
    assert all(gone(pid) for pid in os.listdir(tmp_path))


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_a_job_prints_goes_to_standard_error_in_unbroken_lines(tmp_path, unbuffered):
    out, err = sleepers(tmp_path, "print", PYTHONUNBUFFERED=unbuffered).communicate(timeout=60)
    assert out == ""
    assert err == "something for a person\n" * 4
