"""One run of an experiment: the job, described so fully that its key says whether it is done; its record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from operator import index
from typing import Any

import numpy as np

from otherhalf.errors import InputError

FORMAT = 2
"""Of the records: a larger number was written by a newer version. Those of format 1 have no ``check``."""


def canonical(value: Any) -> str:
    """JSON with sorted keys and without NaN: equal values, equal text."""
    return json.dumps(value, sort_keys=True, allow_nan=False, default=_plain)


def plain(value: Any) -> Any:
    """The value as JSON would give it back: tuples are lists, numpy's numbers Python's, keys strings."""
    return json.loads(canonical(value))


@dataclass(frozen=True)
class Job:
    """What is run, on what, with which settings.

    ``task`` names the kind of run, ``data`` a data set (or own data) and ``data_hash`` its contents,
    ``model`` a model ("" where there is none), ``split`` a protocol ("" where there is none). ``options`` is
    the full configuration with every default filled in; it must not be changed afterwards.

    Whole numbers and fractions stay what they are: an option 1 and an option 1.0 are two jobs, so an option
    should come from settings of a fixed type.
    """

    task: str
    data: str
    data_hash: str
    model: str
    options: Mapping[str, Any]
    split: str
    seed: int

    def __post_init__(self) -> None:
        try:
            options = plain(dict(self.options))
        except ValueError as error:  # NaN would be unequal to itself: the job would never count as done
            raise InputError(
                f"the options of {self.data} {self.model} cannot be kept ({error}): give finite numbers"
            ) from error
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "seed", index(self.seed))

    @cached_property
    def key(self) -> str:
        """A hash of all fields: the same for the same run, on any machine."""
        return hashlib.sha256(canonical(self.to_dict()).encode()).hexdigest()

    @property
    def model_seed(self) -> int:
        """Of weights and dropout, and what tells runs apart: the job's own, unless all share one split."""
        return int(self.options.get("model_seed", self.seed))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Job:
        """The job that :meth:`to_dict` was called on; a TypeError where fields are missing or unknown."""
        return cls(**values)


@dataclass(frozen=True)
class Outcome:
    """How a job ended: with a result, or with a message saying why there is none.

    ``kind`` is ``done``, ``input`` (the job cannot be run so; the message is one line) or ``crash`` (the
    message is a traceback, or says what killed the process). ``seconds`` is the wall time of the work.
    """

    result: dict[str, Any] | None
    seconds: float
    peak_memory_mb: float
    threads: int
    kind: str = "done"
    message: str = ""

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return self.kind == "done"

    @property
    def summary(self) -> str:
        """The message's last line, which in a traceback is the one that says what happened."""
        return self.message.strip().rpartition("\n")[2]


@dataclass(frozen=True)
class Record:
    """A finished run: the job, its result, what it cost, and which code it was run with."""

    format: int
    key: str
    job: Job
    result: dict[str, Any]
    seconds: float
    peak_memory_mb: float
    version: str
    commit: str | None
    threads: int
    finished: str

    @property
    def line(self) -> str:
        """The record as one line of JSON, with its end."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["job"] = self.job.to_dict()
        return canonical({**values, "check": _check(values)}) + "\n"

    @classmethod
    def from_line(cls, line: bytes, place: str) -> Record:
        """The record that a line holds; ``place`` is what an error calls the line."""
        try:
            values = json.loads(line, parse_constant=_refuse)
            if values["format"] <= FORMAT:
                return cls._checked(values)
        except (ValueError, TypeError, KeyError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(
                f"{place} is no record of a run ({reason}): remove that line, and the run is done again, or "
                "restore the file from version control"
            ) from error
        raise InputError(f"{place} was written by a newer otherhalf: upgrade otherhalf to read it")

    @classmethod
    def _checked(cls, values: dict[str, Any]) -> Record:
        check = values.pop("check") if values["format"] > 1 else None
        if check is not None and check != _check(values):
            raise ValueError("it has been changed since it was written")
        job = Job.from_dict(values["job"])
        record = cls(**{**{field.name: values[field.name] for field in fields(cls)}, "job": job})
        if record.key != job.key:
            raise ValueError("its key is not that of its job")
        if not isinstance(record.result, dict):
            raise TypeError("its result is no object")
        for name in ("seconds", "peak_memory_mb"):
            if not isinstance(getattr(record, name), int | float):
                raise TypeError(f"its {name} is no number")
        return record


def _check(values: dict[str, Any]) -> str:
    """A hash of all that a record says, so that a changed digit is noticed."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:16]


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}, which no record does")


def _plain(value: Any) -> Any:
    # As otherhalf.estimators.settings has it, which cannot be imported here without waiting for torch.
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written to JSON")
