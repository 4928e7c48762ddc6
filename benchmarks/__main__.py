"""Measure every mark, as ratios within one run, and print which are met.

    python -m benchmarks                    all marks, some at full size: an hour or more
    python -m benchmarks --quick            small sizes: two minutes
    python -m benchmarks --only topk_20k    these measures (names, or beginnings of names, with commas)
    python -m benchmarks --json FILE        write figures and the machine too, after every measure
    python -m benchmarks --readme           also write the table into benchmarks/README.md

Each measure runs in a process of its own. The exit status is 1 if one of them failed, not if a mark is not
met.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.marks import measures
from benchmarks.measure import QUICK_REPEATS, REPEATS, Measure, Setting
from benchmarks.outcome import Outcome, fill_readme
from benchmarks.process import in_process

ALLOCATORS = {"keep": "freed memory kept, as the command line does", "default": "the allocator's own habits"}


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; return the exit status."""
    options = _parser().parse_args(arguments)
    setting = Setting(
        options.quick, options.threads, options.repeats or (QUICK_REPEATS if options.quick else REPEATS)
    )
    chosen = _chosen(measures(), options.only, quick=options.quick)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read when a process starts
        os.environ[name] = str(setting.threads)
    conditions = {
        "machine": machine(),
        "quick": setting.quick,
        "threads": setting.threads,
        "allocator": ALLOCATORS[options.allocator],
    }
    outcome = Outcome(conditions, options.json)
    failed = False
    for measure in chosen:
        print(f"{measure.name} …", file=sys.stderr, flush=True)
        started = time.monotonic()
        result = in_process(measure.name, setting, options.allocator)
        failed |= "error" in result
        print(result.get("error", ""), end="", file=sys.stderr)
        for row in outcome.add(measure, result, setting):
            print("    " + ": ".join(row), file=sys.stderr, flush=True)
        print(f"    {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    table = outcome.markdown([each.name for each in measures()])
    print(table, end="")
    if options.readme:
        fill_readme(table)
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, two minutes")
    parser.add_argument("--only", default="", help="names of measures, or beginnings of them, with commas")
    parser.add_argument("--threads", type=int, default=1, help="number of threads (1)")
    parser.add_argument("--repeats", type=int, help=f"runs of each case ({REPEATS}; quick: {QUICK_REPEATS})")
    parser.add_argument(
        "--allocator", choices=list(ALLOCATORS), default="keep", help="what happens to freed memory"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the figures")
    parser.add_argument("--readme", action="store_true", help="write the table into benchmarks/README.md")
    return parser


def _chosen(known: list[Measure], only: str, *, quick: bool) -> list[Measure]:
    """Return the measures to run; raise SystemExit if a name is not known."""
    if not only:
        return [each for each in known if each.quick or not quick]
    names = only.split(",")
    for name in names:
        if not any(each.name.startswith(name) for each in known):
            raise SystemExit(
                f"there is no measure {name!r}: choose of {', '.join(each.name for each in known)}"
            )
    return [each for each in known if each.name.startswith(tuple(names))]


if __name__ == "__main__":
    sys.exit(main())
