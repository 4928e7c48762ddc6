"""How time and memory grow with the graph: slopes from 10,000 to 1,000,000 nodes of mean degree 20.

A stage is one entry of :data:`STAGES`: its name, a function that makes what it needs from a graph (not
measured), and one that runs it (measured).
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import psutil

from benchmarks.measure import Mark, Measure, Setting
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.graph import Graph
from otherhalf.nn.ops.sparse import normalized_adjacency
from otherhalf.nn.sampling import NeighbourSampling
from otherhalf.system.process import give_back_freed_memory

SIZES, QUICK_SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000), (5_000, 10_000, 20_000)
DEGREE, FEATURES, CLASSES = 20, 64, 10
BATCH = 10
SLOPE = 1.1
LEAST_BYTES = 50e6
"""A stage that takes less memory on the largest graph has no slope of it: the measurement is too coarse."""


class Stage(NamedTuple):
    """A part of the work on a graph: what it needs first, and what is measured."""

    name: str
    prepare: Callable[[Graph], Any]
    run: Callable[[Any], object]


def sample_all(ready: tuple[NeighbourSampling, int]) -> None:
    """Sample around every node once, in batches whose neighbourhoods are small even in the smallest graph."""
    sampling, nodes = ready
    for start in range(0, nodes, BATCH):
        sampling.sample(np.arange(start, min(start + BATCH, nodes)), start)


STAGES = (
    Stage("diagnosis", lambda graph: graph, diagnose),
    Stage("normalisation", lambda graph: graph.adjacency, normalized_adjacency),
    Stage("sampling", lambda g: (NeighbourSampling(g.adjacency, (5, 5)), g.num_nodes), sample_all),
)


def made(nodes: int) -> Graph:
    """Return a random graph of this many nodes."""
    rng = np.random.default_rng(0)
    edges = rng.integers(nodes, size=(2, nodes * DEGREE // 2))
    x = rng.standard_normal((nodes, FEATURES), dtype=np.float32)
    return Graph(edges=edges, x=x, y=rng.integers(CLASSES, size=nodes))


def run(setting: Setting, stage: Stage) -> Mapping[str, float]:
    """Return the seconds and bytes of a stage on every size, and their slopes in a log-log plot."""
    sizes = QUICK_SIZES if setting.quick else SIZES
    figures: dict[str, float] = {}
    stage.run(stage.prepare(made(1_000)))  # compiled code and buffers of libraries
    seconds, peaks = [], []
    for nodes in sizes:
        graph = made(nodes)
        ready = stage.prepare(graph)
        times, peak = [], 1.0
        for _ in range(3 if nodes <= 100_000 else 1):
            taken, added = measured(partial(stage.run, ready))  # a repeat may reuse memory of the first
            times.append(taken)
            peak = max(peak, added)
        seconds.append(min(times))
        peaks.append(peak)
        figures[f"seconds_{nodes}"], figures[f"bytes_{nodes}"] = seconds[-1], peaks[-1]
        del graph, ready
    figures["time"] = slope(sizes, seconds)
    if peaks[-1] >= LEAST_BYTES:
        large = [place for place, peak in enumerate(peaks) if peak >= LEAST_BYTES / 10]
        figures["memory"] = slope([sizes[p] for p in large], [peaks[p] for p in large])
    return figures


def slope(sizes: Any, values: list[float]) -> float:
    """Return the slope of the straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if len(values) > 1 else 0.0


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the processor that ``work`` takes, and the bytes it adds at its peak."""
    gc.collect()
    give_back_freed_memory()  # what is freed and kept would be used again, and not be seen
    process, over, peak = psutil.Process(), threading.Event(), 0

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.01):
            peak = max(peak, process.memory_info().rss)

    before = process.memory_info().rss
    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.process_time()
    work()
    taken = time.process_time() - start
    over.set()
    watcher.join()
    return taken, float(max(0, peak - before))


MEASURES = tuple(
    Measure(
        f"growth_{stage.name}",
        partial(run, stage=stage),
        (
            Mark(f"growth of {stage.name}: slope of time", "time", limit=SLOPE),
            Mark(f"growth of {stage.name}: slope of memory", "memory", limit=SLOPE),
        ),
    )
    for stage in STAGES
)
