"""The evaluation of predictions: numbers against scikit-learn's, and the text for few and many classes."""

import json

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from otherhalf.estimators.evaluation import Evaluation, class_shares
from otherhalf.training.metrics import METRICS, all_metrics


def drawn(nodes, classes, seed=0, gain=0.3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, nodes)
    p = rng.dirichlet(np.ones(classes), nodes)
    p[np.arange(nodes), y] += gain
    return (p / p.sum(axis=1, keepdims=True)).astype(np.float32), y


def test_the_numbers_are_scikit_learns():
    p, y = drawn(200, 5)
    found = Evaluation.of(p, y, list("abcde"), "macro_f1")
    predicted = p.argmax(axis=1)
    assert found.metrics == all_metrics(p, y, list("abcde"))
    assert found.confusion == confusion_matrix(y, predicted).tolist()
    for key, values in zip(
        ("precision", "recall", "f1", "nodes"), precision_recall_fscore_support(y, predicted), strict=True
    ):
        assert [row[key] for row in found.per_class] == pytest.approx(values)
    assert [row["class"] for row in found.per_class] == list("abcde")
    assert (found.metric, found.nodes) == ("macro_f1", 200)


def test_the_majority_is_the_shares_of_the_training_nodes():
    p, y = drawn(100, 3)
    train = np.array([0] * 10 + [1] * 60 + [2] * 30 + [-1] * 5)
    shares = class_shares(train, 3)
    assert shares == pytest.approx([0.1, 0.6, 0.3])
    found = Evaluation.of(p, y, ["a", "b", "c"], shares=shares)
    dummy = DummyClassifier(strategy="prior").fit(np.zeros((100, 1)), train[:100])
    expected = all_metrics(dummy.predict_proba(np.zeros((100, 1))), y, ["a", "b", "c"])
    assert found.majority == pytest.approx(expected)
    assert found.majority["accuracy"] == np.mean(y == 1)
    assert found.majority["roc_auc"] == 0.5
    assert Evaluation.of(p, y, ["a", "b", "c"]).majority["accuracy"] == np.bincount(y).max() / 100


def test_nodes_without_a_label_do_not_count():
    p, y = drawn(50, 3)
    hidden = np.where(np.arange(50) < 20, -1, y)
    assert Evaluation.of(p, hidden, "abc") == Evaluation.of(p[20:], y[20:], "abc")


def test_predicted_codes_may_be_given():
    p, y = drawn(50, 2)
    found = Evaluation.of(p, y, "ab", predicted=np.zeros(50, dtype=int))
    assert found.confusion == [[int((y == 0).sum()), 0], [int((y == 1).sum()), 0]]
    assert found.per_class[1] == {
        "class": "b",
        "nodes": int((y == 1).sum()),
        "precision": None,
        "recall": 0.0,
        "f1": 0.0,
    }


def test_json_and_back():
    p, y = drawn(60, 4)
    found = Evaluation.of(p, y, np.array([3, 5, 7, 9]))
    again = Evaluation.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again == found
    assert str(again) == str(found)


def test_the_text_of_few_classes():
    p = np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.25, 0.75]])
    lines = str(Evaluation.of(p, np.array([0, 0, 1, 1]), ["cat", "dog"])).splitlines()
    assert lines[0].split() == ["metric", "model", "majority", "class"]
    assert lines[1].split() == ["accuracy", "0.7500", "0.5000"]
    assert not any("top-3" in line for line in lines)  # two classes
    assert any(line.split() == ["cat", "2", "1.000", "0.500", "0.667"] for line in lines)
    assert [line.split() for line in lines[-3:]] == [
        ["true", "\\", "predicted", "cat", "dog"],
        ["cat", "1", "1"],
        ["dog", "0", "2"],
    ]


def test_the_text_of_many_classes_has_the_largest_confusions():
    p, y = drawn(2000, 30, gain=0.05)
    names = [f"class number {c} with a long name" for c in range(30)]
    found = Evaluation.of(p, y, names)
    text = str(found)
    assert "The other 18 classes have no more nodes than these." in text
    assert "The largest confusions:" in text
    assert max(map(len, text.splitlines())) < 80
    assert len(found.confusion) == 30
    counts = np.array(found.confusion)
    np.fill_diagonal(counts, 0)
    assert [row["nodes"] for row in found.largest] == sorted(counts.ravel())[::-1][:12]
    first = found.largest[0]
    assert counts[names.index(first["true"]), names.index(first["predicted"])] == first["nodes"]


def test_no_node_and_no_error():
    empty = Evaluation.of(np.ones((3, 2)) / 2, np.full(3, -1), "ab")
    assert empty.nodes == 0
    assert all(empty.metrics[name] is None for name in METRICS)
    assert str(empty) == "No node with a label to evaluate on."
    p = np.eye(13)
    assert Evaluation.of(p, np.arange(13), list(range(13))).largest == []
    assert "confusions" not in str(Evaluation.of(p, np.arange(13), list(range(13))))
