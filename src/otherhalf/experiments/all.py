"""Every experiment by name."""

from __future__ import annotations

from otherhalf.experiments.experiment import Experiment
from otherhalf.experiments.table1 import PublishedSplits, Table1

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (Table1(), PublishedSplits())}
