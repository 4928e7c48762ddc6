"""Time and memory of a fit, estimated before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from otherhalf.complement.kernel_half import MOST_TAUGHT
from otherhalf.complement.kernels import LARGE
from otherhalf.complement.settings import KernelSettings
from otherhalf.estimators.by_rows import TREE_COUNT, TREE_ROWS, goes_over_rows, plain_over_rows
from otherhalf.estimators.members.boosted import MOST_WORK
from otherhalf.estimators.members.over_rows import ROW_TRAINING
from otherhalf.estimators.members.plain import CANDIDATES, RACE_EPOCHS, USUAL
from otherhalf.estimators.memory import goal_need, row_columns, row_disk
from otherhalf.estimators.settings import Settings
from otherhalf.estimators.whole_graph import count_finishers, count_trainings, starters
from otherhalf.graph import Graph, Split
from otherhalf.nn.memory import Sizes, graph_bytes
from otherhalf.system.memory import in_bytes
from otherhalf.training.rows import MOST_ROWS

SHORT, LONG = 30.0, 600.0
"""Seconds of a fit that needs no announcement, and of one that a user may want to replace by a fast one."""

PROCESS = 570_000_000
"""Bytes of a process that has imported everything, without a graph: half of them torch and its compiler."""

PROPAGATED = 0.006
TREE_FIT, TREE_FIT_CLASS = 1.6, 0.2
TABLE, TABLE_CLASS, TABLE_EDGES = 0.6, 0.01, 0.1
ROW_PRODUCT = 0.04
EPOCH, EPOCH_COLUMN = 0.05, 0.01
BLENDED, BLENDED_CLASS = 0.8, 0.045
"""Seconds of the stages over rows: of label propagation, of 100 trees and of the table by 10⁴ rows, of
products with 10⁵ edges, of an epoch by 10⁴ training rows and 100 columns, and of blend, prediction and scores
by 10⁴ nodes. Measured on ogbn-arxiv and a synthetic graph of a million nodes, with two threads."""

ONE_PASS = 0.75
"""Time of kernels that are computed in one pass, in that of steps."""

BETWEEN = 0.7
"""The same fits of 169,343 and of a million nodes took 0.62 and 0.52 of the time on another day, on a machine
of the same name and with code that was somewhat faster. The coefficients are of the slower day; so many of
their seconds are between the two."""

DIVIDED = 0.85
"""Share of the work over rows that threads divide among them. The products of full batches are small: more
threads save little there."""

FINISH, WORST_FINISH = 0.2, 2.5
"""Duration of a complete training of a plain model, in durations of the race of all candidates: the usual
one, and one where deep models win the race."""


MEMBERS, BESIDE = 0.8, 1.2
"""Share of the members of a small graph in the duration of a fit, and how much longer a training takes beside
others: about 0.7 of the time of one thread in two processes."""

LIKELY_EPOCHS = 30
"""Passes over the rows until a training usually stops; at worst it takes all."""


@dataclass(frozen=True)
class Estimate:
    """About how long a fit takes and how much memory it needs.

    Attributes:
        seconds: Likely duration; None for the method ``embedding``, which has not been measured enough.
        most_seconds: Duration if the deepest models win the race.
        memory: Bytes of all processes at their peak.
        nodes: N.
        edges: E.
        disk: Bytes of temporary files; 0 for a fit that writes none.
        threads: Number of threads that the duration is for.
        processes: Number of processes that fit the members.
    """

    seconds: float | None
    most_seconds: float | None
    memory: int
    nodes: int
    edges: int
    disk: int = 0
    threads: int = 1
    processes: int = 1

    def shared_by(self, processes: int, memory: int) -> Estimate:
        """Return the estimate where so many processes, with so many bytes together, fit the members."""
        share = 1 - MEMBERS + MEMBERS * BESIDE / processes
        seconds, most = (each and each * share for each in (self.seconds, self.most_seconds))
        return replace(
            self, seconds=seconds, most_seconds=most, memory=self.memory + memory, processes=processes
        )

    @property
    def is_short(self) -> bool:
        """Whether the fit is over before one would wonder; also if its duration is not known."""
        return self.seconds is None or self.seconds < SHORT

    @property
    def is_long(self) -> bool:
        """Whether the fit takes so long that a fast one may be better."""
        return self.seconds is not None and self.seconds > LONG

    @property
    def duration(self) -> str:
        """The duration in words."""
        if self.seconds is None or self.most_seconds is None:
            return "an unknown time"
        likely, worst = in_words(self.seconds), in_words(self.most_seconds)
        return f"about {likely}" + (f" (at worst {worst})" if worst != likely else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON has them."""
        return asdict(self)

    def __str__(self) -> str:
        memory = in_bytes(self.memory)
        duration = self.duration[0].upper() + self.duration[1:]
        cores = "on one core" if self.threads == 1 else f"with {self.threads} threads"
        cores = cores if self.processes == 1 else f"in {self.processes} processes"
        cores += f" ({self.nodes:,} nodes, {self.edges:,} edges)"
        if self.disk:
            return f"{duration}, {memory} of memory and {in_bytes(self.disk)} of disk {cores}"
        return f"{duration} and {memory} {cores}"


