"""What a search has found, as values for JSON, sentences and counts: nothing that it does not know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import Any

from otherhalf.experiments.runner.models import GOAL
from otherhalf.experiments.tuning.divisions import RANDOM_KINDS
from otherhalf.experiments.tuning.halving import SHARE, ranked
from otherhalf.experiments.tuning.ready import Ready
from otherhalf.experiments.tuning.trial import FAILED, RUNGS, STOPPED, Trial, in_words
from otherhalf.experiments.tuning.tune import Search
from otherhalf.report.tuned import search_page
from otherhalf.training.metrics import METRICS

DIGITS = 4


@dataclass(frozen=True)
class Told:
    """A search that has ended, with its model."""

    search: Search
    ready: Ready

    @cached_property
    def best(self) -> tuple[Trial, int]:
        """The chosen trial, and the rung that says so."""
        return self.search.best()

    @property
    def fits(self) -> int:
        """Number of fits that the choice rests on."""
        return RUNGS[self.best[1]]

    @property
    def title(self) -> str:
        """Title of the page and of the summary."""
        bench = self.search.benchmark
        return f"{bench.data}: {len(self.search.trials)} settings tried, {METRICS[bench.metric].title}"

    def score_of(self, trial: Trial) -> float | None:
        """Return the mean validation score of a trial over all its fits; None if it has none."""
        return mean(trial.scores.values()) if trial.scores else None

    def ordered(self) -> list[Trial]:
        """Return the trials, best first: those on a higher rung before the others, the failed ones last."""
        trials, larger = self.search.trials, self.search.larger_is_better
        rungs = [ranked(trials, rung, larger_is_better=larger) for rung in reversed(range(len(RUNGS)))]
        every = [self.best[0], *(trial for rung in rungs for trial in rung), *trials]
        return list({trial.number: trial for trial in every}.values())

    # ------------------------------------------------------------------ values

    def values(self) -> dict[str, Any]:
        """Return the search for JSON."""
        search, (trial, rung) = self.search, self.best
        default = search.trials[0]
        return {
            "name": search.benchmark.data,
            "split": search.benchmark.split,
            "seed": search.seed,
            "metric": search.metric.name,
            "metric_reason": search.metric.reason,
            "models": list(dict.fromkeys(way.name for way in search.ways)),
            "chosen": {
                "trial": trial.number,
                **self._settings(trial),
                "params": trial.way.params(trial.point),
            },
            "is_default": trial.number == 0,
            "fits": self.fits,
            "validation": trial.mean(rung),
            "default_validation": default.mean(rung) if default.has(rung) else None,
            **self.ready.values(),
            "ended": search.ended,
            "seconds": search.seconds,
            "reused": search.reused,
            "trials": [self._row(each) for each in search.trials],
            "importance": self.importance(),
            "doubts": list(self.doubts()),
        }

    def _settings(self, trial: Trial) -> dict[str, Any]:
        return {"model": trial.way.name, "settings": dict(trial.point)}

    def _row(self, trial: Trial) -> dict[str, Any]:
        scores = [trial.scores[fit] for fit in sorted(trial.scores)]
        return {
            "trial": trial.number,
            **self._settings(trial),
            "state": trial.state,
            "validation": self.score_of(trial),
            "scores": scores,
            "seconds": trial.seconds,
            "error": trial.error,
        }

    # ------------------------------------------------------------------ which settings mattered

    def importance(self) -> list[dict[str, Any]]:
        """Return for every setting how its values did: those that differ most on average come first.

        Only first fits count, which all trials have. A value that one trial had says nothing of its own, so
        the spread is that of the means of values with two trials or more.
        """
        judged = [trial for trial in self.search.trials if 0 in trial.scores]
        rows = [_values_of("all", "model", [(trial.way.name, trial) for trial in judged])]
        for way in self.search.ways:
            own = [trial for trial in judged if trial.way.name == way.name]
            for setting in way.dimensions:
                pairs = [
                    (in_words(value), trial)
                    for value in setting.values
                    for trial in own
                    if way.decides(setting, trial.point)
                    and trial.point.get(setting.name, setting.default) == value
                ]
                rows.append(_values_of(way.name, setting.name, pairs))
        known = [row for row in rows if row is not None]
        return sorted(known, key=lambda row: -row["spread"])

    # ------------------------------------------------------------------ sentences

    def choice(self) -> str:
        """Return what was chosen, and how far it leads on validation."""
        (trial, rung), first = self.best, self.search.trials[0]
        score, fits = f"{trial.mean(rung):.{DIGITS}f}", _fits(self.fits)
        if trial is first:
            return (
                f"No settings were better on validation than the defaults of {trial.way.title}, which have "
                f"{score} ({fits}): they are kept."
            )
        if not first.has(rung):
            return f"{trial.title}: {score} on validation ({fits}). The defaults failed: {first.error}."
        lead = trial.mean(rung) - first.mean(rung)
        return (
            f"{trial.title}: {score} on validation ({fits}), {lead:+.{DIGITS}f} against the defaults of "
            f"{first.way.title}."
        )

    def on_test(self) -> str:
        """Return the scores on test nodes, which were read for these two models alone."""
        ready, title = self.ready, METRICS[self.search.metric.name].title
        if ready.test is None or ready.default_test is None:
            return f"No {title} on test nodes: {ready.test_nodes} of them have a label."
        text = f"On {ready.test_nodes} test nodes its {title} is {ready.test:.{DIGITS}f}"
        if self.best[0].number == 0 or self.search.trials[0].error:
            return f"{text}."
        error = "" if ready.lead_error is None else f" ± {ready.lead_error:.{DIGITS}f}"
        lead = f"a lead of {ready.lead:+.{DIGITS}f}{error}" if ready.lead else "no difference"
        return f"{text}, that of the defaults {ready.default_test:.{DIGITS}f} (paired: {lead})."

    def doubts(self) -> Iterator[str]:
        """Yield what to doubt."""
        search, trial, ready = self.search, self.best[0], self.ready
        judged = [each for each in search.trials if each.scores]
        if len(judged) > 1:
            yield (
                f"The validation score of the choice is the best of {len(judged)}, so it is too good: of so "
                "many, some are lucky. Believe the test score, which was computed for the choice and the "
                "defaults only."
            )
        if trial.number and ready.lead is not None and ready.lead_error is not None:
            if ready.lead < 0:
                yield "On the test nodes the defaults are better: the gain on validation was luck, or small."
            elif ready.lead < 2 * ready.lead_error:
                yield "The lead on the test nodes is within two standard errors: it may be chance."
        if self.fits == 1 and len(judged) > 1:
            yield "The choice rests on one fit of each: more time, or more trials, would try the best again."
        if search.benchmark.split not in RANDOM_KINDS:
            yield (
                "All fits are judged on the same validation nodes, those of your split; later fits differ in "
                "their seed only."
            )
        if any(way.model == GOAL for way in search.ways) and len({way.model for way in search.ways}) > 1:
            yield (
                "GOAL also weighs its members by the validation nodes, and a network stops by them: between "
                "models, validation scores favour the one that chooses more."
            )
        counts = {state: sum(each.state == state for each in search.trials) for state in (FAILED, STOPPED)}
        if counts[FAILED]:
            error = next(each.error for each in search.trials if each.error)
            yield f"{counts[FAILED]} trial(s) failed and cannot be chosen, the first with: {error}"
        if search.ended == "time":
            yield (
                f"The time was up; {counts[STOPPED]} trial(s) have fits that were stopped or not begun. The "
                "same command goes on."
            )
        if search.ended == "space":
            yield "Every setting that the search could think of was tried."

    def how(self) -> str:
        """Return how the search works, in two sentences."""
        once, twice, most = RUNGS
        return (
            f"Every trial has {once} fit. One of {SHARE} goes on and has {twice}, one of {SHARE} of those "
            f"{most}; the others are pruned. The defaults go along. "
            f"{search_kind(self.search.benchmark.split)}"
        )

    def page(self, command: str = "") -> str:
        """Return the page about the search."""
        metric = METRICS[self.search.metric.name]
        words = {
            "title": self.title,
            "metric": metric.title,
            "larger_is_better": metric.larger_is_better,
            "choice": self.choice(),
            "on_test": self.on_test(),
            "how": self.how(),
            "trials": {trial.number: trial.title for trial in self.ordered()},
        }
        return search_page(self.values(), words, command)


def _values_of(model: str, setting: str, pairs: Sequence[tuple[str, Trial]]) -> dict[str, Any] | None:
    """Return how the values of a setting did, in their order; None if there is nothing to compare."""
    groups: dict[str, list[float]] = {}
    for value, trial in pairs:
        groups.setdefault(value, []).append(trial.scores[0])
    means = [mean(scores) for scores in groups.values() if len(scores) > 1]
    if len(means) < 2:
        return None
    values = [
        {"value": value, "trials": len(scores), "mean": mean(scores)} for value, scores in groups.items()
    ]
    return {"model": model, "setting": setting, "spread": max(means) - min(means), "values": values}


def search_kind(split: str) -> str:
    """Return what differs between the fits of a trial."""
    if split in RANDOM_KINDS:
        return "Each fit divides the training and validation nodes anew; test nodes are not among them."
    return "Each fit has another seed; the training and validation nodes are those of the split."


def _fits(number: int) -> str:
    return "1 fit" if number == 1 else f"mean of {number} fits"
