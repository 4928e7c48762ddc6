import ctypes
import subprocess
import sys

import pytest

from otherhalf.system import process as malloc
from otherhalf.system.process import MMAP_THRESHOLD, keep_freed_memory

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
keep_freed_memory()  # as often as one likes
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


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_elsewhere_it_does_nothing(monkeypatch, error):
    def refuse(name):
        raise error("not here")

    monkeypatch.setattr(malloc.ctypes, "CDLL", refuse)
    keep_freed_memory()


def test_an_older_library_is_asked_for_less(monkeypatch):
    asked = []

    class Library:
        @staticmethod
        def mallopt(option, value):
            asked.append((option, value))
            return int(value <= 1 << 25)

    monkeypatch.setattr(malloc.ctypes, "CDLL", lambda name: Library)
    keep_freed_memory()
    assert (MMAP_THRESHOLD, 1 << 25) in asked
