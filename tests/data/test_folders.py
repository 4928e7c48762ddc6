"""Which folders hold data sets, and in which order they are looked through."""

import sys
from pathlib import Path

import pytest

from otherhalf.data.folders import cache_folder, data_folder, search_folders, where_to_place
from otherhalf.errors import InputError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, and none of the variables that name another place."""
    for variable in ("OTHERHALF_DATA", "OTHERHALF_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
def test_the_cache_is_in_the_home_folder_or_below_xdg(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == home / ".cache" / "otherhalf"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert cache_folder() == home / "xdg" / "otherhalf"
    assert search_folders() == [cache_folder()]
    assert not cache_folder().exists()


def test_our_variables_come_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_folder() is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    monkeypatch.setenv("OTHERHALF_CACHE", "~/kept")
    monkeypatch.setenv("OTHERHALF_DATA", "~/data")
    assert cache_folder() == home / "kept"
    assert data_folder() == home / "data"
    assert search_folders() == [home / "data", home / "kept"]
    assert where_to_place("cora") == f"place cora.npz in the folder $OTHERHALF_DATA or in {home / 'kept'}"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know the home folder otherwise")
def test_without_a_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 2)  # a user that the system does not know
    with pytest.raises(InputError, match=r"this user has no home folder .*: set OTHERHALF_CACHE"):
        cache_folder()
    monkeypatch.setenv("OTHERHALF_CACHE", "/kept")
    assert cache_folder() == Path("/kept")
