"""What every estimator has in common: checks, order of nodes, prediction, scores, files, work done once."""

import copy
import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import roc_auc_score

from otherhalf import BaselineClassifier, GOALClassifier, Graph, InputError, Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import NotEnoughMemory
from otherhalf.estimators import embedding_way
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.simple import PropagationClassifier
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.nn import prepared
from otherhalf.nn.ops import sparse
from otherhalf.system import need
from otherhalf.system.memory import Room
from otherhalf.training.checkpoint import History

EDGES = [[0, 1, 2], [1, 2, 3]]
PROBABILITIES = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]]
TWO = contextual_sbm(num_nodes=120, num_classes=2, num_features=4, homophily=0.2, seed=3)
PARTS = split(TWO, seed=0)
QUICK = {
    "goal": GOALClassifier(encoder={"kind": "gcn", "epochs": 3, "hidden": 4}, hidden=4, epochs=3),
    "baseline": BaselineClassifier("acmgcn", hidden=4, epochs=3),
}


class Given(NodeClassifier):
    """A classifier whose probabilities are given."""

    def __init__(self, probabilities=None, classes=None, metric="accuracy", device="cpu"):
        self._store(locals())

    @property
    def classes_(self):
        return np.array(self.classes)

    def predict_proba(self, graph):
        return np.array(self.probabilities, dtype=np.float32)

    def resolved_settings(self, data_set=""):
        raise NotImplementedError

    def _fit(self, *arguments):
        raise NotImplementedError

    _probabilities = _parts = _fit


def graph(y):
    return Graph(edges=EDGES, x=np.eye(4), y=y)


# ---------------------------------------------------------------------- the contract


def test_the_hooks_have_to_be_filled():
    """The base had abstract methods without being abstract."""
    with pytest.raises(TypeError, match="abstract"):
        NodeClassifier()

    class Unfinished(NodeClassifier):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()


@pytest.mark.parametrize("model", QUICK.values(), ids=QUICK)
def test_scikit_learn_takes_it_for_a_classifier(model):
    assert is_classifier(model)
    fitted = clone(model).fit(TWO, PARTS)
    assert all(isinstance(history, History) for history in fitted.history_.values())
    assert "classifier" in fitted.history_
    assert fitted.seconds_["total"] >= fitted.seconds_["train"] > 0


# ---------------------------------------------------------------------- labels and scores


def test_predict_names_the_most_probable_class():
    given = Given(PROBABILITIES, ["cat", "dog"])
    assert given.predict(graph(["cat", "dog", "dog", "dog"])).tolist() == ["cat", "dog", "cat", "dog"]
    assert Given(PROBABILITIES, [4, 7]).predict(graph([4, 7, 7, 7])).tolist() == [4, 7, 4, 7]


def test_score_over_all_and_over_some_nodes():
    given = Given(PROBABILITIES, ["cat", "dog"])
    y = ["cat", "dog", "dog", "dog"]  # node 2 is wrong
    assert given.score(graph(y)) == 3 / 4
    assert given.score(graph(y), np.array([2, 3])) == 1 / 2
    assert given.score(graph(y), [2]) == 0


def test_unlabelled_nodes_are_not_scored():
    given = Given(PROBABILITIES, ["cat", "dog"])
    assert given.score(graph(["cat", "", "dog", ""])) == 1 / 2
    assert given.score(graph(["cat", "", "dog", ""]), [0, 1]) == 1
    with pytest.raises(InputError, match="none of the nodes to score has a label"):
        given.score(graph(["cat", "", "dog", ""]), [1, 3])


def test_the_score_is_the_estimators_metric():
    y = ["cat", "dog", "dog", "cat"]
    scores = Given(PROBABILITIES, ["cat", "dog"], metric="roc_auc").score(graph(y))
    assert scores == roc_auc_score([0, 1, 1, 0], [p[1] for p in PROBABILITIES]) == 3 / 4


def test_classes_are_compared_by_name_not_by_code():
    """In a graph without the first class, codes are counted from another one."""
    only_dogs = graph(["", "dog", "", "dog"])
    assert only_dogs.y.tolist() == [-1, 0, -1, 0]
    assert Given(PROBABILITIES, ["cat", "dog"]).score(only_dogs) == 1


