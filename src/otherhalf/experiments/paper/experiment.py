"""What every table and figure of the paper has in common: jobs to run, and what their records say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from otherhalf.data.catalog import resolve
from otherhalf.errors import InputError
from otherhalf.experiments.models import check_model
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table
from otherhalf.experiments.tuning.search import SEEDS


@dataclass(frozen=True)
class Request:
    """What a user wants of an experiment: which data sets and models, and how many runs of each."""

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    runs: int


def check_runs(runs: int) -> None:
    """Refuse a number of runs that there are not, or that would report the splits settings are chosen on."""
    if runs < 1:
        raise InputError(f"{runs} runs are too few: give 1 or more")
    if runs > min(SEEDS):
        raise InputError(
            f"{runs} runs are too many, because settings are chosen on splits from {min(SEEDS)} on: give "
            f"{min(SEEDS)} or less"
        )


class Experiment(ABC):
    """One table or figure.

    ``label`` is the paper's own, empty for what is not in it; ``datasets`` and ``models`` are those that can
    be asked for, and with ``runs`` what is done where nothing is said. ``draws`` says whether it has figures.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    label: ClassVar[str]
    datasets: ClassVar[tuple[str, ...]]
    models: ClassVar[tuple[str, ...]] = ()
    runs: ClassVar[int] = 10
    draws: ClassVar[bool] = False

    def request(
        self, datasets: list[str] | None = None, models: list[str] | None = None, runs: int | None = None
    ) -> Request:
        """What to do: the whole of it, or the part that is named; refuses what there is not."""
        if models and not self.models:
            raise InputError(f"{self.name} has no models to choose among: drop --models")
        if runs is not None:
            check_runs(runs)
        names = tuple(dict.fromkeys(self._data_set(name) for name in datasets or self.datasets))
        for model in models or ():
            check_model(model)
            if model not in self.models:
                raise InputError(f"{self.name} has no {model}: choose among {', '.join(self.models)}")
        return Request(names, tuple(models or self.models), self.runs if runs is None else runs)

    @abstractmethod
    def jobs(self, request: Request) -> list[Job]:
        """What has to be run, all of it known beforehand."""

    def reported(self, request: Request, store: Store) -> list[Job]:
        """The jobs whose records the table is made of, whatever data lies on this computer."""
        return self.jobs(request)

    @abstractmethod
    def table(self, request: Request, store: Store) -> Table:
        """What the records say, beside the paper's numbers; a dash where there is no record."""

    @abstractmethod
    def values(self, request: Request, store: Store) -> dict[str, Any]:
        """The same for programs."""

    def figures(self, request: Request, store: Store, folder: Path) -> list[Path]:
        """Draw what is a figure in the paper; the files written."""
        return []

    def _data_set(self, name: str) -> str:
        known = resolve(name)
        if known is None:
            raise InputError(f"there is no data set {name!r}: `otherhalf datasets` lists the names")
        if known not in self.datasets:
            raise InputError(f"{self.name} is not about {known}: choose among {', '.join(self.datasets)}")
        return known
