"""The default method: files, new nodes, seeds, and inputs at the edge."""

import json
from dataclasses import replace

import numpy as np
import pytest

from otherhalf import GOALClassifier, Graph, Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.estimators import model_folder

WHOLE = contextual_sbm(num_nodes=180, num_classes=3, num_features=6, homophily=0.1, signal=2.0, seed=3)
KNOWN = 150


def induced(graph, nodes):
    inside = (graph.edges < nodes).all(axis=0)
    return replace(graph, edges=graph.edges[:, inside], x=graph.x[:nodes], y=graph.y[:nodes])


GRAPH = induced(WHOLE, KNOWN)
SPLIT = split(GRAPH, seed=0)
ENSEMBLE = {"folds": 2, "plain": 1, "candidates": ("APPNP", "GCN")}


def quick(**options):
    return GOALClassifier(**{"seed": 1, "epochs": 6, "hidden": 8, "k": 4, "ensemble": ENSEMBLE, **options})


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(GRAPH, SPLIT)


def test_it_is_the_default_and_says_so(fitted):
    assert fitted.settings_.method == "kernel"
    half = fitted.missing_half_
    assert half.kind == "homophily"
    assert half.method == "kernel"
    assert half.words.startswith("joined by ")
    assert [set(layer) for layer in fitted.coefficients_] == [{"alpha", "beta", "gamma", "delta"}]
    assert 0 <= fitted.encoder_share_ <= 1
    assert {"diagnose", "complement", "train", "total"} <= set(fitted.seconds_)


def test_two_fits_with_one_seed_are_bit_equal_and_another_seed_is_not(fitted):
    again = quick().fit(GRAPH, SPLIT)
    assert np.array_equal(again.predict_proba(GRAPH), fitted.predict_proba(GRAPH))
    other = quick(seed=2).fit(GRAPH, SPLIT)
    assert not np.array_equal(other.predict_proba(GRAPH), fitted.predict_proba(GRAPH))


def test_a_saved_model_predicts_the_same_on_the_graph_and_on_a_grown_one(fitted, tmp_path):
    fitted.save(tmp_path / "run")
    loaded = GOALClassifier.load(tmp_path / "run")
    assert np.array_equal(loaded.predict_proba(GRAPH), fitted.predict_proba(GRAPH))
    assert np.array_equal(loaded.predict_proba(WHOLE), fitted.predict_proba(WHOLE))
    assert loaded.leaderboard_ == fitted.leaderboard_
    assert loaded.coefficients_ == fitted.coefficients_
    assert loaded.missing_half_.words == fitted.missing_half_.words
    assert np.array_equal(loaded.missing_half_.weights, fitted.missing_half_.weights)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("spread", "temperature"), None),
        (("spread", "ridge"), "x"),
        (("spread", "kernels", 0, "description"), "x"),
        (("spread", "kernels"), []),
        (("tendency",), "x"),
        (("reads_labels",), 1),
        (("mixture", "weights"), {}),
    ],
)
def test_a_description_that_no_fit_writes_is_refused_when_it_is_loaded(fitted, tmp_path, place, value):
    """Also with the checksum that belongs to it."""
    fitted.save(tmp_path)
    path = tmp_path / model_folder.MODEL_FILE
    description = json.loads(path.read_text())
    *way, last = place
    holder = description
    for step in way:
        holder = holder[step]
    holder[last] = value
    description["checksum"] = model_folder._checksum(description)
    path.write_text(json.dumps(description))
    with pytest.raises(InputError, match="describes no GOALClassifier"):
        GOALClassifier.load(tmp_path)


def test_new_nodes_are_classified_better_than_chance(fitted):
    new = np.arange(KNOWN, WHOLE.num_nodes)
    assert fitted.score(WHOLE, new) > 0.5


def test_isolated_new_nodes_change_no_known_prediction(fitted):
    x = np.concatenate([GRAPH.x, np.zeros((3, GRAPH.num_features), np.float32)])
    grown = Graph(edges=GRAPH.edges, x=x, y=np.append(GRAPH.y, [-1, -1, -1]), classes=GRAPH.classes)
    before, after = fitted.predict_proba(GRAPH), fitted.predict_proba(grown)
    assert after[:KNOWN] == pytest.approx(before, abs=2e-3)
    assert np.isfinite(after).all()


def test_no_test_label_is_read(fitted):
    y = GRAPH.y.copy()
    y[SPLIT.test] = (y[SPLIT.test] + 1) % 3
    other = quick().fit(replace(GRAPH, y=y, classes=GRAPH.classes), SPLIT)
    assert np.array_equal(other.predict_proba(GRAPH), fitted.predict_proba(GRAPH))


