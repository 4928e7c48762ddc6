"""A small graph whose edges join unlike nodes, as members read it."""

import numpy as np
import pytest

from otherhalf import split
from otherhalf.complement.kernel_half import learn_kernel_half
from otherhalf.complement.settings import KernelSettings
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.magnitudes import MagnitudeScaling
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.training.supervised import Supervision

GRAPH = contextual_sbm(num_nodes=160, num_classes=3, num_features=6, homophily=0.1, signal=2.0, seed=1)
PARTS = split(GRAPH, seed=0)
QUICK = KernelSettings(nodes=60, steps=3, k=4)


def view_of(graph, parts, *, half=True, kind="homophily"):
    supervision = Supervision(parts, 0)
    scaling = Scaling.fit(graph.x, "auto")
    magnitudes = MagnitudeScaling.fit(scaling.apply(graph.x), graph.adjacency)
    prepared = PreparedGraph(graph, scaling, magnitudes=magnitudes)
    labels = TrainingLabels(np.array(parts.train), graph.y[parts.train], graph.num_classes)
    spread = found = None
    if half:
        spread, found = learn_kernel_half(graph, scaling, kind, QUICK, supervision)
    tendency = "heterophily" if kind == "homophily" else "homophily"
    return GraphView(prepared, labels, tendency, spread=spread, kind=kind, k=QUICK.k, found=found)


@pytest.fixture(scope="session")
def view():
    return view_of(GRAPH, PARTS)


@pytest.fixture(scope="session")
def view_without_half():
    return view_of(GRAPH, PARTS, half=False)


@pytest.fixture(scope="session")
def supervision():
    return Supervision(PARTS, 0)
