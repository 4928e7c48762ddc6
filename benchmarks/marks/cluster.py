"""A Ray of this machine against the process pool and against one process: what its tasks cost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import torch

from benchmarks.measure import Mark, Measure, Missing, Setting
from otherhalf.cluster.address import Address
from otherhalf.cluster.connection import disconnect
from otherhalf.cluster.search import grid_top_k
from otherhalf.cluster.tasks import Tasks
from otherhalf.complement.block_search import inner_top_k
from otherhalf.errors import InputError
from otherhalf.experiments.runner.executor import run_jobs
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.ray_executor import RayExecutor

JOBS, QUICK_JOBS = 200, 60
ROWS, QUICK_ROWS, WIDTH, K = 40_000, 20_000, 64, 20


def no_work(job: Job) -> dict[str, Any]:
    """Do nothing: what is left is the executor."""
    return {"seed": job.seed}


def jobs(setting: Setting) -> Mapping[str, float]:
    """Return the seconds of a job that does nothing, in either executor; both have one warm worker."""
    count = QUICK_JOBS if setting.quick else JOBS
    given = [Job("none", "none", "none", "", {}, "", seed) for seed in range(count + 1)]
    executor = _ray_of_one()
    try:
        return _alternately(
            {
                "job_processes": lambda: _after_the_first(run_jobs(given, no_work, 1, 1), count),
                "job_ray": lambda: _after_the_first(executor(given, no_work, 1, 1), count),
            },
            setting,
        )
    finally:
        executor.close()


def top_k(setting: Setting) -> Mapping[str, float]:
    """Return the seconds of the exact search in this process, and as tasks of one worker."""
    torch.manual_seed(0)
    z = torch.randn(QUICK_ROWS if setting.quick else ROWS, WIDTH)
    tasks = _tasks()
    try:
        return _alternately(
            {
                "top_k_here": lambda: _seconds(lambda: inner_top_k(z, None, K, largest=True)),
                "top_k_ray": lambda: _seconds(lambda: grid_top_k(tasks, z.numpy(), K, largest=True)),
            },
            setting,
        )
    finally:
        disconnect()


def _tasks() -> Tasks:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        return Tasks(Address(), 1)
    except InputError as error:
        raise Missing(str(error)) from error


def _ray_of_one() -> RayExecutor:
    _tasks()
    return RayExecutor()


def _alternately(cases: Mapping[str, Callable[[], float]], setting: Setting) -> dict[str, float]:
    """Return the fewest seconds of each case by the clock: the work is in other processes."""
    for case in cases.values():
        case()
    found: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(setting.repeats):
        for name, case in cases.items():
            found[name].append(case())
    return {name: min(each) for name, each in found.items()}


def _seconds(case: Callable[[], object]) -> float:
    start = time.perf_counter()
    case()
    return time.perf_counter() - start


def _after_the_first(outcomes: Any, count: int) -> float:
    """Return the seconds of a job; those of the first, for which the worker starts, are left out."""
    with closing(outcomes):
        next(outcomes)
        return _seconds(lambda: list(outcomes)) / count


MEASURES = (
    Measure(
        "cluster_jobs",
        jobs,
        (
            Mark(
                "a job without work, as a Ray task / in the process pool",
                "job_ray",
                "job_processes",
                10.0,
            ),
            Mark("a job without work, as a Ray task", "job_ray", limit=0.02, unit="s"),
        ),
        quick=False,
    ),
    Measure(
        "cluster_top_k",
        top_k,
        (
            Mark(
                f"exact top-{K} as tasks of one Ray worker / in this process, {ROWS:,} × {WIDTH}",
                "top_k_ray",
                "top_k_here",
                1.2,
            ),
        ),
        quick=False,
    ),
)
