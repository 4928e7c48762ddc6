"""The tasks on a tiny graph, compared with their definitions."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm, redraw_edges
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.estimators.find import find_missing_half
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.experiments.paper import tasks as paper_tasks
from otherhalf.experiments.paper.halves import compare_topologies
from otherhalf.experiments.paper.tasks import train_on_half, variants
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.nn.backbone import Architecture
from otherhalf.spectral import filter_accuracy
from otherhalf.training.loop import TrainingSettings

GRAPH = contextual_sbm(90, 3, 8, average_degree=6, homophily=0.8, signal=1.0, seed=1)
SPLIT = make_split(GRAPH, "uniform", 3)
BENCHMARK = BenchmarkData.of(GRAPH, "uniform")
SHORT = {"preset": "paper", "k": 5, "hidden": 8, "epochs": 20}


# ---------------------------------------------------------------------- the ablation


def test_variants_by_hand():
    found = variants((2.0, 4.0, 0.0, 1.0), alone=[1.0, 5.0])
    assert found == {
        "alpha = 0": [(0, 4, 0, 1)],
        "beta = 0": [(2, 0, 0, 1)],
        "gamma = 0": [(2, 4, 0, 1)],
        "delta = 0": [(2, 4, 0, 0)],
        "only beta": [(0, 1, 0, 0), (0, 5, 0, 0)],
        "only gamma": [(0, 0, 1, 0), (0, 0, 5, 0)],
        "only delta": [(0, 0, 0, 1), (0, 0, 0, 5)],
        "GOAL": [(2, 4, 0, 1)],
    }


@pytest.fixture
def trained(monkeypatch):
    """The coefficients that a classifier was trained with after GOAL's own fit."""
    coefficients = []

    def counted(model, graph, split, settings):
        assert not settings.learn_coefficients
        coefficients.append(settings.coefficients)
        return train_on_half(model, graph, split, settings)

    monkeypatch.setattr(paper_tasks, "train_on_half", counted)
    return coefficients


def accuracy(model, part):
    return float(np.mean(model.predict_proba(GRAPH).argmax(axis=1)[part] == GRAPH.y[part]))


def test_each_variant_is_goal_with_other_coefficients_on_the_same_half(trained):
    params = {**SHORT, "coefficients": [1.0, 2.0, 0.0, 0.5]}
    result = paper_tasks.ablation(BENCHMARK.job("ablation", "goal", params, 3, alone=[5.0]), GRAPH, SPLIT)
    assert json.loads(json.dumps(result)) == result
    assert list(result["variants"]) == list(result["coefficients"])
    for name in ("beta = 0", "only delta"):
        strengths = result["coefficients"][name]
        # The half does not depend on the coefficients: a complete fit with others has the same half.
        model = GOALClassifier(seed=3, **{**params, "coefficients": tuple(strengths.values())})
        model.fit(GRAPH, SPLIT)
        expected = {"val": accuracy(model, SPLIT.val), "test": accuracy(model, SPLIT.test)}
        assert result["variants"][name] == expected, name
    assert len({json.dumps(scores) for scores in result["variants"].values()}) > 2
    # GOAL has no γ: without γ it is itself, and is not trained again.
    assert len(trained) == 6
    assert (1.0, 2.0, 0.0, 0.5) not in trained
    assert result["nodes"] == {"train": 54, "val": 18, "test": 18}
    assert {"complement", "train", "beta = 0"} < result["stages"].keys()
    assert "gamma = 0" not in result["stages"]


def test_equal_coefficients_are_trained_with_once(trained):
    params = {**SHORT, "coefficients": [0.0, 2.0, 2.0, 0.0]}  # as Chameleon's
    scores = paper_tasks.ablation(BENCHMARK.job("ablation", "goal", params, 3, alone=[5.0]), GRAPH, SPLIT)[
        "variants"
    ]
    assert trained == [(0, 0, 2, 0), (0, 2, 0, 0), (0, 5, 0, 0), (0, 0, 5, 0), (0, 0, 0, 5)]
    assert scores["alpha = 0"] == scores["delta = 0"] == scores["GOAL"]


def test_of_several_strengths_the_best_on_validation_counts(monkeypatch):
    right, wrong = np.eye(3)[GRAPH.y], np.eye(3)[(GRAPH.y + 1) % 3]

    def made_up(model, graph, split, settings):
        """γ = 5 is right on validation and wrong on test, γ = 1 the other way round; all else is wrong."""
        answers = wrong.copy()
        part = {(0, 0, 5, 0): split.val, (0, 0, 1, 0): split.test}.get(settings.coefficients, [])
        answers[part] = right[part]
        return None, answers

    monkeypatch.setattr(paper_tasks, "train_on_half", made_up)
    job = BENCHMARK.job("ablation", "goal", SHORT, 3, alone=[1.0, 5.0])
    result = paper_tasks.ablation(job, GRAPH, SPLIT)
    assert result["variants"]["only gamma"] == {"val": 1.0, "test": 0.0}
    assert result["coefficients"]["only gamma"] == {"alpha": 0.0, "beta": 0.0, "gamma": 5.0, "delta": 0.0}
    assert result["coefficients"]["only beta"]["beta"] == 1.0  # the first of equals


def test_a_classifier_trained_again_is_bit_equal():
    model = GOALClassifier(seed=3, **SHORT).fit(GRAPH, SPLIT)
    _, again = train_on_half(model, GRAPH, SPLIT, model.settings_.goal)
    assert np.array_equal(again, model.predict_proba(GRAPH))


