import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from otherhalf.atomic import atomic_write


def test_the_file_appears_whole_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    with atomic_write(path) as aside:
        assert aside.parent == path.parent
        assert aside.suffix == ".txt"
        aside.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as aside:  # noqa: PT012
        aside.write_text("ha")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="POSIX file rights")
def test_the_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with atomic_write(tmp_path / "made") as aside:
        aside.touch()
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_kill_in_mid_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    code = (
        "import os, signal, sys\n"
        "from otherhalf.atomic import atomic_write\n"
        "with atomic_write(sys.argv[1]) as aside:\n"
        "    aside.write_text('ha')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
