"""What every table and figure of the paper has in common: jobs to run, and a table from their records."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from otherhalf.data.catalog import resolve
from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import title_of
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table
from otherhalf.experiments.tuning.search import check_runs


@dataclass(frozen=True)
class Request:
    """The part of an experiment to do: data sets, models, and the number of runs of each."""

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    runs: int


class Experiment(ABC):
    """One table or figure.

    Attributes:
        name: Its name on the command line.
        title: Its title.
        label: Label of the table or figure in the paper; empty if it is not in the paper.
        datasets: Data sets that can be requested; default of a request.
        models: Models that can be requested; default of a request.
        runs: Default number of runs.
        split: Protocol of the splits, if the values name it.
        draws: Whether it has figures.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    label: ClassVar[str]
    datasets: ClassVar[tuple[str, ...]]
    models: ClassVar[tuple[str, ...]] = ()
    runs: ClassVar[int] = 10
    split: ClassVar[str] = ""
    draws: ClassVar[bool] = False

    def request(
        self, datasets: list[str] | None = None, models: list[str] | None = None, runs: int | None = None
    ) -> Request:
        """Return a request, by default for the entire experiment; raise InputError if it cannot be done."""
        if models and not self.models:
            raise InputError(f"{self.name} has no models to choose among: drop --models")
        if runs is not None:
            check_runs(runs)
        names = tuple(dict.fromkeys(self._data_set(name) for name in datasets or self.datasets))
        for model in models or ():
            self._check_model(model)
        return Request(names, tuple(models or self.models), self.runs if runs is None else runs)

    @abstractmethod
    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return the jobs on one data set."""

    def jobs(self, request: Request) -> list[Job]:
        """Return all jobs of the request."""
        return [job for data in request.datasets for job in self.jobs_of(data, request)]

    def reported(self, request: Request, store: Store) -> list[Job]:
        """Return the jobs whose records the table shows, whichever data are on this computer."""
        return [job for job in self.jobs(request) if store.has(job) or not self.may_be_missing(job)]

    def may_be_missing(self, job: Job) -> bool:
        """Return whether the results page may lack the record of a job, and show a dash, until it is run."""
        return False

    @abstractmethod
    def table(self, request: Request, store: Store) -> Table:
        """Return the table of the records, with the paper's numbers, and a dash where a record is missing."""

    @abstractmethod
    def values_of(self, data: str, request: Request, store: Store) -> Any:
        """Return what the table says about one data set, for JSON."""

    def values(self, request: Request, store: Store) -> dict[str, Any]:
        """Return what the table says, for JSON."""
        split = {"split": self.split} if self.split else {}
        datasets = {data: self.values_of(data, request, store) for data in request.datasets}
        return {"experiment": self.name, **split, "runs": request.runs, "datasets": datasets}

    def figures(self, request: Request, store: Store, folder: Path) -> list[Path]:
        """Draw the figures, and return the files written."""
        return []

    def _check_model(self, model: str) -> None:
        """Raise InputError if the model cannot be requested."""
        title_of(model)  # raises InputError if there is no such model
        if model not in self.models:
            raise InputError(f"{self.name} has no {model}: choose among {', '.join(self.models)}")

    def _data_set(self, name: str) -> str:
        known = resolve(name)
        if known is None:
            raise InputError(f"there is no data set {name!r}: `otherhalf datasets` lists the names")
        if known not in self.datasets:
            raise InputError(f"{self.name} is not about {known}: choose among {', '.join(self.datasets)}")
        return known