def test_learned_coefficients_are_those_of_a_complete_fit():
    job = BENCHMARK.job("autotune", "goal", SHORT, 3, start=[1.0, 1.0, 1.0, 1.0])
    result = paper_tasks.autotune(job, GRAPH, SPLIT)
    assert json.loads(json.dumps(result)) == result
    fixed = GOALClassifier(seed=3, **SHORT).fit(GRAPH, SPLIT)
    options = {**SHORT, "coefficients": (1.0, 1.0, 1.0, 1.0), "learn_coefficients": True}
    learned = GOALClassifier(seed=3, **options).fit(GRAPH, SPLIT)
    for name, model in (("fixed", fixed), ("learned", learned)):
        assert result[name] == {"val": accuracy(model, SPLIT.val), "test": accuracy(model, SPLIT.test)}
    assert result["coefficients"] == learned.coefficients_
    assert result["coefficients"][0] != dict.fromkeys(result["coefficients"][0], 1.0)
    assert result["test"] == result["learned"]["test"]
    assert "learned" in result["stages"]


def test_the_ablation_reads_no_test_label_before_scoring():
    model = GOALClassifier(seed=3, **SHORT).fit(GRAPH, SPLIT)
    settings = replace(model.settings_.goal, coefficients=(0.0, 1.0, 0.0, 0.0))
    _, before = train_on_half(model, GRAPH, SPLIT, settings)
    hidden = np.array(GRAPH.y)
    hidden[SPLIT.test] = (hidden[SPLIT.test] + 1) % 3
    other = type(GRAPH)(edges=GRAPH.edges, x=GRAPH.x, y=hidden, name=GRAPH.name)
    assert np.array_equal(before, train_on_half(model, other, SPLIT, settings)[1])


# ---------------------------------------------------------------------- the missing half


def dense_range(homophilic, heterophilic, normalization):
    def normalized(matrix):
        a = matrix.toarray().astype(float)
        degree = a.sum(axis=1)
        degree[degree == 0] = 1
        if normalization == "row":
            return a / degree[:, None]
        return a / np.sqrt(degree)[:, None] / np.sqrt(degree)

    m = np.eye(homophilic.shape[0]) + normalized(heterophilic) @ normalized(homophilic)
    real = np.linalg.eigvals(m).real
    return [real.min(), real.max()]


@pytest.mark.parametrize("homophily", [0.9, 0.2])
def test_the_half_its_homophily_and_its_spectrum(homophily):
    graph = contextual_sbm(90, 3, 8, average_degree=6, homophily=homophily, signal=2.0, seed=2)
    split = make_split(graph, "uniform", 1)
    job = BenchmarkData.of(graph, "uniform").job("half", "goal", {"preset": "paper"}, 1)
    result = paper_tasks.half(job, graph, split)
    assert json.loads(json.dumps(result)) == result
    found = find_missing_half(graph, split, 1, preset="paper")
    assert result["topology"] == compare_topologies(graph, found.pairs, found.kind, 1, test=split.test)
    assert (result["k"], result["encoder"]) == (found.k, "gcn")
    assert result["stages"].keys() >= {"total", "topology", "spectrum"}
    given, missing = graph.adjacency, found.adjacency
    order = (given, missing) if found.kind == "heterophily" else (missing, given)
    for normalization, spectrum in result["spectrum"].items():
        ends = [spectrum["smallest"][0], spectrum["largest"][0]]
        assert ends == pytest.approx(dense_range(*order, normalization), abs=1e-6)


# ---------------------------------------------------------------------- diagnosis and filters


def test_the_diagnosis_is_of_the_entire_graph():
    job = BenchmarkData.of(GRAPH, "").task_job("diagnose", {"draws": 4, "threshold": 0.3}, 5)
    result = paper_tasks.diagnosis(job, GRAPH, SPLIT)
    assert json.loads(json.dumps(result)) == result
    found = diagnose(GRAPH, seed=5, draws=4, threshold=0.3)
    assert (result["ks"], result["ks_std"], result["tendency"]) == (found.ks, found.ks_std, found.tendency)
    assert result["edge_homophily"] == pytest.approx(0.8)
    assert result["connected"] == found.connected.tolist()
    assert len(result["bin_edges"]) == len(result["random"]) + 1


def test_a_filter_is_trained_on_redrawn_edges():
    architecture, training = Architecture(hidden=8), TrainingSettings(epochs=10)
    options = {
        "homophily": 0.3,
        "filter": "high",
        "shape": asdict(architecture),
        "training": asdict(training),
    }
    job = BENCHMARK.task_job("filter", options, 3, "high")
    result = paper_tasks.linear_filter(job, GRAPH, SPLIT)
    drawn = redraw_edges(GRAPH, 0.3, 3)
    assert result == filter_accuracy(drawn, SPLIT, "high", 3, architecture=architecture, training=training)


def test_the_seed_of_the_model_may_differ_from_that_of_the_split():
    seen = []
    run = paper_tasks.with_model_seed(lambda job, graph, split, device: seen.append((job.seed, split)) or {})
    run(BENCHMARK.task_job("restart", {"model_seed": 7}, 0, "gcn"), GRAPH, SPLIT)
    assert seen == [(7, SPLIT)]
