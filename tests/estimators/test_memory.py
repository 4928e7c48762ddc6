"""The memory of each estimator: stages, growth, and refusals before anything begins or is written."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import otherhalf.system.need as need
from otherhalf import GOALClassifier, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import NotEnoughMemory
from otherhalf.estimators.averaged import AveragedClassifier
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.graph_table import GraphTable
from otherhalf.estimators.memory import (
    boosted_stage,
    extra_trees_stage,
    goal_need,
    logistic_stage,
    propagation_stage,
    table_columns,
)
from otherhalf.estimators.simple_rows import SIMPLE
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.nn.label_messages import label_rows
from otherhalf.nn.memory import Sizes
from otherhalf.system.memory import Room

GRAPH = contextual_sbm(num_nodes=200, num_features=8, num_classes=3, seed=0)
SIZES = Sizes(nodes=1000, edges=5000, features=20, classes=3, train=600)


def stages(sizes=SIZES, **options):
    return [each.name for each in goal_need(sizes, GOALClassifier(**options).resolved_settings()).stages]


def test_every_member_of_the_ensemble_is_a_stage():
    names = stages()
    assert names[:3] == ["the choice of kernels", "the regression", "the search of the missing half"]
    assert names[3:7] == [
        "the label propagation",
        "the forest",
        "boosting",
        "the classifier over both halves",
    ]
    assert names[7:10] == ["the training of APPNP", "the training of GCN, plain", "the training of GCN"]
    assert names[-1] == "the training of GCN, deep, with labels"


def test_what_is_left_out_needs_nothing():
    left_out = {"half": "none", "propagation": False, "trees": False, "classifier": False}
    assert stages(ensemble={**left_out, "candidates": ("JKNet",)}) == ["the training of JKNet"]
    assert "boosting" not in stages(replace(SIZES, train=10**6))
    assert "the forest" not in stages(fast=True)
    assert stages(method="embedding")[-1] == "the classifier over both halves"


@pytest.mark.parametrize("scores", [False, True])
def test_the_columns_are_those_of_the_table(scores):
    table, parts = GraphTable.fit(GRAPH, 0), split(GRAPH)
    labels = label_rows(GRAPH.y[parts.train], parts.train, 200, 3)
    given = labels.numpy() if scores else None
    assert table_columns(Sizes.of(GRAPH, 100), scores=scores) == table.rows(GRAPH, labels, given).shape[1]
    assert table_columns(Sizes.of(GRAPH, 100), own=True) == table.own(GRAPH).shape[1]


@given(st.sampled_from(["nodes", "edges", "features", "classes", "train", "relations"]), st.integers(1, 5000))
def test_more_of_anything_needs_at_least_as_much(what, more):
    larger = replace(SIZES, **{what: getattr(SIZES, what) + more})
    settings = GOALClassifier().resolved_settings()
    assert goal_need(larger, settings).size >= goal_need(SIZES, settings).size
    for stage in (lambda s: extra_trees_stage(s, 300), boosted_stage, logistic_stage, propagation_stage):
        assert stage(larger).size >= stage(SIZES).size


ESTIMATORS = {
    "goal": GOALClassifier(),
    "goal, embedding": GOALClassifier(method="embedding"),
    "baseline": BaselineClassifier("gat"),
    "trees": TreesClassifier(),
    "boosted": TreesClassifier("boosted"),
    "averaged": AveragedClassifier(BaselineClassifier("gcn"), 2),
    **{name: make() for name, (_, make) in SIMPLE.items()},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_estimator_begins_what_does_not_fit(name, monkeypatch):
    monkeypatch.setattr(need, "room", lambda: Room(10**6, "the machine"))
    began = []
    with pytest.raises(
        NotEnoughMemory, match=r"needs about \d+ MB and 1 MB are free, by the machine; most, "
    ):
        ESTIMATORS[name].fit(GRAPH, split(GRAPH), on_step=lambda *step: began.append(step))
    assert began == []


def test_the_need_is_what_the_check_compares(monkeypatch):
    model, parts = BaselineClassifier("gcn"), split(GRAPH)
    size = model.need(GRAPH, parts).size
    monkeypatch.setattr(need, "room", lambda: Room(size, "the machine"))
    model.check_fit(GRAPH, parts)
    monkeypatch.setattr(need, "room", lambda: Room(size - 1, "the machine"))
    with pytest.raises(NotEnoughMemory):
        model.check_fit(GRAPH, parts)


UNDER_A_LIMIT = """
import json, resource, sys
import psutil
from otherhalf.cli.commands import app
from otherhalf.cli.console import run
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.run_folder import fit_into
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.errors import NotEnoughMemory

graph = contextual_sbm(num_nodes=20_000, num_features=16, num_classes=3)
import otherhalf
parts = otherhalf.split(graph)
limit = psutil.Process().memory_info().vms + 100_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
for model in (BaselineClassifier("gcn"), TreesClassifier()):
    try:
        model.fit(graph, parts)
    except NotEnoughMemory as error:
        print(error)
sys.argv = ["otherhalf", "fit", "csbm:nodes=2000", "--out", sys.argv[1]]
run(app)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="another system has other limits")
def test_a_limit_of_the_process_refuses_a_fit_before_anything_is_written(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "result.json").write_text(json.dumps({"run": "earlier"}))
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, str(out)], capture_output=True, text=True, timeout=120
    )
    sentences = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    assert (done.returncode, len(sentences)) == (2, 3), done.stderr
    for sentence in sentences:
        assert "the fit needs about " in sentence
        assert "are free, by the limit of this process (ulimit -v); most, " in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in out.iterdir()] == ["result.json"]
    assert json.loads((out / "result.json").read_text()) == {"run": "earlier"}