def estimate_fit(graph: Graph, split: Split, settings: Settings) -> Estimate:
    """Estimate the duration and the memory of a fit of GOALClassifier.

    The duration is a sum over the stages of the method ``kernel``. Each is linear in nodes, edges, entries of
    the features and so on, with coefficients from measured fits: one thread, on a core of a server (AMD EPYC)
    that had nothing else to do. More threads make a fit shorter, and other work on the machine longer.

    Coefficients that were taken from the other graphs estimated the fit of each of 21 graphs, with 183 to
    63,431 nodes, within a factor of two on 17; :data:`FINISH` alone was chosen on all of them. Against the
    quickest of the recorded fits of a graph, which other work disturbed least, the estimates of 19 graphs are
    within a factor of 2.6 on 17 and of 4.5 on all. The two where deep models win the race, Tolokers and
    Minesweeper, take four times as long as estimated, and not longer than "at worst".
    What cannot be known before is which plain models win the race: a deep one takes ten times as long as a
    flat one. Nor is the number of kernels: where the features tell everything, one is enough, and a fit over
    rows takes a third of what is estimated for the usual number.

    The memory is that of :meth:`NodeClassifier.need <otherhalf.estimators.base.NodeClassifier.need>`, with
    the graph and the process itself. ``benchmarks/memory.py`` compares it with fits of ten graphs.
    """
    likely = worst = None
    threads = 1
    if settings.method == "kernel":
        size = _Size.of(graph, split)
        if goes_over_rows(graph.num_nodes, graph.num_edges, settings.ensemble):
            columns = row_columns(Sizes.of(graph, len(split.train)), settings.ensemble)
            threads = torch.get_num_threads()
            share = 1 - DIVIDED + DIVIDED / threads
            likely, worst = (
                BETWEEN * share * sum(_row_stages(size, settings, graph, columns, epochs))
                for epochs in (LIKELY_EPOCHS, ROW_TRAINING.epochs)
            )
        else:
            likely, worst = (sum(_stages(size, settings, finish)) for finish in (FINISH, WORST_FINISH))
    sizes = Sizes.of(graph, len(split.train))
    memory = PROCESS + graph_bytes(graph) + goal_need(sizes, settings).size
    disk = row_disk(sizes, settings)
    return Estimate(likely, worst, memory, graph.num_nodes, graph.num_edges, disk, threads)


def in_words(seconds: float) -> str:
    """Return a duration that is not exact: seconds, minutes or hours."""
    if seconds < 90:
        number, unit = max(1, round(seconds / 5) * 5 if seconds >= 10 else round(seconds)), "second"
    elif seconds < 90 * 60:
        number, unit = round(seconds / 60), "minute"
    else:
        number, unit = round(seconds / 3600), "hour"
    return f"{number} {unit}" + ("" if number == 1 else "s")


