"""Fitting forests: out-of-bag predictions, and the number of iterations of boosting."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from tests.estimators.test_forest import boosted, sklearn_boosted, sklearn_extra, table, with_columns

from otherhalf.estimators.forest_fit import _random_state, fit_boosted_trees, fit_extra_trees
from otherhalf.training.class_weights import node_weights

# ---------------------------------------------------------------------- extra trees


@pytest.mark.parametrize("lacking", [(), (1,)])
def test_out_of_bag(lacking):
    rows, codes = table(lacking=lacking)
    model = sklearn_extra(rows, codes, trees=100)
    _, unseen = fit_extra_trees(rows, codes, 4, 0, trees=100)
    expected = with_columns(model.oob_decision_function_, model.classes_, 4)
    assert unseen.dtype == np.float32
    assert np.allclose(unseen, expected, atol=1e-6)
    inside = fit_extra_trees(rows, codes, 4, 0, trees=100)[0].probabilities(rows)
    own = np.arange(len(codes)), codes
    assert unseen[own].mean() < inside[own].mean()


def test_a_row_that_every_tree_drew_has_the_frequencies():
    rows, codes = table(50, lacking=(2,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, unseen = fit_extra_trees(rows, codes, 4, 0, trees=1)
    drawn = (sklearn_extra(rows, codes, trees=1).oob_decision_function_ == 0).all(axis=1)
    assert 0.5 < drawn.mean() < 0.8
    assert np.allclose(unseen[drawn], np.bincount(codes, minlength=4) / 50)
    assert np.allclose(unseen.sum(axis=1), 1)


@pytest.mark.parametrize("kind", ["extra", "boosted"])
def test_the_seed(kind):
    rows, codes = table()

    def answer(seed):
        if kind == "extra":
            return fit_extra_trees(rows, codes, 4, seed, trees=5)[0].probabilities(rows)
        return fit_boosted_trees(rows, codes, 4, seed, rows, codes, iterations=5).probabilities(rows)

    assert np.array_equal(answer(3), answer(3))
    assert np.array_equal(answer(3), answer(4)) == (kind == "boosted")  # it draws nothing from a small table
    assert answer(2**40).shape == (200, 4)


# ---------------------------------------------------------------------- boosting


@pytest.mark.parametrize(("classes", "lacking"), [(3, ()), (2, ()), (4, (2,)), (4, (0, 3))])
def test_the_validation_rows_choose_the_number_of_iterations(classes, lacking):
    rows, codes = table(120, classes=classes, lacking=lacking)
    val_rows, val_codes = table(80, classes=classes, lacking=lacking, seed=1)
    val_rows = val_rows + np.random.default_rng(2).normal(size=val_rows.shape).astype(np.float32)
    forest = fit_boosted_trees(rows, codes, classes, 0, val_rows, val_codes, leaf=2)
    model = sklearn_boosted(rows, codes, leaf=2)
    stages = list(model.staged_predict_proba(val_rows))
    losses = [log_loss(val_codes, each, labels=model.classes_) for each in stages]
    best = int(np.argmin(losses))
    assert 0 < best < 200
    present = len(model.classes_)
    assert len(forest.roots) == (best + 1) * (1 if present == 2 else present)
    expected = with_columns(stages[best], model.classes_, classes)
    assert np.allclose(forest.probabilities(val_rows), expected, rtol=0, atol=1e-6)


def test_it_stops_when_nothing_improves(monkeypatch):
    sizes = []
    fit = HistGradientBoostingClassifier.fit
    monkeypatch.setattr(
        HistGradientBoostingClassifier,
        "fit",
        lambda self, *a: (sizes.append(self.max_iter), fit(self, *a))[1],
    )
    rows, codes = table()
    noise = np.random.default_rng(0).permutation(codes)
    fit_boosted_trees(rows, codes, 4, 0, rows, noise)
    assert sizes[-1] <= 50
    sizes.clear()
    boosted(rows, codes, 4, iterations=60)
    assert sizes == [25, 50, 60]


def test_validation_rows_of_a_class_without_training_rows_are_not_counted():
    rows, codes = table(lacking=(1,))
    val_rows, val_codes = table(seed=1)
    known = val_codes != 1
    both = [
        fit_boosted_trees(rows, codes, 4, 0, *val)
        for val in ((val_rows, val_codes), (val_rows[known], val_codes[known]))
    ]
    assert np.array_equal(*(forest.probabilities(val_rows) for forest in both))
    none = fit_boosted_trees(rows, codes, 4, 0, val_rows[~known], val_codes[~known], iterations=3)
    assert len(none.roots) == 9


def test_one_class():
    rows, codes = table(20, lacking=(0, 1, 3))
    assert set(codes) == {2}
    for forest in (boosted(rows, codes, 4), fit_extra_trees(rows, codes, 4, 0, trees=3)[0]):
        assert np.array_equal(forest.probabilities(rows), np.tile([0, 0, 1, 0], (20, 1)))


# ---------------------------------------------------------------------- weights of classes

HEAVY = np.array([0.4, 2.0, 0.8, 0.4], dtype=np.float32)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_extra_trees_weigh_as_scikit_learn_does():
    rows, codes = table()
    forest, unseen = fit_extra_trees(rows, codes, 4, 0, trees=20, class_weights=HEAVY)
    model = ExtraTreesClassifier(
        20,
        min_samples_leaf=2,
        bootstrap=True,
        oob_score=True,
        random_state=_random_state(0),
        class_weight=dict(enumerate(HEAVY.tolist())),
    ).fit(rows, codes)
    assert np.allclose(forest.probabilities(rows), model.predict_proba(rows), atol=1e-5)
    assert unseen[:, 1].mean() > fit_extra_trees(rows, codes, 4, 0, trees=20)[1][:, 1].mean()


def test_boosting_weighs_training_and_validation_rows():
    rows, codes = table(120)
    val_rows, val_codes = table(80, seed=1)
    val_rows = val_rows + np.random.default_rng(2).normal(size=val_rows.shape).astype(np.float32)
    forest = fit_boosted_trees(rows, codes, 4, 0, val_rows, val_codes, leaf=2, class_weights=HEAVY)
    model = HistGradientBoostingClassifier(
        max_iter=300,
        learning_rate=0.08,
        max_leaf_nodes=15,
        l2_regularization=1.0,
        min_samples_leaf=2,
        early_stopping=False,
    ).fit(rows, codes, node_weights(HEAVY, codes))
    stages = list(model.staged_predict_proba(val_rows))
    losses = [log_loss(val_codes, each, sample_weight=HEAVY[val_codes]) for each in stages]
    best = int(np.argmin(losses))
    assert len(forest.roots) == 4 * (best + 1)
    assert np.allclose(forest.probabilities(val_rows), stages[best], rtol=0, atol=1e-5)
