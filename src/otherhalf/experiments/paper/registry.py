"""Every experiment by name."""

from otherhalf.experiments.paper.ablation import Ablation
from otherhalf.experiments.paper.arxiv import Arxiv
from otherhalf.experiments.paper.autotune import Autotune
from otherhalf.experiments.paper.directed import Directed
from otherhalf.experiments.paper.discrimination import Discrimination
from otherhalf.experiments.paper.eigenvalues import Eigenvalues
from otherhalf.experiments.paper.experiment import Experiment
from otherhalf.experiments.paper.filters import Filters
from otherhalf.experiments.paper.heldout import HeldOut
from otherhalf.experiments.paper.table1 import PublishedSplits, Table1
from otherhalf.experiments.paper.topology import Topology
from otherhalf.experiments.paper.worth import Worth

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        Table1(),
        PublishedSplits(),
        Directed(),
        HeldOut(),
        Worth(),
        Ablation(),
        Topology(),
        Discrimination(),
        Autotune(),
        Arxiv(),
        Eigenvalues(),
        Filters(),
    )
}
