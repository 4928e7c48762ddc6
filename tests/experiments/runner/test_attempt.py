from otherhalf.errors import InputError
from otherhalf.experiments.runner.attempt import attempt
from otherhalf.experiments.runner.job import Job

JOB = Job("toy", "cora", "h", "gcn", {}, "", 3)


def wrong(job):
    raise InputError("this data set has no fixed splits: choose another protocol")


def broken(job):
    return {"test": job.nothing}


def test_the_outcome_of_a_job_that_is_done():
    outcome = attempt(JOB, lambda job: {"seed": job.seed, "pair": (1, 2)}, 1)
    assert outcome.done
    assert outcome.result == {"seed": 3, "pair": [1, 2]}
    assert outcome.threads == 1
    assert 0 <= outcome.seconds < 60
    assert outcome.peak_memory_mb > 10


def test_errors_are_outcomes():
    assert attempt(JOB, wrong, 1).kind == "input"
    crash = attempt(JOB, broken, 1)
    assert crash.kind == "crash"
    assert crash.summary == "AttributeError: 'Job' object has no attribute 'nothing'"
