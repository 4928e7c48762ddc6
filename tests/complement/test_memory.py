"""Whether a fit fits."""

import subprocess
import sys
from dataclasses import replace

import pytest

import otherhalf.complement.memory as memory
from otherhalf import GOALClassifier, InputError
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.presets import preset_settings

GRAPH = contextual_sbm(num_nodes=200, num_features=8, seed=0)
SETTINGS = preset_settings("best", GRAPH.name)


def test_each_part_grows_with_what_causes_it():
    base = memory.fit_bytes(GRAPH, 100, SETTINGS)
    gcn = replace(
        SETTINGS,
        complement=replace(SETTINGS.complement, encoder=replace(SETTINGS.complement.encoder, kind="gcn")),
    )
    # 200 rows of 64 parameters, each held five times as float32, for the adjacency rows.
    assert base - memory.fit_bytes(GRAPH, 100, gcn) == 200 * 64 * 4 * 5
    # A training node more: a ranking list of 2 · 10 nodes.
    assert memory.fit_bytes(GRAPH, 101, SETTINGS) - base == 20 * memory.PAIR


def test_a_fit_that_cannot_fit_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(InputError, match=r"the fit needs about 0\.\d GB and 0\.0 GB are free: take fewer"):
        GOALClassifier().fit(GRAPH)


def test_where_the_system_does_not_say_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.require_memory_for_fit(GRAPH, 100, SETTINGS)
    assert memory.fit_bytes(GRAPH, 100, SETTINGS) > 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory is free")
def test_what_is_free_is_less_than_what_there_is():
    total = int(subprocess.check_output(["grep", "MemTotal", "/proc/meminfo"], text=True).split()[1]) * 1024
    assert 0 < memory.available_bytes() < total
