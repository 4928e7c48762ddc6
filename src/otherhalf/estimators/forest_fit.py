"""Forests that scikit-learn fits, as plain arrays."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from otherhalf.estimators.forest import Doubles, Forest
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.seeds import generator
from otherhalf.training.class_weights import node_weights

MANY_CLASSES = "The number of unique classes is greater"
"""Start of scikit-learn's warning that the labels may be numbers."""

TREES = 300
"""Number of trees of a forest, and most iterations of boosting."""

LEARNING_RATE, MOST_LEAVES, DECAY = 0.08, 15, 1.0
STEP = 25
"""Number of iterations of boosting that are added at a time. After as many without improvement it ends."""


def fit_extra_trees(
    rows: FloatArray,
    codes: IntArray,
    classes: int,
    seed: int,
    *,
    trees: int = TREES,
    leaf: int = 2,
    class_weights: FloatArray | None = None,
) -> tuple[Forest, FloatArray]:
    """Fit extremely randomised trees (Geurts et al., 2006), each on rows drawn with replacement.

    Returns the forest, and ``[n, C]`` probabilities of the training rows by the trees that did not draw them;
    a row that every tree drew has the frequencies of the classes.

    Args:
        rows: ``[n, F]``: the table of the training nodes.
        codes: ``[n]``: their class codes.
        classes: C. A class without training rows has the probability 0.
        seed: Seed of the draws.
        trees: Number of trees.
        leaf: Least number of rows in a leaf.
        class_weights: ``[C]`` weights of the classes; None where all rows count the same.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    fitted = ExtraTreesClassifier(
        trees,
        min_samples_leaf=leaf,
        bootstrap=True,
        oob_score=True,
        random_state=_random_state(seed),
        n_jobs=torch.get_num_threads(),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        warnings.filterwarnings("ignore", message=MANY_CLASSES)
        fitted.fit(rows, codes, _of_rows(class_weights, codes))
    present = fitted.classes_
    unseen = np.zeros((len(codes), classes), dtype=np.float32)
    unseen[:, present] = fitted.oob_decision_function_
    weights = node_weights(class_weights, codes)
    unseen[unseen.sum(axis=1) == 0] = np.bincount(codes, weights, minlength=classes) / len(codes)
    return _forest((_voting(each.tree_, present) for each in fitted.estimators_), classes), unseen


def fit_boosted_trees(
    rows: FloatArray,
    codes: IntArray,
    classes: int,
    seed: int,
    val_rows: FloatArray,
    val_codes: IntArray,
    *,
    iterations: int = TREES,
    leaf: int = 20,
    class_weights: FloatArray | None = None,
) -> Forest:
    """Fit gradient boosting over binned columns, and keep the iterations up to the best on validation rows.

    Args:
        rows: ``[n, F]``: the table of the training nodes.
        codes: ``[n]``: their class codes.
        classes: C. A class without training rows has the probability 0.
        seed: Seed of the draws.
        val_rows: The table of the validation nodes; their log loss decides.
        val_codes: Their class codes. Those of classes without training rows are not counted.
        iterations: Largest number of iterations; each adds one tree per class, or one for two classes.
        leaf: Least number of rows in a leaf.
        class_weights: ``[C]`` weights of the classes; None where all rows count the same.
    """
    present = np.unique(codes)
    baseline = np.full(classes, -np.inf)
    baseline[present] = 0.0
    if len(present) == 1:
        return _forest((), classes, baseline)
    counted = np.isin(val_codes, present)
    judged = val_rows[counted], np.searchsorted(present, val_codes[counted])
    weights = _of_rows(class_weights, codes), node_weights(class_weights, val_codes[counted])
    fitted = _boosted(rows, codes, *judged, weights, _random_state(seed), iterations, leaf)
    # Two classes have one logit, that of the second: the softmax of 0 and z is the sigmoid of z.
    logits = present[1:] if len(present) == 2 else present
    baseline[logits] = fitted._baseline_prediction.ravel()
    trees = (tree for each in fitted._predictors for tree in zip(each, logits, strict=True))
    return _forest((_adding(tree.nodes, code) for tree, code in trees), classes, baseline)


def _boosted(
    rows: FloatArray,
    codes: IntArray,
    val_rows: FloatArray,
    val_columns: IntArray,
    weights: tuple[FloatArray | None, FloatArray],
    random_state: int,
    iterations: int,
    leaf: int,
) -> Any:
    """Return scikit-learn's boosted trees up to the iteration that is best on the validation rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    fitted = HistGradientBoostingClassifier(
        learning_rate=LEARNING_RATE,
        max_leaf_nodes=MOST_LEAVES,
        l2_regularization=DECAY,
        min_samples_leaf=leaf,
        early_stopping=False,
        warm_start=True,
        random_state=random_state,
    )
    done, best = 0, iterations
    with threadpool_limits(torch.get_num_threads(), user_api="openmp"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=MANY_CLASSES)
        while done < iterations and best > done - STEP:
            done = min(done + STEP, iterations)
            fitted.set_params(max_iter=done).fit(rows, codes, weights[0])  # goes on where it stopped
            if len(val_rows):
                stages = fitted.staged_predict_proba(val_rows)
                best = 1 + int(np.argmin([_log_loss(each, val_columns, weights[1]) for each in stages]))
    del fitted._predictors[best:]
    return fitted


