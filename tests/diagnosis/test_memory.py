"""What a diagnosis needs grows with the graph, and one that does not fit is refused before it begins."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.memory import diagnosis_need
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.errors import NotEnoughMemory
from otherhalf.system import need
from otherhalf.system.memory import Room

GRAPH = contextual_sbm(num_nodes=200, num_features=8, homophily=0.7, seed=0)


def test_it_grows_with_edges_and_columns():
    few = diagnosis_need(GRAPH, GRAPH.num_edges).size
    wide = replace(GRAPH, x=np.ones((200, 5000), dtype=np.float32))
    assert diagnosis_need(wide, GRAPH.num_edges).size == few + 200 * (5000 - 8) * 4
    thin = replace(GRAPH, x=sp.csr_matrix(wide.x))  # read where they are
    assert diagnosis_need(thin, GRAPH.num_edges).size < few
    assert diagnosis_need(GRAPH, 10).size < few


def test_it_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(need, "room", lambda: Room(1000, "the machine"))
    with pytest.raises(NotEnoughMemory, match=r"^the diagnosis needs about \d+ MB and 0 MB are free, by the"):
        diagnose(GRAPH)
