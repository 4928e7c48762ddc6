import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write, check_folder, check_place


def test_the_file_appears_whole_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    with atomic_write(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".txt"
        temporary.write_text("complete")
        assert not path.exists()
    assert path.read_text() == "complete"
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as temporary:  # noqa: PT012
        temporary.write_text("ha")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("number", "kind", "message"),
    [(errno.ENOSPC, InputError, r"a\.txt cannot be written .*free some space"), (errno.EIO, OSError, "I/O")],
)
def test_a_full_disk_is_told_from_other_failures(
    tmp_path: Path, number: int, kind: type, message: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(kind, match=message), atomic_write(path):
        raise OSError(number, os.strerror(number).replace("Input/output", "I/O"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="POSIX file rights")
def test_the_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with atomic_write(tmp_path / "made") as temporary:
        temporary.touch()
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_kill_in_mid_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    code = (
        "import os, signal, sys\n"
        "from otherhalf.system.atomic import atomic_write\n"
        "with atomic_write(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('ha')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2  # with what it had written of the new one
    with atomic_write(tmp_path / "another.json") as temporary:
        temporary.touch()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "another.json"]


def test_only_temporary_files_of_dead_processes_are_removed(tmp_path: Path) -> None:
    names = [".a.txt", ".a.otherhalf-backup.txt", "a.otherhalf-01234567.txt", ".a.0123abcd.txt"]
    for name in names:
        (tmp_path / name).write_text("the user's own")
    (tmp_path / ".a.otherhalf-01234567.txt").write_text("of a dead process")
    (tmp_path / "link").write_text("the user's own")
    (tmp_path / ".l.otherhalf-01234567.txt").symlink_to("link")
    with atomic_write(tmp_path / "one.txt") as first, atomic_write(tmp_path / "two.txt") as second:
        first.write_text("one")  # neither removes the file of the other
        second.write_text("two")
    left = {*names, "one.txt", "two.txt", "link", ".l.otherhalf-01234567.txt"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_a_name_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 251 + ".txt")
    with atomic_write(path) as temporary:
        temporary.write_text("complete")
    assert path.read_text() == "complete"


def test_a_good_place_is_left_empty(tmp_path: Path) -> None:
    check_place(tmp_path / "new" / "a.npz", (".npz",))
    assert list((tmp_path / "new").iterdir()) == []


def test_places_that_cannot_be_written_are_refused_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match=r"a.txt does not end in .npz: give a name such as a.npz"):
        check_place(tmp_path / "a.txt", (".npz",))
    with pytest.raises(InputError, match="is a folder: give the name of a file"):
        check_place(tmp_path)
    with pytest.raises(InputError, match="file is no folder that can be written to"):
        check_place(tmp_path / "file" / "a.npz", (".npz",))
    with pytest.raises(InputError, match="file is no folder that can be written to"):
        check_folder(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match=r"can be written to \(Permission denied\)"):
            check_folder(tmp_path)
    finally:
        tmp_path.chmod(0o700)
