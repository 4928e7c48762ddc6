"""Jobs that are decided while others run: asked for when a worker is free, and stopped at the time limit."""

import signal
import threading
import time
from contextlib import closing

import pytest

from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.stream import TimeIsUp, run_stream


def job(seed, **options):
    return Job("toy", "cora", "h", "gcn", options, "", seed)


def toy(one):
    time.sleep(one.options.get("seconds", 0))
    return {"seed": one.seed}


def seeds(stream):
    return [one.seed for one, outcome in stream if outcome.result == {"seed": one.seed}]


def test_the_next_job_is_asked_for_after_the_last_result():
    done = []

    def ask():
        return job(len(done)) if len(done) < 4 else None

    for one, _ in run_stream(ask, toy, workers=0):
        done.append(one.seed)
    assert done == [0, 1, 2, 3]


def test_it_is_asked_again_when_no_job_runs_any_more():
    """A job that can only be decided when both others have ended."""
    ended, asked = [], []

    def ask():
        if len(asked) < 2 or (len(ended) == 2 and len(asked) == 2):
            asked.append(job(len(asked)))
            return asked[-1]
        return None

    for one, _ in run_stream(ask, toy, workers=2):
        ended.append(one.seed)
    assert sorted(ended[:2]) == [0, 1]
    assert ended[2:] == [2]


@pytest.mark.parametrize("workers", [0, 2])
def test_jobs_that_run_when_the_time_is_up_are_stopped(workers):
    jobs = iter([job(0), job(1, seconds=60), job(2, seconds=60)])
    if workers:  # the server of the workers has started
        assert seeds(run_stream(iter([job(9), None, None]).__next__, toy, workers=2)) == [9]
    before, started = signal.getsignal(signal.SIGALRM), time.monotonic()
    assert seeds(run_stream(lambda: next(jobs), toy, workers=workers, until=started + 2)) == [0]
    assert 2 <= time.monotonic() - started < 10
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_nothing_starts_after_the_time():
    assert seeds(run_stream(lambda: job(0), toy, workers=0, until=time.monotonic())) == []


def test_the_alarm_does_not_disturb_what_is_done_with_a_result():
    reached = []
    for one, _ in run_stream(iter(map(job, range(3))).__next__, toy, workers=0, until=time.monotonic() + 0.1):
        time.sleep(0.3)  # a record is written
        reached.append(one.seed)
    assert reached == [0]


def test_in_a_thread_the_running_job_ends():
    found = []
    jobs = iter([job(0, seconds=0.3), job(1)])
    until = time.monotonic() + 0.1
    thread = threading.Thread(
        target=lambda: found.extend(seeds(run_stream(lambda: next(jobs), toy, workers=0, until=until)))
    )
    thread.start()
    thread.join()
    assert found == [0]


def test_an_alarm_of_somebody_else_stays():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        jobs = iter([job(0, seconds=0.4), None, None])
        assert seeds(run_stream(lambda: next(jobs), toy, workers=0, until=time.monotonic() + 5)) == [0]
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_stream_that_is_left_stops_its_executor():
    closed = []

    def execute(jobs, work, workers, threads, on_start=None):
        try:
            for one in jobs:
                yield one, Outcome({"seed": one.seed}, 0.0, 0.0, threads)
        finally:
            closed.append(True)

    with closing(run_stream(lambda: job(0), toy, workers=1, executor=execute)) as stream:
        next(stream)
        assert not closed
    assert closed


def test_no_program_handles_the_end_of_the_time_by_chance():
    assert not issubclass(TimeIsUp, Exception)
