"""Large graphs: which go over rows, and what their ensemble is."""

import numpy as np
import pytest

import otherhalf as oh
from otherhalf import GOALClassifier
from otherhalf.data.entries import DATASETS
from otherhalf.errors import InputError
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


@pytest.mark.parametrize("directed", [False, True])
def test_a_few_nodes_of_a_grown_graph_have_the_rows_of_all(directed, monkeypatch):
    grown = oh.load("csbm:nodes=300,features=6,homophily=0.2,seed=0")
    grown = oh.Graph(grown.edges, grown.x, grown.y, directed=directed, classes=grown.classes)
    kept = (grown.edges < 290).all(axis=0)
    graph = oh.Graph(grown.edges[:, kept], grown.x[:290], grown.y[:290], directed, classes=grown.classes)
    parts = oh.split(graph, seed=0)
    model = GOALClassifier(epochs=2, ensemble={"training": "rows"}).fit(graph, parts)
    whole, nodes = model.predict_proba(grown), np.array([299, 290, 3, 299])
    model._cache = None  # what was computed of all nodes must not help
    for place in (
        "graph_table.pagerank",
        "members.propagation._propagated_states",
    ):  # they pass over all nodes
        monkeypatch.setattr(f"otherhalf.estimators.{place}", None)
    few = model.predict_proba(grown, nodes=nodes)
    assert np.allclose(few, whole[nodes], atol=1e-6)
    view = model._cache[1].derived["view"]
    assert view._found is None
    assert "rows" not in vars(view) or view.rows._blocks == {}
    # Each member for itself: those without weight were not in the blend.
    for member in model._way.ensemble.members.values():
        each = member.probabilities_of(view, np.array([3, 290, 299]))
        assert np.allclose(each, member.probabilities(view)[[3, 290, 299]], atol=1e-6), member.name
    assert (model.predict(grown, nodes=nodes) == model.classes_[few.argmax(axis=1)]).all()


def test_nodes_that_are_not_there_are_refused(fitted):
    graph, _, model = fitted
    with pytest.raises(InputError, match="nodes has 300, but the graph has 300 nodes"):
        model.predict_proba(graph, nodes=[0, 300])
    with pytest.raises(InputError, match="negative"):
        model.predict_proba(graph, nodes=[-1])
    assert model.predict_proba(graph, nodes=[]).shape == (0, 5)


def test_the_estimate_says_what_a_fit_over_rows_needs():
    graph = oh.load("csbm:nodes=2000,features=16,seed=0")
    parts = oh.split(graph, seed=0)
    rows, full = (
        GOALClassifier(ensemble={"training": name}).estimate(graph, parts) for name in ("rows", "full")
    )
    assert rows.seconds < full.seconds
    assert rows.disk == 0


def test_large_rows_are_on_disk_and_too_little_disk_is_noticed_before_the_fit(fitted, monkeypatch):
    graph, parts, _ = fitted
    model = GOALClassifier(epochs=1, ensemble={"training": "rows"})
    monkeypatch.setattr("otherhalf.estimators.memory.MOST_IN_MEMORY", 1000)
    disk = model.estimate(graph, parts).disk
    features, classes = 6 + 2, 5
    assert disk == 300 * (7 * features + classes * (5 + 1)) * 2  # half precision
    assert f"{disk / 1e6:.0f} MB of disk" in str(model.estimate(graph, parts))
    monkeypatch.setattr("otherhalf.system.row_blocks.SPARE", 10**18)
    with pytest.raises(InputError, match=r"the precomputed rows need .* on the disk"):
        model.fit(graph, parts)


def test_every_catalogued_graph_but_the_largest_keeps_full_batches():
    over = {name for name, each in DATASETS.items() if goes_over_rows(each.nodes, each.edges, AUTO)}
    assert over == {"ogbn_arxiv", "ogbn_arxiv_tape"} & set(DATASETS)
