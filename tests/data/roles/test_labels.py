import numpy as np
import pandas as pd
import pytest

from otherhalf.data.files.table import MemoryTable
from otherhalf.data.roles.labels import read_labels
from otherhalf.errors import InputError
from otherhalf.system.graph_checks import checked_labels


def labels(values):
    """The codes and classes that a graph has, and the notes."""
    column = pd.Series(values, name="label")
    notes = []
    y, classes = read_labels(MemoryTable("nodes.csv", column.to_frame()), column, notes)
    codes, classes = checked_labels(y, classes, len(column))
    return codes.tolist(), classes.tolist(), notes


@pytest.mark.parametrize(
    ("values", "codes", "classes"),
    [
        (["1", "-1", "1"], [1, 0, 1], [-1, 1]),
        (["1", "-1", ""], [1, 0, -1], [-1, 1]),
        ([1, -1, 1], [1, 0, 1], [-1, 1]),
        ([1.0, np.nan, -1.0], [1, -1, 0], [-1, 1]),
        (pd.array([1, None, -1], dtype="Int64"), [1, -1, 0], [-1, 1]),
    ],
    ids=str,
)
def test_minus_one_and_one_are_two_classes(values, codes, classes):
    *found, notes = labels(values)
    assert found == [codes, classes]
    assert notes == [
        "nodes.csv: the labels in 'label' are −1 and 1, so −1 is a class and does not mean unknown."
    ]


@pytest.mark.parametrize(
    ("values", "codes"),
    [(["0", "1", "-1"], [0, 1, -1]), ([5, -1, -1], [0, -1, -1]), (["a", "-1", "b"], [0, -1, 1])],
)
def test_minus_one_among_others_means_unknown_and_is_said(values, codes):
    found, _, notes = labels(values)
    assert found == codes
    count = "2 nodes" if values[1] == values[2] else "1 node"
    assert notes == [
        f"nodes.csv: −1 in the label column 'label' means that the label is not known ({count})."
    ]


def test_text_nan_is_unknown():
    note = "nodes.csv: the label column 'label' has the text 'NaN', which means that the label is not known"
    assert labels(["a", "NaN", "b"]) == ([0, -1, 1], ["a", "b"], [f"{note} (1 node)."])


def test_classes_that_look_like_unknown_are_said():
    y, classes, notes = labels(["a", "n/a", "b", "Unknown"])
    assert (y, classes) == ([1, 3, 2, 0], ["Unknown", "a", "b", "n/a"])
    assert notes == [
        "nodes.csv: the label column 'label' has the class 'Unknown', 'n/a': leave these cells empty if the "
        "label is not known there."
    ]


def test_classes_that_differ_in_capital_letters_are_said():
    _, classes, notes = labels(["Spam", "spam ", "ham", "spam"])
    assert classes == ["Spam", "ham", "spam"]
    assert notes == [
        "nodes.csv: the label column 'label' has the classes 'Spam', 'spam', which differ only in capital "
        "letters: write them alike if they are one class."
    ]


@pytest.mark.parametrize("values", [[1, 2, None], ["u", "v", None], [0.5, 1.0, None]])
def test_categories_of_pandas_may_have_gaps(values):
    column = pd.Categorical(values)
    if values[0] == 0.5:
        with pytest.raises(InputError, match=r"0\.5 is not a whole number"):
            labels(column)
        return
    assert labels(column) == ([0, 1, -1], values[:2], [])


def test_names_are_no_classes():
    names = [f"person {i}" for i in range(30)]
    with pytest.raises(InputError, match="'label' has 30 different values for 30 nodes, which are names"):
        labels(names)
    assert labels(names[:19])[1] == sorted(names[:19])  # so few nodes could all be different
    assert len(labels([f"c{i // 2}" for i in range(30)])[1]) == 15


def test_lists_are_no_classes():
    with pytest.raises(InputError, match="the label column 'label' holds lists or other structures"):
        labels([[1], [2]])


def test_complex_numbers_are_no_classes():
    with pytest.raises(InputError, match="'label' holds complex numbers: give one class per node"):
        labels([1j, 2j])
