"""What scikit-learn asks of its estimators, asked of an estimator of nodes.

scikit-learn's own checks give an estimator rows of numbers; these give it a graph and a split.
"""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.estimators.base import NodeClassifier
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN
from otherhalf.testing.case import Case, as_json, content, equal, expect, expect_refusal, small_graph
from otherhalf.testing.changes import edges_given_again, labels_permuted, renumbered

ROUNDING = 1e-5
"""Most that a row of float32 probabilities may differ from the sum 1."""


def check_estimator(
    estimator: NodeClassifier,
    graph: Graph | None = None,
    split: Split | None = None,
    *,
    skip: Collection[str] = (),
) -> None:
    """Raise AssertionError, with a sentence, if an estimator does not keep a rule of :data:`CHECKS`.

    The estimator is fitted eight times, so give it a short training.

    Args:
        estimator: An estimator, which is not changed.
        graph: A graph with labels for the fits; default: one of 40 nodes, three classes and four features.
        split: Its split; default: the uniform one with the seed 0.
        skip: Names of checks to leave out.
    """
    if unknown := set(skip) - set(CHECKS):
        raise InputError(f"there is no check {min(unknown)!r} to skip: the checks are {', '.join(CHECKS)}")
    graph = small_graph() if graph is None else graph
    if graph.ids is None:
        graph = replace(graph, ids=np.array([f"node {i}" for i in range(graph.num_nodes)]))
    case = Case(estimator, graph, make_split(graph, seed=0) if split is None else split)
    for name, check in CHECKS.items():
        if name not in skip:
            try:
                check(case)
            except AssertionError as error:
                raise AssertionError(f"{type(estimator).__name__}, {name}: {error}") from error


# ---------------------------------------------------------------------- arguments


def check_arguments(case: Case) -> None:
    """``__init__`` stores its arguments and does nothing else; they can be read, set and cloned."""
    given = case.estimator.get_params(deep=False)
    made = type(case.estimator)(**given)
    expect(_learned(made) == set(), f"__init__ sets {sorted(_learned(made))}, which a fit should set")
    kept = made.get_params(deep=False)
    expect(kept.keys() == given.keys(), "get_params does not name the arguments of __init__")
    for name, value in given.items():
        expect(kept[name] is value, f"__init__ changes {name}: store what was given, and check it in fit")
    copied = clone(case.estimator)
    expect(copied is not case.estimator, "clone returns the estimator itself")
    expect(repr(copied.get_params()) == repr(case.estimator.get_params()), "clone changes an argument")
    expect(copied.set_params(**copied.get_params(deep=False)) is copied, "set_params does not return self")
    expect(repr(copied.get_params()) == repr(case.estimator.get_params()), "set_params changes an argument")
    try:
        copied.set_params(no_such_argument=1)
    except ValueError:
        return  # scikit-learn's own sentence, which shows the estimator and may have several lines
    raise AssertionError("set_params takes an unknown name")


def check_unfitted(case: Case) -> None:
    """What needs a fit says so in one sentence."""
    made = clone(case.estimator)
    with tempfile.TemporaryDirectory() as folder:
        uses: dict[str, Callable[[], Any]] = {
            "predict": lambda: made.predict(case.graph),
            "predict_proba": lambda: made.predict_proba(case.graph),
            "predict of rows": lambda: made.predict(np.ones((3, 2))),
            "predict_sets": lambda: made.predict_sets(case.graph),
            "score": lambda: made.score(case.graph),
            "save": lambda: made.save(folder),
        }
        for name, use in uses.items():
            expect_refusal(use, f"{name} works before fit", NotFittedError)
    expect(not hasattr(made, "n_features_in_"), "n_features_in_ is there before fit")


# ---------------------------------------------------------------------- fits


def check_fit(case: Case) -> None:
    """A fit returns the estimator, keeps its arguments, and what it learns has a name that ends in ``_``."""
    made = clone(case.estimator)
    before, arguments = set(vars(made)), repr(made.get_params())
    expect(made.fit(case.graph, case.split) is made, "fit does not return self")
    expect(repr(made.get_params()) == arguments, "fit changes an argument")
    new = {name for name in set(vars(made)) - before if not name.startswith("_")}
    wrong = sorted(name for name in new if not name.endswith("_"))
    expect(not wrong, f"fit sets {wrong}, whose names do not end in _")
    first = made.predict_proba(case.graph)
    made.fit(case.graph, case.split)
    expect(equal(first, made.predict_proba(case.graph)), "a second fit gives another result")
    expect(equal(first, case.probabilities), "the fit of a clone gives another result")


def check_nothing_else_changes(case: Case) -> None:
    """Neither the graph, the split nor the random numbers of the program change."""
    before = content(case.graph), content(case.split)
    state = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002  # the user's, not ours
    case.fit(case.graph).predict_proba(case.graph)
    expect((content(case.graph), content(case.split)) == before, "a fit changes the graph or the split")
    expect(equal(torch.get_rng_state(), state[1]), "a fit moves the random numbers of torch")
    same = repr(np.random.get_state()) == repr(state[0])  # noqa: NPY002
    expect(same, "a fit moves the random numbers of numpy")


def check_edges(case: Case) -> None:
    """Neither the order nor the repetition of edges changes a bit."""
    again = case.fit(edges_given_again(case.graph)).predict_proba(case.graph)
    expect(equal(case.probabilities, again), "another order or repetition of the edges changes the fit")


def check_hidden_labels(case: Case) -> None:
    """Labels of test nodes do not change a bit."""
    other = labels_permuted(case.graph, case.split.test)
    again = case.fit(other).predict_proba(other)
    expect(equal(case.probabilities, again), "the labels of test nodes change the fit")


