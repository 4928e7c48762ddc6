"""What every node classifier has in common: labels from probabilities, and accuracy over labelled nodes."""

import numpy as np
import pytest

from otherhalf import Graph, InputError
from otherhalf.estimators.base import NodeClassifier


class Told(NodeClassifier):
    """A classifier that is told its answers."""

    def __init__(self, probabilities=None, classes=None):
        self.probabilities = probabilities
        self.classes = classes

    @property
    def classes_(self):
        return np.array(self.classes)

    def predict_proba(self, graph):
        return np.array(self.probabilities, dtype=np.float32)


EDGES = [[0, 1, 2], [1, 2, 3]]
PROBABILITIES = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]]


def graph(y):
    return Graph(edges=EDGES, x=np.eye(4), y=y)


def test_predict_names_the_most_probable_class():
    told = Told(PROBABILITIES, ["cat", "dog"])
    assert told.predict(graph(["cat", "dog", "dog", "dog"])).tolist() == ["cat", "dog", "cat", "dog"]
    assert Told(PROBABILITIES, [4, 7]).predict(graph([4, 7, 7, 7])).tolist() == [4, 7, 4, 7]


def test_score_over_all_and_over_some_nodes():
    told = Told(PROBABILITIES, ["cat", "dog"])
    y = ["cat", "dog", "dog", "dog"]  # node 2 is wrong
    assert told.score(graph(y)) == 3 / 4
    assert told.score(graph(y), np.array([2, 3])) == 1 / 2
    assert told.score(graph(y), [2]) == 0


def test_unlabelled_nodes_are_not_scored():
    told = Told(PROBABILITIES, ["cat", "dog"])
    assert told.score(graph(["cat", "", "dog", ""])) == 1 / 2
    assert told.score(graph(["cat", "", "dog", ""]), [0, 1]) == 1
    with pytest.raises(InputError, match="none of the nodes to score has a label"):
        told.score(graph(["cat", "", "dog", ""]), [1, 3])


def test_classes_are_compared_by_name_not_by_code():
    """A graph in which the first class does not occur counts its classes from another one."""
    told = Told(PROBABILITIES, ["cat", "dog"])
    only_dogs = graph(["", "dog", "", "dog"])
    assert only_dogs.y.tolist() == [-1, 0, -1, 0]
    assert told.score(only_dogs) == 1


def test_a_class_that_the_fit_never_saw_is_wrong():
    assert Told(PROBABILITIES, ["cat", "dog"]).score(graph(["cat", "emu", "cat", "dog"])) == 3 / 4
