import ctypes
import subprocess
import sys

import numpy as np
import pytest

from otherhalf.system import process
from otherhalf.system.process import (
    LARGEST_KEPT,
    MMAP_THRESHOLD,
    USUAL_MMAP,
    freed_memory_kept,
    keep_freed_memory,
    peak_memory_mb,
    reset_peak_memory,
)

COUNT = """
import resource
import numpy as np
from otherhalf.system.process import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.ones(1 << 23)  # 64 MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

without = faults()
keep_freed_memory()
keep_freed_memory()  # a second call changes nothing
np.ones(1 << 23)
print(without, faults())
"""


def has_mallopt():
    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt")


@pytest.mark.skipif(not has_mallopt(), reason="another C library")
def test_freed_memory_is_used_again():
    if not ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, 1 << 30):
        pytest.skip("a C library that gives large blocks back in any case")
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    without, kept = map(int, done.stdout.split())
    assert kept < without / 4


DURING = (
    COUNT.split("without =")[0]
    + """
from otherhalf.system.process import freed_memory_kept

without = faults()
with freed_memory_kept():
    np.ones(1 << 23)
    inside = faults()
print(without, inside, faults())
"""
)


@pytest.mark.skipif(not has_mallopt(), reason="another C library")
def test_freed_memory_is_used_again_during_a_fit_only():
    if not ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, 1 << 30):
        pytest.skip("a C library that gives large blocks back in any case")
    done = subprocess.run([sys.executable, "-c", DURING], capture_output=True, text=True, check=True)
    without, inside, after = map(int, done.stdout.split())
    assert inside < without / 4
    assert after > without / 2


@pytest.mark.parametrize("for_good", [False, True])
def test_the_last_of_several_fits_gives_memory_back_unless_it_is_kept_for_good(monkeypatch, for_good):
    asked = []
    monkeypatch.setattr(process._Keeping, "for_good", for_good)
    monkeypatch.setattr(process, "_set_thresholds", lambda kept, trim: asked.append(kept))
    with freed_memory_kept():
        with freed_memory_kept():
            assert asked == ([] if for_good else [LARGEST_KEPT])
        assert asked == ([] if for_good else [LARGEST_KEPT])
    assert asked == ([] if for_good else [LARGEST_KEPT, USUAL_MMAP])


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_elsewhere_it_does_nothing(monkeypatch, error):
    def refuse(name):
        raise error("not here")

    monkeypatch.setattr(process.ctypes, "CDLL", refuse)
    keep_freed_memory()


def test_an_older_library_is_asked_for_less(monkeypatch):
    asked = []

    class Library:
        @staticmethod
        def mallopt(option, value):
            asked.append((option, value))
            return int(value <= 1 << 25)

    monkeypatch.setattr(process.ctypes, "CDLL", lambda name: Library)
    keep_freed_memory()
    assert (MMAP_THRESHOLD, 1 << 25) in asked


def test_the_peak_is_that_of_the_largest_size():
    before = peak_memory_mb()
    block = np.ones(1 << 25)  # 256 MB
    with_block = peak_memory_mb()
    assert with_block > 256
    del block
    assert with_block >= before
    assert peak_memory_mb() > with_block - 5  # the kernel counts in batches


@pytest.mark.skipif(not process.CLEAR_REFS.exists(), reason="the peak cannot be reset on this system")
def test_after_a_reset_the_peak_starts_at_the_present_size():
    np.ones(1 << 25)
    peak = peak_memory_mb()
    reset_peak_memory()
    assert peak_memory_mb() < peak - 100


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1 << 20)])
def test_elsewhere_the_peak_is_ru_maxrss(monkeypatch, tmp_path, platform, unit):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(process, "STATUS", tmp_path / "status")
    monkeypatch.setattr(process, "CLEAR_REFS", tmp_path / "clear_refs")
    monkeypatch.setattr(sys, "platform", platform)
    reset_peak_memory()
    assert list(tmp_path.iterdir()) == []
    expected = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    assert peak_memory_mb() == pytest.approx(expected, rel=0.01)
    (tmp_path / "status").write_text("Name:\tpython\n")  # a Linux that does not tell VmHWM
    assert peak_memory_mb() == pytest.approx(expected, rel=0.01)


def test_the_size_is_in_units_of_two_to_the_twenty(monkeypatch, tmp_path):
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t  204800 kB\nVmRSS:\t 1024 kB\n")
    monkeypatch.setattr(process, "STATUS", tmp_path / "status")
    assert peak_memory_mb() == 200