def check_features(case: Case) -> None:
    """``n_features_in_`` is D, ``feature_names_in_`` are the names if there are any; their order is free."""
    bare = case.fit(replace(case.graph, feature_names=None, reading=None))
    expect(bare.n_features_in_ == case.graph.num_features, "n_features_in_ is not the number of features")
    expect(not hasattr(bare, "feature_names_in_"), "feature_names_in_ is there without any names")
    names = tuple(f"column {i}" for i in range(case.graph.num_features))
    graph = replace(case.graph, feature_names=names, reading=None)
    made = case.fit(graph)
    expect(tuple(made.feature_names_in_) == names, "feature_names_in_ are other names")
    turned = replace(graph, x=graph.x[:, ::-1], feature_names=names[::-1])
    found = made.predict_proba(turned), made.predict_proba(graph)
    expect(equal(*found), "another order of named features changes the predictions")


# ---------------------------------------------------------------------- predictions


def check_probabilities(case: Case) -> None:
    """Probabilities are float32, ``[N, C]``, in 0 … 1, and every row sums to 1."""
    found, shape = case.probabilities, (case.graph.num_nodes, case.graph.num_classes)
    expect(found.shape == shape, f"predict_proba has the shape {found.shape} and not {shape}")
    expect(found.dtype == np.float32, f"predict_proba is {found.dtype} and not float32")
    expect(((found >= 0) & (found <= 1)).all(), "a probability is outside 0 … 1, or NaN")
    expect(
        np.allclose(found.sum(axis=1), 1, atol=ROUNDING, rtol=0), "a row of probabilities does not sum to 1"
    )


def check_classes(case: Case) -> None:
    """``classes_`` are the graph's, in its order; ``predict`` is the most probable one of them."""
    classes = case.fitted.classes_
    expect(
        classes.tolist() == case.graph.classes.tolist(), "classes_ are not those of the graph, in its order"
    )
    predicted = case.fitted.predict(case.graph)
    expect(predicted.shape == (case.graph.num_nodes,), "predict does not give one class per node")
    expect(
        equal(predicted, classes[case.probabilities.argmax(axis=1)]), "predict is not the most probable class"
    )


def check_order(case: Case) -> None:
    """The order of the nodes of a graph with ids is the order of its predictions."""
    order = np.random.default_rng(0).permutation(case.graph.num_nodes)
    found = case.fitted.predict_proba(renumbered(case.graph, order))
    expect(equal(found, case.probabilities[order]), "another order of the nodes changes their probabilities")


def check_copies(case: Case) -> None:
    """A fitted estimator that was copied or pickled predicts the same."""
    for what, made in (
        ("copy.deepcopy", copy.deepcopy(case.fitted)),
        ("pickle", pickle.loads(pickle.dumps(case.fitted))),
    ):
        expect(equal(made.predict_proba(case.graph), case.probabilities), f"{what} changes the predictions")


def check_files(case: Case) -> None:
    """A model that was saved and loaded is the same; one that cannot be saved says so in one sentence."""
    made = case.fitted
    with tempfile.TemporaryDirectory() as folder:
        try:
            made.save(Path(folder, "model"))
        except InputError as error:
            expect("\n" not in str(error), "save refuses in several lines")
            return
        loaded = type(made).load(Path(folder, "model"))
    expect(equal(loaded.predict_proba(case.graph), case.probabilities), "load changes the predictions")
    same = as_json(loaded.get_params()) == as_json(made.get_params())  # JSON has no tuples
    expect(same, "load changes an argument")
    expect(equal(loaded.classes_, made.classes_), "load changes classes_")
    expect(loaded.n_features_in_ == made.n_features_in_, "load changes n_features_in_")


# ---------------------------------------------------------------------- refusals


def check_refusals(case: Case) -> None:
    """What cannot be used is refused in one sentence, and an earlier fit stays."""
    graph, split, made = case.graph, case.split, copy.deepcopy(case.fitted)
    bare = replace(graph, y=np.full(graph.num_nodes, UNKNOWN))
    one_class = split.train[graph.y[split.train] == graph.y[split.train[0]]]
    wider = graph.x[:, [*range(graph.num_features), 0]]
    beyond = replace(split, test=np.array([graph.num_nodes]))
    fewer = replace(graph, ids=np.array([f"other {i}" for i in range(graph.num_nodes)]))
    uses: dict[str, Callable[[], Any]] = {
        "fit takes no graph": lambda: made.fit(),
        "fit takes a text": lambda: made.fit("graph"),
        "fit takes rows without edges": lambda: made.fit(graph.x, graph.y),
        "fit takes a graph without labels": lambda: made.fit(bare, split),
        "fit takes training nodes of one class": lambda: made.fit(graph, replace(split, train=one_class)),
        "fit takes a split without validation nodes": lambda: made.fit(
            graph, replace(split, val=split.val[:0])
        ),
        "fit takes a split of another graph": lambda: made.fit(graph, beyond),
        "predict takes more features": lambda: made.predict(replace(graph, x=wider)),
        "predict takes a graph without the fitted nodes": lambda: made.predict(fewer),
        "score takes a graph without labels": lambda: made.score(bare),
    }
    for sentence, use in uses.items():
        expect_refusal(use, sentence, InputError)
    expect(equal(made.predict_proba(graph), case.probabilities), "a refusal changes the earlier fit")


CHECKS: dict[str, Callable[[Case], None]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        check_arguments,
        check_unfitted,
        check_fit,
        check_nothing_else_changes,
        check_edges,
        check_hidden_labels,
        check_features,
        check_probabilities,
        check_classes,
        check_order,
        check_copies,
        check_files,
        check_refusals,
    )
}
"""The checks by name, in their order; the docstring of each says the rule."""


def _learned(made: NodeClassifier) -> set[str]:
    return {name for name in vars(made) if name.endswith("_")}
