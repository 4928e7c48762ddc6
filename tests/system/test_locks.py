"""Locks between processes: one holder at a time, and a dead holder holds nothing."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from otherhalf.errors import InputError
from otherhalf.system import locks
from otherhalf.system.locks import LOCK_FILE, folder_lock, release_lock, remove_if_dead, take_lock

pytestmark = pytest.mark.skipif(locks.fcntl is None, reason="this system has no such locks")

HOLDER = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from otherhalf.system.locks import folder_lock\n"
    "with folder_lock(Path(sys.argv[1])):\n"
    "    print('held', flush=True)\n"
    "    time.sleep(60)\n"
)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    handle = take_lock(path)
    assert handle is not None
    assert take_lock(path) is None
    release_lock(path, handle)
    assert not path.exists()
    again = take_lock(path)
    assert again is not None
    release_lock(path, again)


def test_a_holder_that_removed_its_file_does_not_exclude_the_next(tmp_path: Path, monkeypatch) -> None:
    """Between opening and locking the file, its holder may remove it: the lock would be on no file."""
    path, opened = tmp_path / "lock", []
    real = os.open

    def open_and_lose(*arguments, **options):
        handle = real(*arguments, **options)
        if not opened:
            path.unlink()
        opened.append(handle)
        return handle

    monkeypatch.setattr(os, "open", open_and_lose)
    handle = take_lock(path)
    assert len(opened) == 2
    assert os.path.samestat(os.fstat(handle), path.stat())
    release_lock(path, handle)


def test_the_second_process_is_refused_and_told_whom_to_wait_for(tmp_path, holder) -> None:
    with (
        pytest.raises(
            InputError, match=rf"is in use by process {holder.pid} on .*: wait until that has ended"
        ),
        folder_lock(tmp_path, wait=0.1),
    ):
        pass


def test_the_lock_of_a_killed_process_lapses(tmp_path, holder) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / LOCK_FILE).exists()
    with folder_lock(tmp_path, wait=0.1):
        assert f"process {os.getpid()} " in (tmp_path / LOCK_FILE).read_text()
    assert list(tmp_path.iterdir()) == []


def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    order = []
    inside = threading.Event()

    def first() -> None:
        with folder_lock(tmp_path):
            inside.set()
            order.append("first in")
            threading.Event().wait(0.2)
            order.append("first out")

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait()
    with folder_lock(tmp_path):
        order.append("second")
    thread.join()
    assert order == ["first in", "first out", "second"]


def test_one_thread_may_take_it_again(tmp_path: Path) -> None:
    with folder_lock(tmp_path), folder_lock(tmp_path / "." / ""):
        assert (tmp_path / LOCK_FILE).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_a_living_process_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "made"
    handle = take_lock(path)
    remove_if_dead(path)
    assert path.exists()
    os.close(handle)  # as when the process ends
    remove_if_dead(path)
    assert not path.exists()
    remove_if_dead(path)  # gone already


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch) -> None:
    def unsupported(*_) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    with folder_lock(tmp_path):
        pass
    assert take_lock(tmp_path / "lock", where_unsupported=False) is None
    (tmp_path / "lock").unlink()
    (tmp_path / "made").touch()
    remove_if_dead(tmp_path / "made")
    assert [path.name for path in tmp_path.iterdir()] == ["made"]  # its maker may be alive
