"""The estimate of the memory of a fit, and the sentence if there is not enough."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import otherhalf.complement.memory as memory
from otherhalf import GOALClassifier, Graph, InputError, find_missing_half, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.presets import preset_settings
from otherhalf.nn.backbone import Architecture

GRAPH = contextual_sbm(num_nodes=200, num_features=8, seed=0)
SETTINGS = preset_settings("best", GRAPH.name).complement


def with_encoder(kind: str):
    return replace(SETTINGS, encoder=replace(SETTINGS.encoder, kind=kind))


def test_each_part_grows_with_what_causes_it():
    base = memory.fit_bytes(GRAPH, 100, SETTINGS)
    # 200 rows of 64 parameters, each held five times as float32, for the adjacency rows.
    assert base - memory.fit_bytes(GRAPH, 100, with_encoder("gcn")) == 200 * 64 * 4 * 5
    # A training node more: a ranking list of 2 · 10 nodes.
    assert memory.fit_bytes(GRAPH, 101, SETTINGS) - base == 20 * memory.PAIR


@pytest.mark.parametrize("kind", ["auto", "structure", "linkx", "acmgcn"])
def test_every_encoder_that_reads_adjacency_rows_counts_them(kind):
    without = memory.fit_bytes(GRAPH, 100, with_encoder("gcn"))
    assert memory.fit_bytes(GRAPH, 100, with_encoder(kind)) - without == 200 * 64 * 4 * 5


def test_a_larger_classifier_counts():
    base = memory.fit_bytes(GRAPH, 100, with_encoder("gcn"))
    assert memory.fit_bytes(GRAPH, 100, with_encoder("gcn"), SETTINGS.encoder.architecture) == base
    classifier = replace(SETTINGS.encoder.architecture, layers=SETTINGS.encoder.architecture.layers + 1)
    assert (
        memory.fit_bytes(GRAPH, 100, with_encoder("gcn"), classifier) - base == 200 * 64 * 4 * memory.STATES
    )
    rows = replace(SETTINGS.encoder.architecture, trunk="features+neighbours")
    assert memory.fit_bytes(GRAPH, 100, with_encoder("gcn"), rows) - base == 200 * 64 * 4 * 5
    assert memory.fit_bytes(GRAPH, 100, SETTINGS, Architecture(hidden=1, layers=1)) > 0


def test_sparse_features_count_their_entries():
    x = sp.csr_matrix((np.ones(200), (np.arange(200), np.arange(200) % 50)), shape=(200, 50))
    sparse, dense = (Graph(edges=GRAPH.edges, x=part) for part in (x, x.toarray()))
    difference = memory.fit_bytes(dense, 100, SETTINGS) - memory.fit_bytes(sparse, 100, SETTINGS)
    assert difference == 200 * 50 * 4 * 3 - 200 * memory.ENTRY


def test_a_fit_that_needs_too_much_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    sentence = r"the fit needs about 0\.\d GB and 0\.0 GB are free: take fewer"
    with pytest.raises(InputError, match=sentence):
        GOALClassifier().fit(GRAPH)
    with pytest.raises(InputError, match=sentence):
        find_missing_half(GRAPH, split(GRAPH, seed=0))


def test_enough_is_enough(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    memory.check_memory(1000)
    with pytest.raises(InputError):
        memory.check_memory(1001)
