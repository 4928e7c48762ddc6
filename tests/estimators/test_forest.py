"""Forests as arrays: the same answers as scikit-learn's, which fits them."""

import warnings

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from otherhalf.estimators import forest as module
from otherhalf.estimators.forest import Forest, fit_boosted_trees, fit_extra_trees


def table(rows=200, columns=6, classes=4, seed=0, *, lacking=(), whole=False):
    """A table of which three columns depend on the class; no row has a class of ``lacking``."""
    rng = np.random.default_rng(seed)
    codes = rng.choice([code for code in range(classes) if code not in lacking], size=rows)
    x = rng.normal(size=(rows, columns))
    x[:, :3] += codes[:, None] * np.array([1.0, -0.7, 0.4])
    return (np.round(2 * x) if whole else x).astype(np.float32), codes


def with_columns(probabilities, present, classes):
    full = np.zeros((len(probabilities), classes))
    full[:, present] = probabilities
    return full


def sklearn_extra(rows, codes, seed=0, trees=300, leaf=2):
    model = ExtraTreesClassifier(
        trees,
        min_samples_leaf=leaf,
        bootstrap=True,
        oob_score=True,
        random_state=module._random_state(seed),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, codes)


def sklearn_boosted(rows, codes, seed=0, iterations=300, leaf=20):
    model = HistGradientBoostingClassifier(
        max_iter=iterations,
        learning_rate=0.08,
        max_leaf_nodes=15,
        l2_regularization=1.0,
        min_samples_leaf=leaf,
        early_stopping=False,
        random_state=module._random_state(seed),
    )
    return model.fit(rows, codes)


def boosted(rows, codes, classes, **options):
    """Without validation rows, so that all iterations are kept."""
    return fit_boosted_trees(rows, codes, classes, 0, rows[:0], codes[:0], **options)


def near(thresholds, feature, columns, kind):
    """Rows with a threshold in the column that is compared with it, and with the numbers beside it."""
    rows = np.zeros((3 * len(thresholds), columns), dtype=kind)
    values = thresholds.astype(kind)
    for shift, value in enumerate((values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf))):
        place = shift * len(values) + np.arange(len(values))
        rows[place, feature] = value.astype(kind)
    return rows


