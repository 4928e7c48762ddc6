"""Forests as arrays: the same answers as scikit-learn's, which fits them."""

import warnings

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

from otherhalf.estimators.forest import Forest
from otherhalf.estimators.forest_fit import _random_state, fit_boosted_trees, fit_extra_trees


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
        random_state=_random_state(seed),
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
        random_state=_random_state(seed),
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


def test_a_forest_without_trees_is_refused():
    tensors = fit_extra_trees(*table(), 4, 0, trees=3)[0].tensors()
    with pytest.raises(ValueError, match=r"."):
        Forest.from_tensors(tensors | {"forest/roots": tensors["forest/roots"][:0]})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("left", 0),  # a loop
        ("right", 10**6),
        ("right", -(10**6)),
        ("roots", 10**6),
        ("feature", -1),
        ("column", 99),
        ("column", -1),
        ("starts", 5),
        ("starts", 10**6),
    ],
)
def test_trees_that_lead_nowhere_are_refused(name, value):
    """Compiled code would follow them for ever, or out of the arrays."""
    rows, codes = table()
    tensors = fit_extra_trees(rows, codes, 4, 0, trees=2)[0].tensors()
    changed = tensors[f"forest/{name}"].clone()
    changed[0] = value
    with pytest.raises(ValueError, match="its trees are no trees"):
        Forest.from_tensors({**tensors, f"forest/{name}": changed})
    with pytest.raises(ValueError, match="its trees are no trees"):
        Forest.from_tensors({**tensors, f"forest/{name}": changed.double()})
