"""Large graphs the whole way: one command from the graph to its scores, with its own estimate beforehand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

from benchmarks.measure import Mark, Measure, Missing, Setting

MILLION = "csbm:nodes=1000000,features=64,classes=5,degree=20,homophily=0.5,signal=1.0,seed=0"
ARXIV = "ogbn_arxiv_tape"
THREADS = 2
"""The marks are of two cores."""


def run(setting: Setting, data: str) -> dict[str, float]:
    """Return minutes, memory and test accuracy of a fit of the default, and what was estimated before it."""
    command = [
        sys.executable,
        "-m",
        "otherhalf",
        "fit",
        data,
        "--threads",
        str(THREADS),
        "--json",
        "--profile",
    ]
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(command, capture_output=True, text=True, env=free)
    if done.returncode == 2:
        raise Missing(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise RuntimeError(done.stderr)
    fitted = json.loads(done.stdout)
    estimate = fitted["estimate"]
    minutes, memory = fitted["seconds"]["total"] / 60, fitted["peak_memory_mb"] * 2**20
    return {
        "minutes": minutes,
        "memory": memory / 1e9,
        "accuracy": fitted["test_accuracy"],
        "time estimated": estimate["seconds"] / 60,
        "memory estimated": estimate["memory"] / 1e9,
        "time off": ratio(estimate["seconds"] / 60, minutes),
        "memory off": ratio(estimate["memory"], memory),
        **{f"minutes of {stage['stage']}": stage["seconds"] / 60 for stage in fitted["profile"]},
    }


def ratio(first: float, second: float) -> float:
    """Return the larger one divided by the smaller one."""
    return max(first, second) / min(first, second)


def measure(name: str, data: str, title: str, minutes: float, memory: float) -> Measure:
    """Return the measure of a graph."""
    marks = (
        Mark(f"{title}, a fit the whole way on {THREADS} threads", "minutes", limit=minutes, unit="minutes"),
        Mark(f"{title}, its memory at the peak", "memory", limit=memory, unit="GB"),
        Mark(f"{title}, estimated and measured time, the larger / the smaller", "time off", limit=1.5),
        Mark(f"{title}, estimated and measured memory, the larger / the smaller", "memory off", limit=1.5),
    )
    return Measure(name, partial(run, data=data), marks, quick=False)


MEASURES = (
    measure("whole_arxiv", ARXIV, "the arxiv graph (features of TAPE)", 15, 6),
    measure("whole_1m", MILLION, "1,000,000 nodes, 10,000,000 edges, 64 features", 45, 10),
)
