"""Thresholds, prediction sets and scores of fitted models, kept in their folders."""

import copy
import json

import numpy as np
import pytest

from otherhalf import BaselineClassifier, GOALClassifier, Graph, InputError, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators import model_folder
from otherhalf.estimators.averaged import AveragedClassifier
from otherhalf.estimators.decision import Decision

TWO = contextual_sbm(num_nodes=300, num_classes=2, num_features=6, homophily=0.6, signal=1.0, seed=4)
THREE = contextual_sbm(num_nodes=150, num_classes=3, num_features=6, signal=2.0, seed=1)
PARTS, THREE_PARTS = split(TWO, seed=0), split(THREE, seed=0)


def quick(**options):
    return BaselineClassifier("gcn", epochs=10, hidden=8, **options)


@pytest.fixture(scope="module")
def two():
    return quick().fit(TWO, PARTS)


@pytest.fixture(scope="module")
def three():
    return quick().fit(THREE, THREE_PARTS)


class TestThreshold:
    def test_none_is_the_most_probable_class(self, two):
        expected = two.classes_[two.predict_proba(TWO).argmax(axis=1)]
        assert np.array_equal(two.predict(TWO), expected)

    def test_a_number(self, two):
        p = two.predict_proba(TWO)[:, 1]
        assert np.array_equal(two.predict(TWO, threshold=0.3), two.classes_[(p >= 0.3).astype(int)])
        assert set(two.predict(TWO, threshold=0.0)) == {two.classes_[1]}

    def test_auto_is_that_of_the_validation_nodes(self, two):
        p = two.predict_proba(TWO)
        chosen = Decision.choose(p[PARTS.val], TWO.y[PARTS.val])
        assert np.array_equal(two.predict(TWO, threshold="auto"), two.classes_[chosen.codes(p)])

    def test_auto_directly_after_the_fit(self):
        fresh = quick().fit(TWO, PARTS)
        assert len(fresh.predict(TWO, threshold="auto")) == 300

    def test_what_is_refused(self, two, three):
        for threshold in ("auto", 0.5):
            with pytest.raises(InputError, match="a threshold needs 2 classes"):
                three.predict(THREE, threshold=threshold)
        with pytest.raises(InputError, match="threshold must be a number"):
            two.predict(TWO, threshold=2)


class TestSets:
    def test_they_hold_the_most_probable_class_and_grow(self, three):
        p = three.predict_proba(THREE)
        small, large = three.predict_sets(THREE, 0.5), three.predict_sets(THREE, coverage=0.95)
        assert small.shape == large.shape == p.shape
        assert small[np.arange(150), p.argmax(axis=1)].all()
        assert (large | small == large).all()

    def test_own_calibration_nodes(self, three):
        """The rule of the module, written once more."""
        nodes = THREE_PARTS.test
        p = three.predict_proba(THREE).astype(float)
        scores = np.sort(1 - p[nodes, THREE.y[nodes]])
        limit = scores[int(np.ceil((len(nodes) + 1) * 0.8)) - 1]
        sets = three.predict_sets(THREE, 0.8, calibration=nodes)
        expected = 1 - p <= limit
        expected[np.arange(150), p.argmax(axis=1)] = True
        assert np.array_equal(sets, expected)

    def test_calibration_nodes_are_known_by_the_names_of_their_classes(self, three):
        renamed = Graph(edges=THREE.edges, x=THREE.x, y=np.where(THREE.y == 0, -1, THREE.y))
        assert renamed.classes.tolist() == [1, 2]
        nodes = THREE_PARTS.test[THREE.y[THREE_PARTS.test] > 0]
        expected = three.predict_sets(THREE, 0.8, calibration=nodes)
        assert np.array_equal(three.predict_sets(renamed, 0.8, calibration=nodes), expected)

    def test_what_is_refused(self, three):
        with pytest.raises(InputError, match="coverage must be a number > 0"):
            three.predict_sets(THREE, 1.5)
        hidden = Graph(edges=THREE.edges, x=THREE.x, y=np.where(np.arange(150) < 9, -1, THREE.y))
        with pytest.raises(InputError, match="a calibration node has no label"):
            three.predict_sets(hidden, 0.9, calibration=[3])
        other = Graph(edges=THREE.edges, x=THREE.x, y=THREE.y + 1)
        with pytest.raises(InputError, match="or one that the fit did not have"):
            three.predict_sets(other, 0.9, calibration=np.arange(150))


