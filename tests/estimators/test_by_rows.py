"""Large graphs: which go over rows, and what their ensemble is."""

import numpy as np
import pytest

import otherhalf as oh
from otherhalf import GOALClassifier
from otherhalf.data.entries import DATASETS
from otherhalf.estimators.by_rows import goes_over_rows, plain_over_rows
from otherhalf.estimators.settings import EnsembleSettings

AUTO = EnsembleSettings()


def test_the_sizes_decide_unless_it_is_set():
    assert goes_over_rows(169_343, 1_166_243, AUTO)  # ogbn-arxiv
    assert not goes_over_rows(65_000, 3_000_000, AUTO)
    assert goes_over_rows(20_000, 50_000_000, AUTO)
    assert goes_over_rows(10, 10, EnsembleSettings(training="rows"))
    assert not goes_over_rows(10**7, 10**8, EnsembleSettings(training="full"))


def test_plain_models_are_those_named():
    assert plain_over_rows(AUTO) == ["SIGN"]
    assert plain_over_rows(EnsembleSettings(candidates=("MLP",))) == ["MLP"]
    assert plain_over_rows(EnsembleSettings(candidates=("GCN",))) == ["SIGN"]
    assert plain_over_rows(EnsembleSettings(plain=0)) == []


@pytest.fixture(scope="module")
def fitted():
    graph = oh.load("csbm:nodes=300,features=6,homophily=0.2,seed=0")
    parts = oh.split(graph, seed=0)
    return graph, parts, GOALClassifier(epochs=3, ensemble={"training": "rows"}).fit(graph, parts)


def test_a_fit_over_rows_has_everything_that_a_fit_has(fitted):
    graph, parts, model = fitted
    names = {row.member for row in model.leaderboard_}
    assert names == {"spread", "label propagation", "trees", "GOAL", "SIGN"}
    assert len(model.coefficients_) == 1
    assert model.missing_half_ is not None
    assert 0 <= model.encoder_share_ <= 1
    assert "classifier" in model.history_
    assert model.score(graph, parts.test) > 0.4  # a fifth by chance


def test_a_saved_model_predicts_the_same(fitted, tmp_path):
    graph, _, model = fitted
    model.save(tmp_path / "model")
    loaded = GOALClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(graph), model.predict_proba(graph))
    assert loaded.coefficients_ == model.coefficients_
    assert loaded.settings_ == model.settings_


def test_a_second_fit_to_all_labels_goes_over_rows_too(fitted):
    graph, parts, _ = fitted
    model = GOALClassifier(epochs=2, refit=True, ensemble={"training": "rows"}).fit(graph, parts)
    assert np.isfinite(model.predict_proba(graph)).all()


def test_every_catalogued_graph_but_the_largest_keeps_full_batches():
    over = {name for name, each in DATASETS.items() if goes_over_rows(each.nodes, each.edges, AUTO)}
    assert over == {"ogbn_arxiv", "ogbn_arxiv_tape"} & set(DATASETS)
