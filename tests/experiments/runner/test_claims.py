"""Claims: a job has one process that runs it, and a dead process has none."""

import os

import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.runner.claims import FOLDER, Claims, alone
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store
from otherhalf.system import locks

pytestmark = pytest.mark.skipif(locks.fcntl is None, reason="this system has no such locks")


def job(seed):
    return Job("toy", "cora", "h", "gcn", {}, "", seed)


JOBS = [job(seed) for seed in range(4)]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_each_job_has_one_process(store):
    mine, theirs = [], []
    with Claims(store) as one, Claims(store) as other:
        first = one.claimed(JOBS, mine)
        assert next(first) == JOBS[0]
        assert list(other.claimed(JOBS, theirs)) == JOBS[1:]  # claimed when it is asked for, not before
        assert theirs == [JOBS[0]]
        assert list(first) == []
        assert mine == JOBS[1:]
    assert list(store.folder.iterdir()) == []


def test_a_job_that_failed_elsewhere_can_be_claimed(store):
    with Claims(store) as one, Claims(store) as other:
        assert list(one.claimed(JOBS[:1], [])) == JOBS[:1]
        one.release(JOBS[0])
        assert list(other.claimed(JOBS[:1], [])) == JOBS[:1]


def test_a_job_with_a_record_is_not_run_again(store):
    others = []
    store.add(JOBS[0], Outcome({}, 1.0, 1.0, 1))
    with Claims(store) as claims:
        assert list(claims.claimed(JOBS[:2], others)) == [JOBS[1]]
        assert others == [JOBS[0]]
        assert len(list((store.folder / FOLDER).iterdir())) == 1


def test_runs_on_another_device_are_other_runs(store):
    elsewhere = Store(store.folder, "cuda")
    with Claims(store) as one, Claims(elsewhere) as other:
        assert list(one.claimed(JOBS, [])) == list(other.claimed(JOBS, [])) == JOBS


def test_the_claim_of_a_dead_process_lapses(store):
    child = os.fork()
    if child == 0:
        claims = Claims(store)
        claims.__enter__()
        list(claims.claimed(JOBS, []))
        os._exit(0)
    os.waitpid(child, 0)
    assert len(list((store.folder / FOLDER).iterdir())) == 4
    with Claims(store) as claims:
        assert not list((store.folder / FOLDER).iterdir())
        assert list(claims.claimed(JOBS, [])) == JOBS


def test_a_folder_that_cannot_be_written(store, monkeypatch):
    def closed(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("otherhalf.experiments.runner.claims.take_lock", closed)
    with Claims(store) as claims, pytest.raises(InputError, match=r"cannot be written \(Permission denied\)"):
        list(claims.claimed(JOBS, []))


def test_of_two_that_do_the_same_one_is_refused(store):
    with alone(store, "tune-1"), alone(store, "tune-2"):
        third = alone(store, "tune-1")
        with pytest.raises(InputError, match="another process does the same with the records in"):
            third.__enter__()
    with alone(store, "tune-1"):
        pass
    assert list(store.folder.iterdir()) == []
