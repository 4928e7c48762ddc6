"""Read the results of jobs from a store."""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import getitem
from typing import Any

from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store


def all_results(store: Store, jobs: Iterable[Job]) -> list[dict[str, Any]] | None:
    """Return the results of the jobs; None if one of them has no record, or if there are no jobs."""
    records = [store.get(job) for job in jobs]
    results = [record.result for record in records if record is not None]
    return results if results and len(results) == len(records) else None


def number(result: Mapping[str, Any], *path: str) -> float | None:
    """Return the number at this path in a result, None if it is undefined.

    Raise InputError if there is anything else at the path, or nothing.
    """
    value: Any = result
    try:
        value = reduce(getitem, path, value)
    except (KeyError, TypeError):
        value = "nothing"
    if value is not None and not isinstance(value, int | float):
        raise InputError(
            f"a record has {value!r} where the number {'/'.join(path)} belongs: restore it from version "
            "control, or remove its line, and the run is done again"
        )
    return None if value is None else float(value)
