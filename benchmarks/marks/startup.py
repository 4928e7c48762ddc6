"""What a short run waits for: imports, help, and a fast fit, each in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from benchmarks.measure import Mark, Measure, Missing, Setting

CODE = {
    "libraries": "import torch, sklearn.base, numba, pandas",
    "import otherhalf": "import otherhalf",
    "GOALClassifier": "from otherhalf import GOALClassifier",
}
HELP = ["-m", "otherhalf", "--help"]


def seconds_of(arguments: list[str], environment: dict[str, str] | None = None) -> tuple[float, float]:
    """Run Python with these arguments; return the seconds of the processor and of the clock."""
    before, started = os.times(), time.perf_counter()
    given = {**os.environ, **(environment or {})}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=given)
    after, clock = os.times(), time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(done.stderr)
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, clock


def imports(setting: Setting) -> dict[str, float]:
    """Return the processor's seconds of imports, and of the help of the command line."""
    cases = {name: ["-c", code] for name, code in CODE.items()} | {"help": HELP}
    least = dict.fromkeys(cases, float("inf"))
    for _ in range(1 if setting.quick else setting.repeats):
        for name, arguments in cases.items():
            least[name] = min(least[name], seconds_of(arguments)[0])
    return least


def fast(setting: Setting) -> dict[str, float]:
    """Return the seconds by the clock of ``otherhalf fit --fast``, from its start to its end."""
    from otherhalf.data.catalog import load
    from otherhalf.errors import InputError

    data = "cora" if setting.quick else "actor"
    try:
        load(data)
    except InputError as error:
        raise Missing(str(error)) from error
    threads = {"OMP_NUM_THREADS": str(os.cpu_count()), "MKL_NUM_THREADS": str(os.cpu_count())}
    arguments = ["-m", "otherhalf", "fit", data, "--fast", "--json"]
    runs = [seconds_of(arguments, threads) for _ in range(1 if setting.quick else setting.repeats)]
    return {"processor": min(spent for spent, _ in runs), "clock": min(clock for _, clock in runs)}


MEASURES = (
    Measure(
        "imports",
        imports,
        (
            Mark("import otherhalf", "import otherhalf", limit=0.2, unit="s"),
            Mark("otherhalf --help", "help", limit=1.0, unit="s"),
            Mark(
                "import of GOALClassifier / of torch, sklearn.base, numba and pandas alone",
                "GOALClassifier",
                "libraries",
                1.25,
            ),
        ),
    ),
    Measure(
        "fast",
        fast,
        (
            Mark(
                "otherhalf fit --fast on Actor (quick: Cora), on all cores, imports included",
                "clock",
                limit=10,
                unit="s",
            ),
        ),
    ),
)
