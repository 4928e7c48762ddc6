"""Temporary folders: gone when the block ends, and those of killed processes when the next one is made."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from otherhalf.errors import InputError
from otherhalf.system import locks
from otherhalf.system.scratch import LONGEST_OF_SOCKETS, temporary_folder


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_gone_in_the_end(place):
    with pytest.raises(KeyboardInterrupt), temporary_folder() as folder:  # noqa: PT012
        assert folder.parent == place
        (folder / "sub").mkdir()
        raise KeyboardInterrupt
    assert list(place.iterdir()) == []


@pytest.mark.skipif(locks.fcntl is None, reason="this system has no such locks")
def test_folders_of_killed_processes_are_removed_and_of_living_ones_not(place):
    code = (
        "import os, signal\n"
        "from otherhalf.system.scratch import temporary_folder\n"
        "with temporary_folder() as folder:\n"
        "    (folder / 'graph.npz').touch()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    (dead,) = place.iterdir()
    (place / "otherhalf-notes").mkdir()  # the user's own: nobody has locked it
    with temporary_folder() as first:
        assert not dead.exists()
        with temporary_folder() as second:
            assert first.exists()
            assert second.exists()
    assert [path.name for path in place.iterdir()] == ["otherhalf-notes"]


def test_no_space(monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(InputError, match=r"no folder for temporary files .* let TMPDIR"), temporary_folder():
        pass


def test_a_folder_that_cannot_be_listed(monkeypatch, place):
    def closed(*_):
        raise PermissionError

    monkeypatch.setattr(Path, "glob", closed)
    with temporary_folder() as folder:
        assert folder.exists()


SOCKETS = """
import os, signal, socket, sys
from otherhalf.system.scratch import folder_of_sockets
folder = folder_of_sockets()
assert folder is folder_of_sockets()
with socket.socket(socket.AF_UNIX) as server:
    server.bind(str(folder / "listener-12345678"))
if os.fork() == 0:
    sys.exit()  # ends like a whole process, and removes nothing of its parent
os.wait()
assert folder.is_dir()
print(folder, flush=True)
if sys.argv[1:] == ["killed"]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="sockets with a path")
@pytest.mark.parametrize("name", ["t", "t" * 150])
@pytest.mark.parametrize("end", ["by itself", "killed"])
def test_the_folder_of_sockets_has_a_short_path_and_an_end(place, name, end):
    (place / name).mkdir()
    environment = {**os.environ, "TMPDIR": str(place / name)}
    done = subprocess.run(
        [sys.executable, "-c", SOCKETS, end], env=environment, capture_output=True, text=True, check=False
    )
    folder = Path(done.stdout.strip())
    assert done.returncode == (0 if end == "by itself" else -signal.SIGKILL), done.stderr
    assert (folder.parent == place / name) == (len(str(place / name)) <= LONGEST_OF_SOCKETS)
    with temporary_folder(folder.parent):
        assert not folder.exists()
