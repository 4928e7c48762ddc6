"""What a command does to its process before and after the work."""

import os
import subprocess
import sys

import pytest

from otherhalf.cli.process import wait_politely

SHOW_AT_THE_END = """
import atexit, gc, sys
atexit.register(lambda: print("frozen" if gc.get_freeze_count() else "searched", gc.get_threshold()[0]))
sys.argv = ["otherhalf", "--version"]
from otherhalf.cli import main
main()
"""


def test_the_process_ends_without_a_search_of_everything_it_imported():
    done = subprocess.run([sys.executable, "-c", SHOW_AT_THE_END], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "frozen 50000"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, "10000"),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, None),
    ],
)
def test_threads_sleep_soon_unless_the_user_chose(before, after, monkeypatch):
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    wait_politely()
    assert os.environ.get("GOMP_SPINCOUNT") == after
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
