"""Trees on the graph as a table, as an estimator."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from otherhalf import Graph, InputError, Split, load, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.graph_table import GraphTable
from otherhalf.estimators.settings import check_settings
from otherhalf.estimators.trees import KINDS, TreesClassifier, TreesSettings
from otherhalf.system.fields import from_dict, to_dict

NAMES = np.array(["red", "blue", "green"])
SBM = contextual_sbm(num_nodes=300, num_classes=3, num_features=8, homophily=0.8, signal=3.0, seed=2)
KNOWN = 240
INSIDE = (SBM.edges < KNOWN).all(axis=0)
GRAPH = Graph(edges=SBM.edges[:, INSIDE], x=SBM.x[:KNOWN], y=NAMES[SBM.y[:KNOWN]])
SPLIT = split(GRAPH, seed=0)


def quick(kind="extra", **options):
    return TreesClassifier(kind, **{"trees": 40, **options})


# ---------------------------------------------------------------------- scikit-learn's conventions


def test_conventions():
    names = list(inspect.signature(TreesClassifier).parameters)
    given = {name: object() for name in names}
    assert vars(TreesClassifier(**given)) == TreesClassifier(**given).get_params() == given
    assert is_classifier(TreesClassifier())
    model = quick("boosted", seed=3)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(GRAPH)
    assert model.fit(GRAPH, SPLIT) is model
    assert all(name.endswith("_") or name.startswith("_") for name in set(vars(model)) - set(names))
    assert model.get_params() == copy.get_params()
    assert model.history_["classifier"].epochs == 0  # what an experiment records
    assert set(model.seconds_) == {"table", "train", "total"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "random"}, "kind must be one of extra, boosted, not 'random'"),
        ({"trees": 0}, "trees must be an integer ≥ 1, not 0"),
        ({"leaf": 1.5}, "leaf must be an integer ≥ 1, not 1.5"),
        ({"scaling": "much"}, "scaling must be one of"),
        ({"seed": -1}, "the seed must be an integer ≥ 0"),
        ({"metric": "top_3"}, "top-3 accuracy needs at least 4 classes"),
    ],
)
def test_wrong_settings(options, message):
    with pytest.raises(InputError, match=message):
        TreesClassifier(**options).fit(GRAPH, SPLIT)


def test_the_settings():
    settings = TreesClassifier("boosted", leaf=5).resolved_settings("cora")
    assert settings == TreesSettings("boosted", "auto", 300, 5)
    check_settings(settings)
    assert to_dict(settings) == {"kind": "boosted", "scaling": "auto", "trees": 300, "leaf": 5}
    assert from_dict(TreesSettings, to_dict(settings)) == settings
    assert TreesClassifier().resolved_settings() == TreesSettings()


# ---------------------------------------------------------------------- learning


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_learns_and_takes_new_nodes(kind):
    model = quick(kind).fit(GRAPH, SPLIT)
    assert model.score(GRAPH, SPLIT.test) > 0.8  # chance would give 1/3
    probabilities = model.predict_proba(SBM)
    assert probabilities.shape == (300, 3)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert np.mean(model.predict(SBM)[KNOWN:] == NAMES[SBM.y[KNOWN:]]) > 0.8
    assert set(model.predict(GRAPH)) == set(NAMES)


@pytest.mark.parametrize("kind", KINDS)
def test_isolated_new_nodes_change_nothing(kind):
    model = quick(kind).fit(GRAPH, SPLIT)
    larger = Graph(edges=GRAPH.edges, x=SBM.x)
    assert np.array_equal(model.predict_proba(larger)[:KNOWN], model.predict_proba(GRAPH))


def test_nodes_are_known_by_their_ids():
    named = replace(GRAPH, ids=np.array([f"n{i}" for i in range(KNOWN)]))
    model = quick().fit(named, SPLIT)
    order = np.random.default_rng(0).permutation(KNOWN)
    place = np.argsort(order)
    mixed = replace(named, edges=place[named.edges], x=named.x[order], y=named.y[order], ids=named.ids[order])
    assert np.array_equal(model.predict_proba(mixed), model.predict_proba(named)[order])


def test_the_table_is_not_computed_twice(monkeypatch):
    calls = []
    rows = GraphTable.rows
    monkeypatch.setattr(GraphTable, "rows", lambda *given: (calls.append(1), rows(*given))[1])
    model = quick().fit(GRAPH, SPLIT)
    model.predict(GRAPH)
    model.score(GRAPH, SPLIT.test)
    assert len(calls) == 1
    model.predict(SBM)
    model.predict(SBM)
    assert len(calls) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_only_labels_of_train_and_for_boosting_of_val_are_read(kind):
    usual = quick(kind).fit(GRAPH, SPLIT).predict_proba(GRAPH)

    def after_a_change_of(part):
        y = np.array(GRAPH.y)
        y[part] = (y[part] + 1) % 3
        return quick(kind).fit(replace(GRAPH, y=y), SPLIT).predict_proba(GRAPH)

    assert np.array_equal(after_a_change_of(SPLIT.test), usual)
    assert np.array_equal(after_a_change_of(SPLIT.val), usual) == (kind == "extra")
    assert not np.array_equal(after_a_change_of(SPLIT.train), usual)


@pytest.mark.parametrize("kind", KINDS)
def test_the_settings_are_used(kind):
    model = quick(kind, trees=7, leaf=30).fit(GRAPH, SPLIT)
    assert len(model._forest.roots) <= 7 * (1 if kind == "extra" else 3)
    assert len(model._forest.starts) - 1 <= len(model._forest.roots) * len(SPLIT.train) / 30
    assert not np.array_equal(
        quick(kind, leaf=1).fit(GRAPH, SPLIT).predict_proba(GRAPH),
        quick(kind, leaf=10).fit(GRAPH, SPLIT).predict_proba(GRAPH),
    )


def test_the_features_are_scaled():
    factors = 10.0 ** np.arange(8)
    stretched = replace(GRAPH, x=GRAPH.x * factors)
    wide, wide_stretched = (replace(each, x=np.tile(each.x, 8)) for each in (GRAPH, stretched))
    rows = [
        quick(scaling=scaling, trees=1).fit(graph, SPLIT).prepare(graph)[0].derived["table"]
        for scaling in ("auto", "none")
        for graph in (wide, wide_stretched)
    ]
    assert np.allclose(rows[0][:, 150:153], rows[1][:, 150:153], atol=1e-3)  # magnitudes
    spread = [np.abs(each[:, :50]).max() for each in rows]
    assert spread[0] == pytest.approx(spread[1], rel=0.01)
    assert spread[3] > 1e6 * spread[2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_training_nodes(kind):
    train = SPLIT.train[GRAPH.y[SPLIT.train] != 1]
    model = quick(kind).fit(GRAPH, Split(train, SPLIT.val, SPLIT.test))
    probabilities = model.predict_proba(GRAPH)
    assert not probabilities[:, 1].any()
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_two_fits_are_equal(kind):
    one, two, other = (quick(kind, seed=seed).fit(GRAPH, SPLIT).predict_proba(GRAPH) for seed in (3, 3, 4))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other) or kind == "boosted"


def test_a_directed_graph_with_sparse_features():
    directed = Graph(edges=GRAPH.edges, x=sp.csr_matrix(np.tile(GRAPH.x, 8)), y=GRAPH.y, directed=True)
    assert quick().fit(directed, SPLIT).score(directed, SPLIT.test) > 0.8


def test_two_classes_by_roc_auc():
    graph = contextual_sbm(150, 2, 4, homophily=0.8, signal=2.0, seed=0)
    parts = split(graph)
    for kind in KINDS:
        assert quick(kind, metric="roc_auc").fit(graph, parts).score(graph, parts.test) > 0.8


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_what_is_saved_is_loaded(kind, directed, tmp_path):
    graph = replace(GRAPH, x=np.tile(GRAPH.x, 8), directed=directed)
    model = quick(kind, leaf=3).fit(graph, SPLIT)
    model.save(tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".safetensors"]
    loaded = TreesClassifier.load(tmp_path)
    assert loaded.get_params() == model.get_params()
    assert (loaded.settings_, loaded.seconds_) == (model.settings_, model.seconds_)
    larger = replace(SBM, x=np.tile(SBM.x, 8), directed=directed)
    for each in (graph, larger):
        assert np.array_equal(loaded.predict_proba(each), model.predict_proba(each))


def test_cora(data_dir, monkeypatch):
    monkeypatch.setenv("OTHERHALF_DATA", str(data_dir))
    cora = load("cora")
    parts = split(cora, seed=0)
    assert TreesClassifier(trees=100).fit(cora, parts).score(cora, parts.test) > 0.85


def test_own_columns_are_the_features_alone(tmp_path):
    model = quick("boosted", columns="own", leaf=5).fit(GRAPH, SPLIT)
    assert model._forest.feature.max() <= GRAPH.num_features  # the features and the log of their sum
    model.save(tmp_path)
    assert np.array_equal(TreesClassifier.load(tmp_path).predict_proba(GRAPH), model.predict_proba(GRAPH))
    assert "columns" not in to_dict(TreesSettings())  # keys of recorded runs stay
