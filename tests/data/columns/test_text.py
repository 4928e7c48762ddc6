"""Columns of free text."""

import numpy as np
import pandas as pd

from otherhalf.data.columns import text
from otherhalf.data.columns.text import FEWEST, MOST, TextColumn

RNG = np.random.default_rng(0)
ANIMALS, TOOLS = ["cat", "dog", "horse", "cow", "sheep"], ["saw", "drill", "hammer", "nail", "screw"]


def sentences(words, count):
    return [" ".join(RNG.choice(words, 6)) for _ in range(count)]


def test_two_subjects_are_far_apart():
    column = pd.Series(sentences(ANIMALS, 40) + sentences(TOOLS, 40), name="t")
    learned = TextColumn.learn(column)
    x = learned.apply(column)
    first, second = x[:40, :2].mean(axis=0), x[40:, :2].mean(axis=0)
    assert np.linalg.norm(first - second) > 1
    assert learned.names[-1] == "t: length"
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-4)
    assert np.isclose(x[:, :-1].std(axis=0).max(), 1, atol=1e-3)


def test_the_number_of_directions_follows_that_of_rows(monkeypatch):
    column = pd.Series(sentences([f"w{i}" for i in range(600)], 400))
    for cells, directions in ((10_000_000, MOST), (400 * 80, 80), (400, FEWEST)):
        monkeypatch.setattr(text, "CELLS", cells)
        assert len(TextColumn.learn(column).names) == directions + 1


def test_a_row_is_the_same_alone_and_among_others():
    column = pd.Series([*sentences(ANIMALS + TOOLS, 60), None])
    learned = TextColumn.learn(column)
    together = learned.apply(column)
    for row in range(len(column)):
        np.testing.assert_array_equal(learned.apply(column[row : row + 1])[0], together[row])


def test_the_order_of_rows_does_not_matter():
    column = pd.Series(sentences(ANIMALS, 50) * 2)
    turned = TextColumn.learn(column[::-1])
    for name, tensor in TextColumn.learn(column).tensors().items():
        assert tensor.equal(turned.tensors()[name])


def test_texts_without_known_words():
    learned = TextColumn.learn(pd.Series(sentences(ANIMALS, 20)))
    x = learned.apply(pd.Series(["quite unknown", "!!!", "", None, "cat " * 100_000]))
    assert np.isfinite(x).all()
    assert x[2].tolist() == x[3].tolist() == [0] * x.shape[1]


def test_one_text():
    learned = TextColumn.learn(pd.Series(["one text alone"], name="t"))
    assert learned.names == ("t: length",)
    assert learned.apply(pd.Series(["one text alone", "x"])).shape == (2, 1)
