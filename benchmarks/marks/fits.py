"""Whole fits with the paper's method, against version 0.1, for the same work: each in a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import Mark, Measure, Missing, Setting

OLD = "046976c"
"""The last commit of version 0.1."""

ROOT = Path(__file__).parents[2]

FIT = """
import json, sys, time
import otherhalf
name, arguments = sys.argv[1], json.loads(sys.argv[2])
graph = otherhalf.load(name)
split = otherhalf.split(graph, "uniform", seed=0)
model = otherhalf.GOALClassifier(seed=0, **arguments)
started = time.process_time()
model.fit(graph, split)
spent = time.process_time() - started
print(json.dumps({"seconds": spent, "accuracy": float(model.score(graph, split.test))}))
"""


def run(setting: Setting, name: str) -> dict[str, float]:
    """Return the processor's seconds of a fit now and in version 0.1, in turns, and both test accuracies.

    In version 0.1 the method was the only one. The time of imports before the fit is not counted.
    """
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        extract(Path(folder))
        versions = {"now": (ROOT / "src", {"method": "embedding"}), "0.1": (Path(folder) / "src", {})}
        for _ in range(1 if setting.quick else min(3, setting.repeats)):
            for version, (source, arguments) in versions.items():
                outcome = fit_in_process(source, name, arguments)
                figures[version] = min(figures.get(version, float("inf")), outcome["seconds"])
                figures[f"accuracy, {version}"] = outcome["accuracy"]
    return figures


def extract(folder: Path) -> None:
    """Write the source of version 0.1 into a folder; raise Missing if this clone does not have it."""
    archive = subprocess.run(["git", "archive", OLD, "src"], cwd=ROOT, capture_output=True)
    if archive.returncode:
        raise Missing(f"the commit {OLD} is not here: clone the repository with its whole history")
    subprocess.run(["tar", "x", "-C", str(folder)], input=archive.stdout, check=True)


def fit_in_process(source: Path, name: str, arguments: dict[str, str]) -> dict[str, float]:
    """Return what a fit with this source took and scored."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", FIT, name, json.dumps(arguments)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=source,
    )
    if done.returncode:
        message = done.stderr.strip().splitlines()[-1]
        raise Missing(message) if "InputError" in message else RuntimeError(done.stderr)
    outcome: dict[str, float] = json.loads(done.stdout)
    return outcome


def measure(name: str) -> Measure:
    """Return the measure of a data set."""
    marks = (
        Mark(f"fit of {name}, method embedding, CPU seconds / those of version 0.1", "now", "0.1", 0.5),
        Mark(
            f"fit of {name}, test accuracy / that of version 0.1",
            "accuracy, now",
            "accuracy, 0.1",
            0.99,
            at_least=True,
        ),
    )
    return Measure(f"fit_{name}", partial(run, name=name), marks, quick=name == "cora")


MEASURES = tuple(measure(name) for name in ("cora", "chameleon", "squirrel", "pubmed"))
