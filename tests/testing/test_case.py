"""What the checks share: how they compare, and how they refuse."""

from dataclasses import replace

import numpy as np
import pytest

from otherhalf import InputError, Split
from otherhalf.estimators.simple import MajorityClassifier
from otherhalf.testing.case import Case, as_json, content, equal, expect, expect_refusal, small_graph


def test_the_small_graph_has_what_users_graphs_have():
    graph = small_graph()
    assert (graph.num_nodes, graph.num_classes, graph.num_features) == (40, 3, 4)
    assert graph.classes.tolist() == ["sea", "air", "land"]
    assert 0 < len(graph.labelled) < 40
    assert len(set(graph.ids)) == 40


def test_a_case_fits_once():
    graph = small_graph()
    nodes = graph.labelled
    case = Case(MajorityClassifier(), graph, Split(nodes[:20], nodes[20:28], nodes[28:]))
    assert case.fitted is case.fitted
    assert not hasattr(case.estimator, "classes_")
    assert equal(case.probabilities, case.fitted.predict_proba(graph))


def test_content_tells_every_part():
    graph = small_graph()
    assert content(graph) == content(replace(graph))
    others = ({"name": "other"}, {"y": np.roll(graph.y, 1)}, {"x": -graph.x}, {"ids": graph.ids[::-1]})
    for change in others:
        assert content(replace(graph, **change)) != content(graph)


def test_expectations():
    expect(True, "unused")
    with pytest.raises(AssertionError, match="a sentence"):
        expect(False, "a sentence")
    assert as_json({"a": (1, 2)}) == as_json({"a": [1, 2]}) != as_json({"a": [2, 1]})


def raising(error):
    raise error


def test_refusals():
    expect_refusal(lambda: raising(InputError("one line")), "unused", InputError)
    for use, message in (
        (lambda: None, "it works"),
        (lambda: raising(InputError("two\nlines")), "it works: the refusal is not one sentence"),
        (lambda: raising(KeyError("x")), "it works: KeyError is not InputError"),
    ):
        with pytest.raises(AssertionError, match=message):
            expect_refusal(use, "it works", InputError)
