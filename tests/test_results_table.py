"""The tables in the README and docs/results.md are what the records say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_tables_are_not_stale():
    script = ROOT / "scripts" / "results_table.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
