"""Compiled functions are kept where nobody else may write, and do without a place to be kept in."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from otherhalf.nn.ops import kernels  # noqa: F401 (compiled when it is imported)
from otherhalf.system.compiled import check_private, compiled


def test_the_compiler_is_left_as_it_was():
    assert not numba.config.SLP_VECTORIZE


UNKEPT = """
from otherhalf.nn.ops.kernels import add_rows
assert add_rows.stats.cache_path is None
import numpy as np
one, out = np.ones((1, 1), np.float32), np.empty((1, 1), np.float32)
add_rows(np.array([0, 1], np.int32), np.array([0], np.int32), one[0], one, out, True, 0, 1)
assert out == 1
"""


def test_where_nothing_can_be_kept_it_is_compiled_each_time(tmp_path):
    nowhere = tmp_path / "a file"
    nowhere.touch()
    only = {
        "NUMBA_CACHE_DIR": str(nowhere / "below"),
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    run = subprocess.run(
        [sys.executable, "-c", UNKEPT],
        env={**os.environ, **only},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="POSIX file rights")
class TestPrivate:
    """A cache holds code, so nobody else may write it."""

    def test_a_folder_elsewhere_is_made_private(self, tmp_path):
        for mode in (0o755, 0o777):  # the second as umask 0 makes it, with nothing in it yet
            (tmp_path / "cache").mkdir(exist_ok=True)
            (tmp_path / "cache").chmod(mode)
            check_private(tmp_path / "cache", tmp_path / "source")
            assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700

    @pytest.fixture(autouse=True)
    def source(self, tmp_path):
        (tmp_path / "source" / "__pycache__").mkdir(parents=True)
        (tmp_path / "source").chmod(0o755)
        return tmp_path / "source"

    @pytest.mark.parametrize("mode", [0o777, 0o775])
    def test_files_that_others_could_have_written_are_not_read(self, tmp_path, mode):
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache" / "planted.nbi").touch()
        (tmp_path / "cache").chmod(mode)
        with pytest.raises(OSError, match="is open to other users"):
            check_private(tmp_path / "cache", tmp_path / "source")

    def test_beside_the_source_those_who_write_the_source_may_write_it(self, source):
        cache = source / "__pycache__"
        cache.chmod(0o775)
        with pytest.raises(OSError, match="is open to other users"):
            check_private(cache, source)
        source.chmod(0o775)
        check_private(cache, source)
        assert cache.stat().st_mode & 0o777 == 0o775

    def test_a_folder_of_another_user(self, tmp_path, monkeypatch):
        (tmp_path / "cache").mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(OSError, match="is open to other users"):
            check_private(tmp_path / "cache", tmp_path / "source")


@pytest.mark.skipif(os.name != "posix", reason="POSIX file rights")
def test_a_cache_that_is_open_to_others_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))

    def kept():
        def one_more(number):
            return number + 1

        kernel = compiled("i8(i8)")(one_more)
        assert kernel(1) == 2
        return kernel.stats

    first = kept().cache_path
    assert first is not None
    assert sum(kept().cache_hits.values()) == 1
    assert Path(first).stat().st_mode & 0o777 == 0o700
    Path(first).chmod(0o777)
    assert kept().cache_path is None
