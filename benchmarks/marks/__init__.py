"""The measures, one file each."""

from importlib import import_module

from benchmarks.measure import Measure

FILES = (
    "topk",
    "ranking",
    "training",
    "fits",
    "startup",
    "diagnosis",
    "sampling",
    "growth",
    "spread",
    "cluster",
    "costs",
    "large",
    "rows_accuracy",
    "whole",
)
"""Files of this folder, in the order of the table. Each has a tuple ``MEASURES``."""


def measures() -> list[Measure]:
    """Return the measures of all files."""
    return [each for file in FILES for each in import_module(f"benchmarks.marks.{file}").MEASURES]
