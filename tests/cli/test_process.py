"""What a command does to its process before and after the work."""

import subprocess
import sys

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