def test_a_class_that_the_fit_never_saw():
    unseen = graph(["cat", "emu", "cat", "dog"])
    assert Given(PROBABILITIES, ["cat", "dog"]).score(unseen) == 3 / 4
    with pytest.raises(InputError, match="ROC-AUC needs nodes of classes that the fit had"):
        Given(PROBABILITIES, ["cat", "dog"], metric="roc_auc").score(unseen)


def test_a_score_that_is_undefined_is_no_number():
    with pytest.raises(InputError, match="ROC-AUC is undefined on these nodes"):
        Given(PROBABILITIES, ["cat", "dog"], metric="roc_auc").score(graph(["cat", "", "cat", ""]))


# ---------------------------------------------------------------------- work done once


@pytest.fixture
def made(monkeypatch):
    """Count what is made from a graph: operators, node inputs, normalised matrices."""
    counts = Counter()

    def counted(name, function):
        def wrapped(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        return wrapped

    for name, function in prepared.OPERATORS.items():
        monkeypatch.setitem(prepared.OPERATORS, name, counted(name, function))
    monkeypatch.setattr(prepared, "feature_matrix", counted("inputs", prepared.feature_matrix))
    monkeypatch.setattr(sparse, "_with_degree", counted("normalised", sparse._with_degree))
    return counts


def test_a_fit_with_its_predictions_makes_everything_once(made, tmp_path):
    """One `fit --out` normalised the adjacency ten times and made the node inputs twice."""
    model = GOALClassifier(encoder="auto", epochs=2, hidden=4)
    model.fit(TWO, PARTS)
    model.predict_proba(TWO)
    model.score(TWO, PARTS.test)
    model.save(tmp_path)
    # The given half with self loops (the encoder) and without (the convolution), and the missing half.
    assert made == {"inputs": 1, "normalized": 1, "normalized_with_loops": 1, "normalised": 3}


def test_the_missing_half_of_new_nodes_is_searched_once(monkeypatch):
    known = Graph(edges=TWO.edges[:, (TWO.edges < 100).all(axis=0)], x=TWO.x[:100], y=TWO.y[:100])
    model = clone(QUICK["goal"]).fit(known, split(known, seed=0))
    searches = []
    search = embedding_way.search_pairs
    monkeypatch.setattr(embedding_way, "search_pairs", lambda *words: searches.append(1) or search(*words))
    one, two = model.predict_proba(TWO), model.predict_proba(TWO)
    assert np.array_equal(one, two)
    assert len(searches) == 1


def test_another_graph_is_made_ready_in_its_turn(made):
    model = clone(QUICK["baseline"]).fit(TWO, PARTS)
    other = Graph(edges=TWO.edges, x=TWO.x)
    assert np.array_equal(model.predict_proba(other), model.predict_proba(other))
    assert made["inputs"] == made["mean_with_loops"] == 2


def test_a_copy_does_not_take_the_last_graph_with_it():
    model = clone(QUICK["goal"]).fit(TWO, PARTS)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again._cache is None
        assert np.array_equal(again.predict_proba(TWO), model.predict_proba(TWO))


# ---------------------------------------------------------------------- splits


@pytest.mark.parametrize("model", QUICK.values(), ids=QUICK)
def test_a_split_that_nothing_can_be_learned_from(model):
    with pytest.raises(InputError, match="the split has no val nodes to stop and select by"):
        clone(model).fit(TWO, Split(PARTS.train, [], PARTS.test))
    one_class = PARTS.val[TWO.y[PARTS.val] == 1]
    with pytest.raises(InputError, match="ROC-AUC needs validation nodes of every class"):
        clone(model).set_params(metric="roc_auc").fit(TWO, Split(PARTS.train, one_class, PARTS.test))


def test_one_split_at_a_time():
    with pytest.raises(InputError, match="two splits are given: give one"):
        BaselineClassifier("mlp", epochs=1).fit(TWO, PARTS, split=split(TWO, seed=1))


# ---------------------------------------------------------------------- weights of classes

NOISY = contextual_sbm(num_nodes=200, num_classes=2, num_features=4, homophily=0.55, signal=0.3, seed=3)
NOISY_PARTS = split(NOISY, seed=0)
FEW = {"ensemble": {"plain": 1, "folds": 2, "candidates": ("GCN",)}, "epochs": 8}
WEIGHED = {
    "goal": GOALClassifier(**FEW),
    "embedding": GOALClassifier(encoder={"kind": "gcn", "epochs": 8, "hidden": 8}, hidden=8, epochs=8),
    "gcn": BaselineClassifier("gcn", hidden=8, epochs=8),
    "extra": TreesClassifier(trees=20),
    "boosted": TreesClassifier("boosted", trees=20),
    "logistic": LogisticClassifier(),
}


@pytest.mark.parametrize("model", WEIGHED.values(), ids=WEIGHED)
def test_class_weights(model, tmp_path):
    plain = clone(model).fit(NOISY, NOISY_PARTS).predict_proba(NOISY)
    equal = clone(model).set_params(class_weight={0: 1, 1: 1.0}).fit(NOISY, NOISY_PARTS)
    assert np.array_equal(equal.predict_proba(NOISY), plain)
    heavy = clone(model).set_params(class_weight={1: 9}).fit(NOISY, NOISY_PARTS)
    found = heavy.predict_proba(NOISY)
    assert found[NOISY_PARTS.test, 1].mean() > plain[NOISY_PARTS.test, 1].mean() + 0.05
    heavy.save(tmp_path)
    loaded = type(heavy).load(tmp_path)
    assert np.array_equal(loaded.predict_proba(NOISY), found)
    assert loaded.settings_ == heavy.settings_
    assert loaded.settings_.class_weight == {"1": 9}
    identities = {m.run_identity(NOISY, NOISY_PARTS) for m in (model, equal, heavy, loaded)}
    assert len(identities) == 3
    with pytest.raises(InputError, match="class_weight names the class 'rare', which no node has"):
        clone(model).set_params(class_weight={"rare": 2}).fit(NOISY, NOISY_PARTS)
    with pytest.raises(InputError, match="class_weight must be None, 'balanced' or"):
        clone(model).set_params(class_weight="even").fit(NOISY, NOISY_PARTS)


@pytest.mark.parametrize("model", [*WEIGHED.values(), PropagationClassifier()], ids=[*WEIGHED, "propagation"])
def test_no_test_label_is_read_whatever_the_graph_has(model):
    rng = np.random.default_rng(0)
    edges = NOISY.num_edges
    graph = replace(
        NOISY, weights=rng.exponential(size=edges) + 0.1, relations=rng.choice(["a", "b"], edges).tolist()
    )
    y = graph.y.copy()
    y[NOISY_PARTS.test] = 1 - y[NOISY_PARTS.test]
    options = {"class_weight": "balanced", "metric": "auto"}
    options = {name: value for name, value in options.items() if name in model.get_params()}
    one, other = (
        clone(model).set_params(**options).fit(each, NOISY_PARTS)
        for each in (graph, replace(graph, y=y, classes=graph.classes))
    )
    assert np.array_equal(one.predict_proba(graph), other.predict_proba(graph))
    assert one.run_identity(graph, NOISY_PARTS) == other.run_identity(
        replace(graph, y=y, classes=graph.classes), NOISY_PARTS
    )


def test_a_refit_is_weighted_too():
    even, heavy = (
        GOALClassifier(**FEW, refit=True, class_weight=weight).fit(NOISY, NOISY_PARTS).predict_proba(NOISY)
        for weight in (None, {1: 9})
    )
    assert heavy[NOISY_PARTS.test, 1].mean() > even[NOISY_PARTS.test, 1].mean() + 0.05


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize("model", [*QUICK.values(), PropagationClassifier()], ids=lambda m: type(m).__name__)
def test_a_prediction_that_does_not_fit_is_refused_before_it_begins(model, monkeypatch):
    fitted = clone(model).fit(TWO, PARTS)
    larger = contextual_sbm(num_nodes=130, num_classes=2, num_features=4, homophily=0.2, seed=3)

    monkeypatch.setattr(need, "room", lambda: Room(1000, "the machine"))
    with pytest.raises(NotEnoughMemory, match=r"^the prediction needs about .* by the machine"):
        fitted.predict_proba(larger)
    monkeypatch.undo()
    assert fitted.predict_proba(larger).shape == (130, 2)