@dataclass(frozen=True)
class _Size:
    """The sizes of a fit: nodes and training nodes in 10⁴, edges in 10⁵, entries of the features in 10⁶."""

    nodes: float
    edges: float
    entries: float
    train: float
    classes: int
    num_nodes: int
    num_train: int
    num_val: int

    @classmethod
    def of(cls, graph: Graph, split: Split) -> _Size:
        entries = getattr(graph.x, "nnz", graph.x.size)
        edges, train = graph.undirected_edges.shape[1], len(split.train)
        return cls(
            graph.num_nodes / 1e4,
            edges / 1e5,
            entries / 1e6,
            train / 1e4,
            graph.num_classes,
            graph.num_nodes,
            train,
            len(split.val),
        )


def _stages(size: _Size, settings: Settings, finish: float) -> Iterator[float]:
    """Yield the seconds of each stage on one core; ``finish`` is the length of a complete training."""
    chosen = settings.ensemble
    count = count_trainings(size.num_nodes, size.num_train, size.num_val, chosen)
    longest = settings.goal.training.epochs
    trained = min(1.0, longest / USUAL.epochs) * (2 if chosen.refit else 1)
    if chosen.half == "found":
        yield from _half(size, settings.kernel)
    if chosen.trees:
        yield 0.23 + (1.2 + 0.13 * size.classes) * size.nodes
        if size.num_train * size.classes <= MOST_WORK:
            yield count * size.classes * (0.05 + 0.81 * size.train)
    if chosen.classifier:
        nodes = (0.98 + 0.13 * size.classes) * size.nodes
        yield trained * count * (0.07 + nodes + 0.11 * size.edges + 0.52 * size.entries)
    started = starters(settings)
    if chosen.plain and started:
        nodes = (12.7 + 0.34 * size.classes) * size.nodes
        race = 1.0 + nodes + 3.6 * size.edges + 16.4 * size.entries
        layers = sum(each.architecture.layers for each in started)
        share = layers / sum(each.architecture.layers for each in CANDIDATES)
        yield race * share * min(1.0, longest / RACE_EPOCHS)
        finishers = min(count_finishers(size.num_nodes, chosen), len(started))
        mean_share = share * len(CANDIDATES) / len(started)
        yield trained * count * finishers * finish * race * mean_share


def _row_stages(size: _Size, settings: Settings, graph: Graph, columns: int, epochs: int) -> Iterator[float]:
    """Yield the seconds of each stage of a fit over rows, with trainings of so many epochs."""
    chosen, refits = settings.ensemble, 2 if settings.ensemble.refit else 1
    epochs = min(epochs, settings.goal.training.epochs)
    if chosen.half == "found":
        yield from _half(size, settings.kernel)
    if chosen.propagation:
        ways = 4 if graph.directed else 2
        yield (ways + 4) * PROPAGATED * size.classes * (size.nodes + size.edges)
    if chosen.trees:
        rows = min(size.num_train, TREE_ROWS) / 1e4
        yield TREE_COUNT / 100 * (TREE_FIT + TREE_FIT_CLASS * size.classes) * rows
        yield (TABLE + TABLE_CLASS * size.classes) * size.nodes + TABLE_EDGES * size.edges
    yield ROW_PRODUCT * columns * size.edges / 1e2
    models = int(chosen.classifier) + 0.7 * len(plain_over_rows(chosen))
    yield (
        refits
        * models
        * epochs
        * min(size.num_train, MOST_ROWS)
        / 1e4
        * (EPOCH + EPOCH_COLUMN * columns / 1e2)
    )
    yield (BLENDED + BLENDED_CLASS * size.classes) * size.nodes


def _half(size: _Size, kernel: KernelSettings) -> Iterator[float]:
    """Yield the seconds of the choice of kernels, the regression, and the search."""
    yield 3.8 * (min(size.num_train, kernel.nodes) / 1500) ** 2
    exact = size.num_train <= kernel.exact
    if exact:
        yield 12.0 * size.train**3
        compared = min(size.num_train, kernel.max_candidates)
    else:
        yield 36.0 * (kernel.landmarks / 1e4) ** 2 * min(size.train, MOST_TAUGHT / 1e4)
        compared = min(size.num_train, kernel.max_candidates)
        compared += 0 if size.num_nodes > LARGE else kernel.landmarks
    pace = ONE_PASS if size.num_nodes > LARGE else 1.0
    yield pace * 4.0 * size.nodes * compared / 1e4
    yield pace * 4.1 * size.nodes