DATA = {
    "four classes": {},
    "two classes": {"classes": 2},
    "whole numbers": {"whole": True},
    "one class missing": {"lacking": (1,)},
    "the last class missing": {"lacking": (3,)},
    "two of four classes": {"lacking": (0, 2)},
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", ["extra", "boosted"])
def test_the_probabilities_are_those_of_scikit_learn(kind, name):
    rows, codes = table(**DATA[name])
    classes = DATA[name].get("classes", 4)
    if kind == "extra":
        model = sklearn_extra(rows, codes, trees=40, leaf=1)
        ours, _ = fit_extra_trees(rows, codes, classes, 0, trees=40, leaf=1)
    else:
        model = sklearn_boosted(rows, codes, iterations=30, leaf=3)
        ours = boosted(rows, codes, classes, iterations=30, leaf=3)
    new, _ = table(seed=1, whole=DATA[name].get("whole", False))
    hit = near(ours.threshold, ours.feature, rows.shape[1], np.float32)
    for asked in (rows, new, new[:1], hit, new[:, ::1].astype(np.float64), np.asfortranarray(new)):
        expected = with_columns(model.predict_proba(asked), model.classes_, classes)
        found = ours.probabilities(asked)
        assert found.dtype == np.float32
        assert found.shape == (len(asked), classes)
        assert np.allclose(found, expected, rtol=0, atol=1e-6)
        assert np.allclose(found.sum(axis=1), 1, atol=1e-6)
        for code in DATA[name].get("lacking", ()):
            assert not found[:, code].any()


def test_rows_in_double_precision_are_compared_as_scikit_learn_does():
    """Its forests round a row to single precision, its boosting does not."""
    rows, codes = table()
    extra, gradient = sklearn_extra(rows, codes, trees=20), sklearn_boosted(rows, codes, iterations=20)
    ours, _ = fit_extra_trees(rows, codes, 4, 0, trees=20)
    hit = near(ours.threshold, ours.feature, rows.shape[1], np.float64)
    assert np.allclose(ours.probabilities(hit), extra.predict_proba(hit), rtol=0, atol=1e-6)
    ours = boosted(rows, codes, 4, iterations=20)
    hit = near(ours.threshold, ours.feature, rows.shape[1], np.float64)
    assert np.allclose(ours.probabilities(hit), gradient.predict_proba(hit), rtol=0, atol=1e-6)
    rounded = ours.probabilities(hit.astype(np.float32))
    assert not np.allclose(rounded, ours.probabilities(hit), atol=1e-6)


def test_no_rows():
    rows, codes = table()
    assert fit_extra_trees(rows, codes, 4, 0, trees=3)[0].probabilities(rows[:0]).shape == (0, 4)
    assert boosted(rows, codes, 4, iterations=2).probabilities(rows[:0]).shape == (0, 4)


def test_a_row_by_hand():
    """x₀ ≤ 0.5: class 1; else x₁ ≤ 2: a third of class 0 and two thirds of class 2; else class 0."""
    stump = Forest(
        feature=np.array([0, 1], dtype=np.int32),
        threshold=np.array([0.5, 2.0]),
        left=np.array([-1, -2], dtype=np.int32),
        right=np.array([1, -3], dtype=np.int32),
        roots=np.array([0, -3], dtype=np.int32),  # the second tree is a single leaf
        starts=np.array([0, 1, 3, 4], dtype=np.int32),
        column=np.array([1, 0, 2, 0], dtype=np.int32),
        value=np.array([1, 1 / 3, 2 / 3, 1], dtype=np.float32),
        baseline=None,
        classes=3,
    )
    rows = np.array([[0.5, 9], [0.6, 2], [0.6, 2.1]], dtype=np.float32)
    expected = [[1 / 2, 1 / 2, 0], [2 / 3, 0, 1 / 3], [1, 0, 0]]
    assert np.allclose(stump.probabilities(rows), expected)


@pytest.mark.parametrize("shape", [(5, 1), (5,)])
def test_a_table_without_the_columns(shape):
    forest, _ = fit_extra_trees(*table(), 4, 0, trees=5)
    with pytest.raises(ValueError, match="lacks columns that the trees compare"):
        forest.probabilities(np.zeros(shape, dtype=np.float32))


@pytest.mark.parametrize("kind", ["extra", "boosted"])
def test_the_threads_do_not_matter(kind):
    rows, codes = table(1500)

    def answer(threads):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            if kind == "extra":
                forest, unseen = fit_extra_trees(rows, codes, 4, 0)
            else:
                forest, unseen = boosted(rows, codes, 4, iterations=20), rows
            return forest.probabilities(rows), unseen
        finally:
            torch.set_num_threads(before)

    for one, three in zip(answer(1), answer(3), strict=True):
        assert np.array_equal(one, three)


def test_leaves_hold_only_the_classes_they_have():
    rows, codes = table(500, classes=40)
    forest, _ = fit_extra_trees(rows, codes, 40, 0, trees=10)
    leaves = len(forest.starts) - 1
    assert len(forest.feature) + 10 == leaves  # inner nodes have no values
    assert len(forest.value) < 6 * leaves
    assert forest.value.dtype == np.float32
    assert (np.diff(forest.starts) > 0).all()


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


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", ["extra", "boosted"])
def test_tensors(kind):
    rows, codes = table(lacking=(1,))
    forest = (
        fit_extra_trees(rows, codes, 4, 0, trees=5)[0]
        if kind == "extra"
        else boosted(rows, codes, 4, iterations=5)
    )
    tensors = forest.tensors()
    assert all(key.startswith("forest/") for key in tensors)
    again = Forest.from_tensors({"other": torch.zeros(1), **load(save(tensors))})
    assert again.classes == 4
    assert (again.baseline is None) == (kind == "extra")
    assert np.array_equal(again.probabilities(rows), forest.probabilities(rows))