def _of_rows(class_weights: FloatArray | None, codes: IntArray) -> FloatArray | None:
    # None, and not ones: scikit-learn computes with weights in another way, and the last bits would change.
    return None if class_weights is None else node_weights(class_weights, codes)


def _log_loss(probabilities: Doubles, columns: IntArray, weights: FloatArray) -> float:
    chosen = probabilities[np.arange(len(columns)), columns]
    return float(-(weights * np.log(np.maximum(chosen, 1e-15))).mean())


def _random_state(seed: int) -> int:
    """Return a seed in the range of scikit-learn's."""
    return int(generator(seed).integers(1 << 31))


Arrays = dict[str, npt.NDArray[Any]]
"""Arrays of one tree; its nodes have scikit-learn's numbers."""


def _voting(tree: Any, present: IntArray) -> Arrays:
    """Return a tree of scikit-learn's forest; only classes that a leaf holds are entries."""
    is_leaf = tree.children_left < 0
    shares = tree.value[is_leaf, 0]
    leaf, place = np.nonzero(shares)
    return {
        "is_leaf": is_leaf,
        "feature": tree.feature,
        "threshold": tree.threshold,
        "left": tree.children_left,
        "right": tree.children_right,
        "entries": np.bincount(leaf, minlength=len(shares)),
        "column": present[place],
        "value": shares[leaf, place].astype(np.float32),
    }


def _adding(nodes: npt.NDArray[Any], code: int) -> Arrays:
    """Return a tree of scikit-learn's boosting, which adds to the logit of one class."""
    is_leaf = nodes["is_leaf"].astype(bool)
    ones = np.ones(is_leaf.sum(), dtype=np.int64)
    return {
        "is_leaf": is_leaf,
        "feature": nodes["feature_idx"],
        "threshold": nodes["num_threshold"],
        "left": nodes["left"],
        "right": nodes["right"],
        "entries": ones,
        "column": code * ones,
        "value": nodes["value"][is_leaf],
    }


def _forest(trees: Iterable[Arrays], classes: int, baseline: Doubles | None = None) -> Forest:
    """Number the inner nodes and the leaves of all trees, and join the arrays."""
    parts: dict[str, list[npt.NDArray[Any]]] = {name: [np.empty(0, kind)] for name, kind in TYPES.items()}
    inner_nodes = leaves = 0
    for tree in trees:
        inner = ~tree["is_leaf"]
        number = np.where(inner, inner_nodes + inner.cumsum() - 1, -leaves - tree["is_leaf"].cumsum())
        inner_nodes, leaves = inner_nodes + int(inner.sum()), leaves + int(tree["is_leaf"].sum())
        compared = {name: tree[name][inner] for name in ("feature", "threshold")}
        children = {name: number[tree[name][inner]] for name in ("left", "right")}
        for name, part in {**tree, **compared, **children, "roots": number[:1]}.items():
            if name in TYPES:
                parts[name].append(part.astype(TYPES[name]))
    joined: Arrays = {name: np.concatenate(each) for name, each in parts.items()}
    joined["starts"] = np.concatenate([[0], joined.pop("entries").cumsum()]).astype(np.int32)
    if baseline is None:
        joined["value"] = joined["value"].astype(np.float32)
    return Forest(**joined, baseline=baseline, classes=classes)


TYPES = {
    **dict.fromkeys(("feature", "left", "right", "roots", "column"), np.int32),
    **dict.fromkeys(("threshold", "value"), np.float64),
    "entries": np.int64,
}
"""Types of the arrays while they are joined."""
