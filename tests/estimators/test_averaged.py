"""The mean of several fits: literal probabilities, seeds of the members, and what every estimator can do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier

from otherhalf import BaselineClassifier, GOALClassifier, Graph, InputError, Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.averaged import AveragedClassifier, member_seeds
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.settings import BaselineSettings
from otherhalf.training.checkpoint import History
from otherhalf.training.metrics import score

GRAPH = contextual_sbm(num_nodes=90, num_classes=3, num_features=5, homophily=0.8, signal=2.0, seed=1)
PARTS = split(GRAPH, seed=0)
QUICK = {"hidden": 8, "epochs": 5}


def quick(**options):
    return BaselineClassifier("gcn", **{"seed": 4, **QUICK, **options})


@pytest.fixture(scope="module")
def fitted():
    return AveragedClassifier(quick(), 3).fit(GRAPH, PARTS)


class Given(NodeClassifier):
    """A classifier whose probabilities are given by the number of fits before it."""

    fits = 0
    tables = ([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [[0.5, 0.5], [0.4, 0.6], [0.2, 0.8]])

    def __init__(self, seed=0, metric="accuracy", device="cpu"):
        self._store(locals())

    def resolved_settings(self, data_set=""):
        return BaselineSettings("mlp")

    def _fit(self, *arguments):
        table = np.array(self.tables[Given.fits], dtype=np.float32)
        Given.fits += 1
        return {"_table": table, "history_": {"classifier": History()}, "seconds_": {"train": 1.0}}

    def _probabilities(self, prepared):
        return self._table

    def _parts(self):
        return {}


def test_by_hand():
    graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), y=["cat", "dog", "cat"])
    parts = Split(np.array([0, 1]), np.array([2]), np.array([]))
    Given.fits = 0
    model = AveragedClassifier(Given(), 2).fit(graph, parts)
    assert model.predict_proba(graph) == pytest.approx(np.array([[0.7, 0.3], [0.3, 0.7], [0.4, 0.6]]))
    assert model.predict_proba(graph).dtype == np.float32
    assert model.predict(graph).tolist() == ["cat", "dog", "dog"]
    assert model.score(graph) == pytest.approx(2 / 3)
    assert model.seconds_["train"] == 2.0


def test_the_members_are_fits_of_their_own(fitted):
    seeds = member_seeds(4, 3)
    alone = [quick(seed=seed).fit(GRAPH, PARTS) for seed in seeds]
    assert [member.seed for member in fitted.members_] == seeds
    for member, single in zip(fitted.members_, alone, strict=True):
        assert np.array_equal(member.predict_proba(GRAPH), single.predict_proba(GRAPH))
    mean = np.mean([single.predict_proba(GRAPH) for single in alone], axis=0)
    assert fitted.predict_proba(GRAPH) == pytest.approx(mean, abs=1e-6)
    assert not np.array_equal(alone[0].predict_proba(GRAPH), alone[1].predict_proba(GRAPH))
    assert fitted.score(GRAPH, PARTS.test) == score("accuracy", mean, GRAPH.y, PARTS.test)


def test_one_member_is_the_estimator_itself():
    one = AveragedClassifier(quick(), 1).fit(GRAPH, PARTS)
    assert np.array_equal(one.predict_proba(GRAPH), quick().fit(GRAPH, PARTS).predict_proba(GRAPH))


def test_two_fits_are_equal_and_leave_the_estimator_as_it_was(fitted):
    model = quick()
    again = AveragedClassifier(model, 3).fit(GRAPH, PARTS)
    assert np.array_equal(again.predict_proba(GRAPH), fitted.predict_proba(GRAPH))
    assert (model.seed, hasattr(model, "classes_")) == (4, False)
    other = AveragedClassifier(quick(seed=5), 3).fit(GRAPH, PARTS)
    assert not np.array_equal(other.predict_proba(GRAPH), fitted.predict_proba(GRAPH))


@given(st.integers(0, 2**40), st.integers(1, 40))
def test_seeds_of_members(seed, members):
    seeds = member_seeds(seed, members)
    assert len(set(seeds)) == len(seeds) == members
    assert seeds[0] == seed
    assert seeds == member_seeds(seed, 40)[:members]
    assert all(0 <= each < 2**32 for each in seeds[1:])


def test_fits_of_several_splits_share_no_seed():
    seeds = [each for seed in range(50) for each in member_seeds(seed, 10)]
    assert len(set(seeds)) == len(seeds)


# ---------------------------------------------------------------------- an estimator like any other


def test_scikit_learn(fitted):
    assert is_classifier(fitted)
    model = AveragedClassifier(quick(), 3)
    copy = clone(model)
    assert copy.model is not model.model
    assert (copy.members, copy.seed, copy.metric, copy.device) == (3, 4, "accuracy", "cpu")
    assert model.set_params(model__seed=7, members=2).seed == 7
    assert model.get_params()["model__hidden"] == 8


def test_what_the_fit_tells(fitted):
    assert fitted.classes_.tolist() == GRAPH.classes.tolist()
    assert set(fitted.history_) == {f"member {number} classifier" for number in (1, 2, 3)}
    assert fitted.settings_ == quick().resolved_settings()
    train = sum(member.seconds_["train"] for member in fitted.members_)
    assert fitted.seconds_["train"] == pytest.approx(train)
    assert fitted.seconds_["total"] >= train


def test_test_labels_are_not_read(fitted):
    y = GRAPH.y.copy()
    y[PARTS.test] = np.roll(y[PARTS.test], 1)
    other = AveragedClassifier(quick(), 3).fit(replace(GRAPH, y=y), PARTS)
    assert np.array_equal(other.predict_proba(GRAPH), fitted.predict_proba(GRAPH))


def test_new_nodes_in_any_order():
    """Each member joins them to a missing half of its own."""
    goal = GOALClassifier("paper", encoder={"kind": "gcn", "epochs": 3}, epochs=3)
    graph = replace(GRAPH, ids=np.arange(90))
    model = AveragedClassifier(goal, 2).fit(graph, PARTS)
    order = np.random.default_rng(0).permutation(92)
    x = np.concatenate([GRAPH.x, GRAPH.x[:2]])
    edges = np.concatenate([GRAPH.edges, [[90, 91], [0, 5]]], axis=1)
    place = np.argsort(order)
    grown = Graph(edges=place[edges], x=x[order], y=np.zeros(92, dtype=int), ids=order)
    expected = np.mean([member.predict_proba(grown) for member in model.members_], axis=0)
    assert model.predict_proba(grown) == pytest.approx(expected, abs=1e-6)
    first, second = (member.predict_proba(grown) for member in model.members_)
    assert not np.array_equal(first, second)


def test_members_do_not_keep_the_prepared_graph(fitted):
    fitted.predict_proba(GRAPH)
    assert [member._cache for member in fitted.members_] == [None] * 3


def test_a_fit_that_was_stopped_continues(tmp_path, fitted):
    def stop(stage, done, total):
        stages.append(stage)
        if stage == "member 2 classifier":
            raise KeyboardInterrupt

    stages = []
    with pytest.raises(KeyboardInterrupt):
        AveragedClassifier(quick(), 3).fit(GRAPH, PARTS, checkpoints=tmp_path, on_step=stop)
    assert stages == ["member 1 classifier"] * 5 + ["member 2 classifier"]
    stages.clear()
    model = AveragedClassifier(quick(), 3)
    model.fit(GRAPH, PARTS, checkpoints=tmp_path, on_step=lambda stage, *_: stages.append(stage))
    assert "member 1 classifier" not in stages  # it is complete
    assert np.array_equal(model.predict_proba(GRAPH), fitted.predict_proba(GRAPH))


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("members", [0, -1, 2.5, "two", True])
def test_a_number_of_members(members):
    model = AveragedClassifier(quick(), members)
    for attempt in (model.resolved_settings, lambda: model.fit(GRAPH, PARTS)):
        with pytest.raises(InputError, match="members must be an integer ≥ 1, not"):
            attempt()


def test_wrong_settings_of_the_estimator():
    with pytest.raises(InputError, match="hidden must be an integer ≥ 1 and ≤ 100000, not 0"):
        AveragedClassifier(quick(hidden=0), 2).fit(GRAPH, PARTS)
    with pytest.raises(InputError, match="top-3 accuracy needs at least 4 classes"):
        AveragedClassifier(quick(metric="top_3"), 2).fit(GRAPH, PARTS)


def test_it_cannot_be_saved_but_its_members_can(fitted, tmp_path):
    with pytest.raises(InputError, match="cannot be saved: save each of its members_"):
        fitted.save(tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
    fitted.members_[1].save(tmp_path / "one")
    loaded = BaselineClassifier.load(tmp_path / "one")
    assert np.array_equal(loaded.predict_proba(GRAPH), fitted.members_[1].predict_proba(GRAPH))
    with pytest.raises(InputError, match="holds a BaselineClassifier: load it with BaselineClassifier"):
        AveragedClassifier.load(tmp_path / "one")