def edge_case(y, *, x=None, nodes=60, train=None, val=None, edges=None):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(nodes, 4)) if x is None else x
    edges = draw.integers(0, nodes, (2, 3 * nodes)) if edges is None else edges
    graph = Graph(edges=edges, x=x, y=y)
    train = np.arange(0, nodes // 2) if train is None else train
    val = np.arange(nodes // 2, 3 * nodes // 4) if val is None else val
    rest = np.setdiff1d(np.arange(nodes), np.concatenate([train, val]))
    return graph, Split(train, val, rest)


CYCLE = np.arange(60) % 3
CASES = {
    "no validation node of a class": edge_case(np.where(np.arange(60) < 30, CYCLE, CYCLE % 2)),
    "one training node of a class": edge_case(np.where(np.arange(60) == 5, 2, CYCLE % 2)),
    "constant features": edge_case(CYCLE, x=np.ones((60, 4))),
    "fewer nodes than K": edge_case(np.arange(9) % 3, nodes=9),
    "one validation node": edge_case(CYCLE, val=np.array([30])),
    "two training nodes": edge_case(CYCLE, train=np.array([0, 1])),
}


@pytest.mark.parametrize("name", CASES)
def test_inputs_at_the_edge(name):
    graph, parts = CASES[name]
    p = quick(k=10).fit(graph, parts).predict_proba(graph)
    assert p.shape == (graph.num_nodes, graph.num_classes)
    assert np.isfinite(p).all()


def test_many_classes():
    y = np.arange(400) % 200
    draw = np.random.default_rng(0)
    graph = Graph(edges=draw.integers(0, 400, (2, 800)), x=np.eye(200)[y] + 0.1, y=y)
    parts = Split(np.arange(200), np.arange(200, 300), np.arange(300, 400))
    model = quick().fit(graph, parts)
    assert model.score(graph, parts.test) > 0.5


def test_a_directed_graph():
    directed = replace(GRAPH, directed=True)
    model = quick().fit(directed, SPLIT)
    assert np.isfinite(model.predict_proba(directed)).all()


def test_fast_has_the_spread_and_one_plain_model():
    model = GOALClassifier(fast=True, epochs=6).fit(GRAPH, SPLIT)
    assert len(model.leaderboard_) == 2
    assert "spread" in [row.member for row in model.leaderboard_]


def test_refit_learns_from_validation_nodes_too_and_changes_no_choice(fitted, tmp_path):
    again = quick(refit=True).fit(GRAPH, SPLIT)
    assert [(r.member, r.weight) for r in again.leaderboard_] == [
        (r.member, r.weight) for r in fitted.leaderboard_
    ]
    both = np.sort(np.concatenate([SPLIT.train, SPLIT.val]))
    assert np.array_equal(again._way.ensemble.labels.nodes, both)
    assert set(again.missing_half_.pairs[1]) <= set(both)
    assert not np.array_equal(again.predict_proba(GRAPH), fitted.predict_proba(GRAPH))
    again.save(tmp_path / "run")
    loaded = GOALClassifier.load(tmp_path / "run")
    assert np.array_equal(loaded.predict_proba(WHOLE), again.predict_proba(WHOLE))


@pytest.mark.parametrize("option", ["fast", "refit"])
def test_fast_and_refit_are_of_this_method_only(option):
    from otherhalf import InputError

    with pytest.raises(InputError, match=f"{option} needs the method kernel"):
        GOALClassifier("paper", **{option: True}).fit(GRAPH, SPLIT)


class TestRelations:
    """Edges of two relations: one joins nodes of one class, the other joins any."""

    @staticmethod
    def graph(nodes, relations=("knows", "sees"), seed=0):
        draw = np.random.default_rng(seed)
        y = np.arange(180) % 3
        knows = draw.integers(180, size=(2, 360))
        knows[1] = np.where(draw.random(360) < 0.9, knows[1] - knows[1] % 3 + y[knows[0]], knows[1])
        sees = draw.integers(180, size=(2, 900))
        edges, x = np.hstack([knows, sees]), draw.standard_normal((180, 4)).astype(np.float32)
        names = np.repeat(relations, [360, 900])
        inside = (edges < nodes).all(axis=0)
        return Graph(edges=edges[:, inside], x=x[:nodes], y=y[:nodes], relations=names[inside])

    @pytest.fixture(scope="class")
    @classmethod
    def fitted(cls):
        graph = cls.graph(KNOWN)
        return quick().fit(graph, split(graph, seed=0))

    def test_the_one_that_tells_the_class_joins_the_nodes(self, fitted):
        assert "by 'knows'" in fitted.missing_half_.words
        graph = self.graph(KNOWN)
        assert fitted.score(graph, split(graph, seed=0).test) > 0.8

    def test_new_nodes_and_files(self, fitted, tmp_path):
        known, grown = self.graph(KNOWN), self.graph(180)
        assert fitted.score(grown, np.arange(KNOWN, 180)) > 0.8
        fitted.save(tmp_path / "run")
        loaded = GOALClassifier.load(tmp_path / "run")
        for graph in (known, grown):
            assert np.array_equal(loaded.predict_proba(graph), fitted.predict_proba(graph))
        with pytest.raises(InputError, match="the model was fitted with the relations knows, sees"):
            loaded.predict(replace(grown, relations=None))

    def test_one_relation_is_bit_equal_to_none(self):
        one = self.graph(KNOWN, ("knows", "knows"))
        none = replace(one, relations=None)
        parts = split(one, seed=0)
        assert one.relations.names == ("knows",)
        first, second = quick().fit(one, parts), quick().fit(none, parts)
        assert np.array_equal(first.predict_proba(one), second.predict_proba(none))
        assert np.array_equal(second.predict_proba(one), first.predict_proba(none))
        assert first.run_identity(one, parts) == second.run_identity(none, parts)
