"""Work that is done in time, that fails, and that never ends."""

import threading
import time

import pytest

from otherhalf.system.deadline import within


def test_work_in_time():
    done = []
    within(60, lambda: done.append(1))
    assert done == [1]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_the_work_raises_is_raised(error):
    def fail():
        raise error

    with pytest.raises(type(error)):
        within(60, fail)


def test_work_that_never_ends_is_left():
    forever = threading.Event()
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"not done after 0\.05 seconds"):
        within(0.05, forever.wait)
    assert time.monotonic() - started < 5
    forever.set()
