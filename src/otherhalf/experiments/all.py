"""Every experiment by name."""

from __future__ import annotations

from otherhalf.experiments.ablation import Ablation
from otherhalf.experiments.arxiv import Arxiv
from otherhalf.experiments.autotune import Autotune
from otherhalf.experiments.discrimination import Discrimination
from otherhalf.experiments.eigenvalues import Eigenvalues
from otherhalf.experiments.experiment import Experiment
from otherhalf.experiments.filter_figure import Filters
from otherhalf.experiments.homophily_figure import Topology
from otherhalf.experiments.table1 import PublishedSplits, Table1

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        Table1(),
        PublishedSplits(),
        Ablation(),
        Topology(),
        Discrimination(),
        Autotune(),
        Arxiv(),
        Eigenvalues(),
        Filters(),
    )
}
