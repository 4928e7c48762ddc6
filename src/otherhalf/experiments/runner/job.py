"""One run of an experiment: the job, which describes the run completely, its outcome, and its record."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from operator import index
from typing import Any

from otherhalf.data.entries import DATASETS
from otherhalf.errors import InputError
from otherhalf.system.fields import json_number
from otherhalf.system.own_files import reason_of
from otherhalf.system.typed import typed

FORMAT = 2
"""Format of the records; newer versions have larger numbers. Records of format 1 have no ``check``."""


def canonical(value: Any) -> str:
    """Return JSON with sorted keys and without NaN: equal values give equal text."""
    return json.dumps(value, sort_keys=True, allow_nan=False, default=json_number)


def as_json(value: Any) -> Any:
    """Return the value as JSON gives it back: lists for tuples, Python's numbers for numpy's."""
    return json.loads(canonical(value))


def data_set_of(data: str, data_hash: str) -> str:
    """Return the name of the data set that a graph of this name and hash is; empty for any other graph."""
    known = DATASETS.get(data)
    if known is None or not known.fingerprint:  # without a fingerprint, only the name would speak for it
        return ""
    content, _, splits = data_hash.partition(":")
    same = content == known.fingerprint and splits in ("", known.splits_fingerprint)
    return data if same else ""


@dataclass(frozen=True)
class Job:
    """What is run, on what, with which settings.

    Integers and floats are different: the options 1 and 1.0 make two jobs. So an option should come from
    settings of a fixed type.

    Attributes:
        task: Kind of run.
        data: Name of the graph.
        data_hash: Hash of its content.
        model: Name of the model; empty if there is none.
        options: The complete configuration, defaults included. It must not be changed afterwards.
        split: Protocol of the splits; empty if there is none.
        seed: Number of the split, and seed of the run.
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
            options = as_json(dict(self.options))
        except ValueError as error:  # NaN is unequal to itself: the job would never count as done
            raise InputError(
                f"the options of {self.data} {self.model} cannot be kept ({error}): give finite numbers"
            ) from error
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "seed", index(self.seed))

    @cached_property
    def key(self) -> str:
        """Hash of all fields: the same for the same run on every computer."""
        return hashlib.sha256(canonical(self.to_dict()).encode()).hexdigest()

    @property
    def data_set(self) -> str:
        """Name of the data set that the graph is by its content; empty for any other graph."""
        return data_set_of(self.data, self.data_hash)

    @property
    def model_seed(self) -> int:
        """Seed of weights and dropout: the seed of the job, unless the job is one of several on one split."""
        return int(self.options.get("model_seed", self.seed))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, for JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Job:
        """Return the job from :meth:`to_dict`; raise TypeError if a field is missing, unknown or mistyped."""
        return typed(cls, values)


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    Attributes:
        result: Its result; None if it failed.
        seconds: Wall time of the work.
        peak_memory_mb: Largest memory of the process while it ran.
        threads: Number of threads it had.
        kind: ``done``, ``input`` (the job cannot be run) or ``crash``.
        message: Why there is no result: one sentence for ``input``, and for ``crash`` a traceback or what
            ended the process.
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
        """Last line of the message: in a traceback it is the error itself."""
        return self.message.strip().rpartition("\n")[2]


@dataclass(frozen=True)
class Record:
    """A finished run: the job, its result, what it cost, and the code that ran it."""

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
        """The record as one line of JSON, newline included."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["job"] = self.job.to_dict()
        return canonical({**values, "check": _check(values)}) + "\n"

    @classmethod
    def from_line(cls, line: bytes, place: str) -> Record:
        """Return the record in a line; ``place`` names the line in errors."""
        try:
            values = json.loads(line, parse_constant=_reject)
            if values["format"] <= FORMAT:
                return cls._checked(values)
        except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
            raise InputError(
                f"{place} is no record of a run ({reason_of(error)}): remove that line, and the run is done "
                "again, or restore the file from version control"
            ) from error
        raise InputError(f"{place} was written by a newer otherhalf: upgrade otherhalf to read it")

    @classmethod
    def _checked(cls, values: dict[str, Any]) -> Record:
        first_format = values["format"] == 1 and "check" not in values
        if not first_format and values.pop("check") != _check(values):
            raise ValueError("it has been changed since it was written")
        job = Job.from_dict(values["job"])
        record = typed(cls, {**{field.name: values[field.name] for field in fields(cls)}, "job": job})
        if record.key != job.key:
            raise ValueError("its key is not that of its job")
        if not (math.isfinite(record.seconds) and math.isfinite(record.peak_memory_mb)):
            raise ValueError("its seconds or its memory is not finite")
        return record


def _check(values: dict[str, Any]) -> str:
    """Return a hash of the entire record, which shows whether a digit was changed."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:16]


def _reject(constant: str) -> None:
    raise ValueError(f"it holds {constant}, which no record does")
