"""Recorded stages: what is added up, and that nothing happens where nobody asks."""

import threading

import pytest

from otherhalf.system import profile as module
from otherhalf.system.profile import REST, Profile, profiled, stage, timed


@pytest.fixture
def clock(monkeypatch):
    """A clock that only moves when it is told to."""
    now = [100.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


def test_seconds_of_a_stage_are_without_those_of_stages_inside(clock):
    with profiled() as profile:
        clock(1)
        with stage("outer"):
            clock(2)
            with stage("inner"):
                clock(4)
            clock(8)
            with stage("inner"):
                clock(16)
        with stage("last"):
            clock(32)
    rows = [(row["stage"], row["seconds"], row["calls"]) for row in profile.rows()]
    assert rows == [("outer", 10, 1), ("inner", 20, 2), ("last", 32, 1), (REST, 1, 1)]
    assert profile.total == 63
    assert sum(row["share"] for row in profile.rows()) == pytest.approx(1)
    assert profile.rows()[2]["share"] == pytest.approx(32 / 63)


def fail(clock):
    with stage("one"), stage("two"):
        clock(3)
        raise ValueError("broken")


def test_a_stage_that_fails_is_counted_and_closed(clock):
    with profiled() as profile:
        with pytest.raises(ValueError, match="broken"):
            fail(clock)
        with stage("three"):
            clock(5)
    assert profile.seconds == {"one": 0, "two": 3, "three": 5}


def test_a_function_is_a_stage_with_its_name_and_result(clock):
    @timed("adding")
    def add(a, *, b):
        """Add."""
        clock(7)
        return a + b

    assert (add.__name__, add.__doc__) == ("add", "Add.")
    assert add(1, b=2) == 3  # nobody records
    with profiled() as profile:
        assert add(1, b=2) == 3
        assert add(3, b=4) == 7
    assert profile.seconds == {"adding": 14}
    assert profile.calls == {"adding": 2}


def test_nothing_is_recorded_outside_or_in_another_thread():
    with profiled() as profile:
        other = threading.Thread(target=lambda: stage("elsewhere").__enter__())
        other.start()
        other.join()
    with stage("afterwards"):
        pass
    assert profile.seconds == {}


def test_a_profile_without_time_has_no_share():
    assert Profile().rows() == [{"stage": REST, "seconds": 0, "share": 0, "calls": 1}]