class TestKept:
    def same(self, one, other, graph=TWO):
        assert np.array_equal(one.predict(graph, threshold="auto"), other.predict(graph, threshold="auto"))
        assert np.array_equal(one.predict_sets(graph, 0.8), other.predict_sets(graph, 0.8))

    def test_in_the_folder_also_without_a_prediction_before(self, two, tmp_path):
        two.save(tmp_path / "one")
        quick().fit(TWO, PARTS).save(tmp_path / "two")
        for name in ("one", "two"):
            self.same(BaselineClassifier.load(tmp_path / name), two)
        values = json.loads((tmp_path / "one" / "model.json").read_text())
        assert values["held_out"]["decision"] == two._held_out.decision.to_dict()

    def test_in_a_copy(self, two):
        self.same(copy.deepcopy(quick().fit(TWO, PARTS)), two)

    def test_with_nodes_in_another_order(self):
        names = [f"n{node}" for node in range(300)]
        graph = Graph(edges=TWO.edges, x=TWO.x, y=TWO.y, ids=names)
        order = np.random.default_rng(0).permutation(300)
        place = np.argsort(order)
        moved = Graph(
            edges=place[TWO.edges], x=TWO.x[order], y=TWO.y[order], ids=[names[node] for node in order]
        )
        one, other = quick().fit(graph, PARTS), quick().fit(graph, PARTS)
        expected = one.predict_sets(graph, 0.8)
        assert np.array_equal(other.predict_sets(moved, 0.8), expected[order])
        assert other._held_out.decision.threshold == pytest.approx(one._held_out.decision.threshold, abs=1e-5)

    def test_a_grown_graph_predicted_first_does_not_decide(self, two):
        """The validation nodes are judged on the fitted graph, whatever is predicted first."""
        model = quick().fit(TWO, PARTS)
        x = np.concatenate([TWO.x, TWO.x[:40]])
        edges = np.hstack([TWO.edges, [PARTS.val[:40], np.arange(300, 340)]])
        grown = Graph(edges=edges, x=x, y=np.append(TWO.y, np.full(40, -1)), classes=TWO.classes)
        after = model.predict_proba(grown)
        assert not np.array_equal(after[:300], two.predict_proba(TWO))
        assert model.decision_ == two.decision_
        assert np.array_equal(model._held_out.calibration.scores, two._held_out.calibration.scores)

    def test_a_second_fit_forgets_the_first(self, two):
        model = quick().fit(TWO, PARTS)
        model.predict_proba(TWO)
        model.set_params(seed=5).fit(TWO, PARTS)
        assert model._held_out is None
        self.same(model, quick(seed=5).fit(TWO, PARTS))

    def test_a_model_of_an_older_version(self, two, tmp_path):
        two.save(tmp_path)
        path = tmp_path / "model.json"
        values = json.loads(path.read_text())
        del values["held_out"], values["metric_choice"]
        values["checksum"] = model_folder._checksum(values)
        path.write_text(json.dumps(values))
        old = BaselineClassifier.load(tmp_path)
        assert np.array_equal(old.predict_proba(TWO), two.predict_proba(TWO))
        assert old.score(TWO, PARTS.test) == two.score(TWO, PARTS.test)
        with pytest.raises(InputError, match="keeps nothing of its validation nodes"):
            old.predict(TWO, threshold="auto")
        with pytest.raises(InputError, match="keeps nothing of its validation nodes for prediction sets"):
            old.predict_sets(TWO)
        assert old.predict_sets(TWO, calibration=PARTS.test).shape == (300, 2)

    def test_validation_nodes_that_were_fitted_again_are_no_judges(self):
        model = GOALClassifier(fast=True, refit=True).fit(TWO, PARTS)
        for attempt in (lambda: model.predict_sets(TWO), lambda: model.predict(TWO, threshold="auto")):
            with pytest.raises(InputError, match="fitted once more to them"):
                attempt()

    def test_the_mean_of_several_models(self):
        mean = AveragedClassifier(quick(), 2).fit(TWO, PARTS)
        expected = Decision.choose(mean.predict_proba(TWO)[PARTS.val], TWO.y[PARTS.val])
        assert (
            mean.predict(TWO, threshold="auto").tolist() == expected.codes(mean.predict_proba(TWO)).tolist()
        )


class TestAuto:
    def rare(self):
        rng = np.random.default_rng(0)
        y = (rng.random(400) < 0.06).astype(int)
        x = rng.normal(size=(400, 4)) + 1.5 * y[:, None]
        return Graph(edges=rng.integers(0, 400, (2, 800)), x=x, y=y)

    def test_average_precision_where_a_class_is_rare(self, tmp_path):
        graph = self.rare()
        parts = split(graph, "stratified")
        model, expected = (quick(metric=name).fit(graph, parts) for name in ("auto", "average_precision"))
        assert model.metric_choice_.name == "average_precision"
        assert "only" in model.metric_choice_.reason
        assert np.array_equal(model.predict_proba(graph), expected.predict_proba(graph))
        assert model.score(graph, parts.test) == expected.score(graph, parts.test)
        assert model.run_identity(graph, parts) == expected.run_identity(graph, parts)
        model.save(tmp_path)
        again = BaselineClassifier.load(tmp_path)
        assert again.metric_choice_ == model.metric_choice_
        assert again.score(graph, parts.test) == expected.score(graph, parts.test)

    def test_accuracy_elsewhere(self, three):
        model = quick(metric="auto").fit(THREE, THREE_PARTS)
        assert model.metric_choice_.name == "accuracy"
        assert np.array_equal(model.predict_proba(THREE), three.predict_proba(THREE))
        assert three.metric_choice_.reason == "The metric is accuracy, as asked for."
