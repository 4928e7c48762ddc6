"""The metric ``auto``: accuracy, or average precision where one of two classes is rare."""

import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.training.metric_choice import choose_metric

BOTH = np.array([0, 1])


def codes(first, second):
    return np.repeat([0, 1], [first, second])


@pytest.mark.parametrize(
    ("train", "name", "words"),
    [
        (codes(90, 10), "accuracy", "has 10.0% of the training nodes, not below 10%"),
        (codes(91, 9), "average_precision", "has only 9.0% of the training nodes"),
        (codes(9, 91), "average_precision", "has only 9.0% of the training nodes"),
        (codes(50, 50), "accuracy", "has 50.0% of the training nodes"),
        (np.append(codes(91, 10), [-1] * 500), "average_precision", "has only 9.9%"),  # labelled ones count
        (np.array([-1, -1]), "accuracy", "there are 2 classes"),
    ],
)
def test_auto_with_two_classes(train, name, words):
    choice = choose_metric("auto", 2, train, BOTH)
    assert choice.name == name
    assert words in choice.reason
    assert choice.reason.endswith(".")
    assert "\n" not in choice.reason


def test_auto_with_more_classes_is_accuracy():
    choice = choose_metric("auto", 3, np.array([0] * 98 + [1, 2]), np.arange(3))
    assert (choice.name, choice.reason) == (
        "accuracy",
        "The metric is accuracy, because there are 3 classes.",
    )


def test_a_rare_class_that_nothing_can_be_selected_by():
    choice = choose_metric("auto", 2, codes(99, 1), np.array([0, 0, -1]))
    assert choice.name == "accuracy"
    assert "one class has no validation node" in choice.reason


def test_a_metric_by_name_is_kept():
    choice = choose_metric("roc_auc", 2, codes(99, 1), BOTH)
    assert (choice.name, choice.reason) == ("roc_auc", "The metric is ROC-AUC, as asked for.")
    with pytest.raises(InputError, match="metric must be one of"):
        choose_metric("f1", 2, codes(99, 1), BOTH)
