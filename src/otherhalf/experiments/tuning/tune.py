"""``tune``: search over the settings of models for one graph and one split, by validation alone.

The records are the state of the search. A search that was stopped reads those of its trials and goes on; no
fit with a record is done again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError, RunsFailed
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.claims import alone
from otherhalf.experiments.runner.graphs import hash_of
from otherhalf.experiments.runner.job import Job, Outcome, canonical
from otherhalf.experiments.runner.models import make_model
from otherhalf.experiments.runner.run import workers_for
from otherhalf.experiments.runner.store import Store, source_commit
from otherhalf.experiments.runner.stream import run_stream
from otherhalf.experiments.tasks import Worker
from otherhalf.experiments.tuning.halving import chosen, next_fit
from otherhalf.experiments.tuning.proposals import check_optuna, propose
from otherhalf.experiments.tuning.space import Way, ways_for
from otherhalf.experiments.tuning.trial import Trial
from otherhalf.experiments.workbench import Workbench
from otherhalf.graph import Graph, Split
from otherhalf.system.fields import integer, number
from otherhalf.training.metric_choice import MetricChoice
from otherhalf.training.metrics import METRICS

TASK = "tune"

OnFit = Callable[["Search", Trial, int, Outcome], Any]
"""Called after each fit with the search, the trial, the number of the fit and its outcome."""


@dataclass
class Search:
    """A search over settings.

    Attributes:
        benchmark: The graph, the kind of its split and the metric.
        seed: Seed of the split, of the fits and of the search.
        ways: What may be tried.
        metric: The metric, and why it is the one.
        trials: The trials by number.
        wanted: Number of trials that were asked for.
        reused: Number of fits that had a record before.
        ended: Why the search has ended: ``trials``, ``time`` or ``space`` (nothing is left to try).
        seconds: Time of this search, without that of earlier ones.
    """

    benchmark: BenchmarkData
    seed: int
    ways: list[Way]
    metric: MetricChoice
    trials: list[Trial]
    wanted: int
    reused: int = 0
    ended: str = "trials"
    seconds: float = 0.0

    @property
    def larger_is_better(self) -> bool:
        """Whether larger scores are better."""
        return METRICS[self.metric.name].larger_is_better

    @property
    def study(self) -> str:
        """Hash of what a search is about beside the graph: of its seed and its space."""
        space = {way.name: [[each.name, each.values] for each in way.dimensions] for way in self.ways}
        return hashlib.sha256(canonical({"seed": self.seed, "space": space}).encode()).hexdigest()[:16]

    def job(self, trial: Trial, fit: int) -> Job:
        """Return a fit of a trial."""
        more = {"study": self.study, "trial": trial.number, "way": trial.way.name, "point": trial.point}
        params = trial.way.params(trial.point)
        return self.benchmark.job(TASK, trial.way.model, params, self.seed, **more, fit=fit)

    def read(self, store: Store) -> None:
        """Take over the trials that have records; those of a version with other settings do not count."""
        ways, found = {way.name: way for way in self.ways}, dict[int, Trial]()
        for model in dict.fromkeys(way.model for way in self.ways):
            for record in store.records(TASK, self.benchmark.data, model):
                options = record.job.options
                if options.get("study") != self.study or record.job.data_hash != self.benchmark.data_hash:
                    continue
                way = ways[options["way"]]
                point = way.point({name: _as_declared(each) for name, each in options["point"].items()})
                trial = found.get(options["trial"], Trial(options["trial"], way, point))
                if store.key_of(self.job(trial, options["fit"])) == record.key:
                    result = record.result
                    trial.add(options["fit"], result["val"], record.seconds, result.get("error", ""))
                    found[trial.number] = trial
                    self.reused += 1
        self.trials = [found[place] for place in sorted(found)]

    def next_fit(self) -> tuple[Trial, int] | None:
        """Return the next fit, if there is one now: of a trial that goes on, or the first of a new one."""
        larger = self.larger_is_better
        last = len(self.trials) >= self.wanted or self.ended == "space"
        # Without the defaults there is nothing to compare with.
        if self.trials and self.trials[0].number == 0:
            going_on = next_fit(self.trials, larger_is_better=larger, last=last)
            if going_on is not None or last:
                return going_on
        place = next(
            i for i in range(len(self.trials) + 1) if i >= len(self.trials) or self.trials[i].number != i
        )
        proposed = propose(self.ways, self.trials, self.seed, place, larger_is_better=larger)
        if proposed is None:
            self.ended = "space"
            return self.next_fit()
        self.trials.insert(place, Trial(place, *proposed))
        return self.trials[place], 0

    def best(self) -> tuple[Trial, int]:
        """Return the chosen trial and the rung that says so; raise an error if there is none."""
        found = chosen(self.trials, larger_is_better=self.larger_is_better) if self.trials else None
        if found is not None:
            return found
        errors = [trial.error for trial in self.trials if trial.error]
        if errors:
            raise RunsFailed(f"all {len(errors)} trial(s) failed, the first with: {errors[0]}")
        raise InputError(
            "the time was up before the default settings had a score: give a longer --time; finished fits "
            "are kept"
        )


def tune(
    graph: Graph,
    models: Sequence[str],
    workbench: Workbench,
    *,
    trials: int = 50,
    seconds: float | None = None,
    metric: str = "auto",
    split: str = "uniform",
    seed: int = 0,
    on_fit: OnFit | None = None,
) -> Search:
    """Search over the settings of models; validation nodes decide, and no test label is read.

    The first trials are the defaults of each model. With one worker, two searches with one seed have the same
    trials and choose the same; with more, the order in which fits end decides what is tried next.

    Args:
        graph: The graph.
        models: Names of models, as :func:`~otherhalf.experiments.compare.compare` has them.
        workbench: Runs the fits and keeps their records.
        trials: Number of settings to try, with those of earlier searches that have records.
        seconds: Time limit; fits that run then are stopped. Default: none.
        metric: What decides; ``auto`` is accuracy, or average precision where one of two classes is rare.
        split: Protocol of the split.
        seed: Seed of the split, of the fits and of the search.
        on_fit: Called after each fit.
    """
    check_optuna()
    integer(1).check("trials", trials)
    if seconds is not None:
        number(0, above=True).check("the time limit", seconds)
    started = time.monotonic()
    search, parts = _planned(graph, models, trials, metric, split, seed)
    default = search.ways[0]
    params = default.params({})
    make_model(default.model, params, seed, search.metric.name, workbench.store.device).check_fit(
        graph, parts
    )
    store, data_hash = workbench.store, search.benchmark.data_hash
    store.check_writable()
    if not workbench.graphs.has(search.benchmark.data, data_hash):
        workbench.graphs.put(graph, data_hash)
    source_commit()  # asked now, because the code may be edited while the fits run
    with alone(store, f"tune-{search.study}"):  # two equal searches would do the same fits
        search.read(store)
        until = None if seconds is None else started + seconds
        _run(search, workbench, until, on_fit)
    search.seconds = time.monotonic() - started
    return search


def _planned(
    graph: Graph, models: Sequence[str], trials: int, metric: str, split: str, seed: int
) -> tuple[Search, Split]:
    """Return a search without trials, and its split."""
    ways = ways_for(graph, models)
    parts = make_split(graph, split, seed)
    first = make_model(ways[0].model, ways[0].params({}), seed, metric)
    choice = first.choose_metric(graph, parts)
    name = graph.name or "graph"
    benchmark = BenchmarkData(name, hash_of(graph, split), split, choice.name)
    return Search(benchmark, seed, ways, choice, [], trials), parts


def _run(search: Search, workbench: Workbench, until: float | None, on_fit: OnFit | None) -> None:
    """Do the fits of a search, and write the record of each."""
    running: dict[str, tuple[Trial, int]] = {}

    def ask() -> Job | None:
        found = search.next_fit()
        if found is None:
            return None
        trial, fit = found
        trial.running.add(fit)
        job = search.job(trial, fit)
        running[job.key] = found
        return job

    work = Worker(workbench.graphs, workbench.store.device)
    workers = workers_for(workbench.workers, workbench.threads, workbench.executor)
    stream = run_stream(
        ask,
        work,
        workers=workers,
        threads=workbench.threads,
        executor=workbench.executor,
        until=until,
    )
    with closing(stream):
        for job, outcome in stream:
            trial, fit = running.pop(job.key)
            kept = as_record(outcome)
            if kept is not None:
                workbench.store.add(job, kept)
            result = outcome.result or {}
            trial.add(fit, result.get("val"), outcome.seconds, "" if outcome.done else outcome.summary)
            if on_fit is not None:
                on_fit(search, trial, fit, outcome)
    if until is not None and time.monotonic() >= until:
        search.ended = "time" if _unfinished(search) else search.ended


def _unfinished(search: Search) -> bool:
    return len(search.trials) < search.wanted or any(
        trial.running or trial.waiting() for trial in search.trials
    )


def as_record(outcome: Outcome) -> Outcome | None:
    """Return what is recorded of a fit: its score, or its error; None for what another start may do better.

    That is a fit that was killed, or for which the memory did not suffice.
    """
    if outcome.done:
        return outcome
    if outcome.kind == "crash" and not outcome.message.startswith("Traceback"):
        return None
    return replace(outcome, kind="done", result={"val": None, "error": outcome.summary})


def _as_declared(value: Any) -> Any:
    """Return a value as the space has it: a record has lists for tuples."""
    return tuple(value) if isinstance(value, list) else value
