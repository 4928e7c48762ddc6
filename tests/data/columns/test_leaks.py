"""Columns that give the label away."""

import numpy as np
import pandas as pd

from otherhalf.data.columns.encoding import ColumnEncoding
from otherhalf.data.columns.leaks import ROWS, columns_that_tell

RNG = np.random.default_rng(0)
LABELS = RNG.choice(["ant", "bee", "cat"], 600, p=[0.5, 0.3, 0.2])
CODES = np.searchsorted(["ant", "bee", "cat"], LABELS)


def table(**more):
    return pd.DataFrame({"noise": RNG.normal(size=600), "hint": CODES + RNG.normal(size=600), **more})


def told(frame, labels=LABELS):
    return columns_that_tell(frame, labels, ColumnEncoding.learn(frame))


def test_a_copy_under_another_name_is_found():
    copies = {"code": CODES * 10 + 5, "name": [f"group {label}" for label in LABELS], "tag": LABELS}
    found = told(table(**copies))
    assert [tell.column for tell in found] == ["code", "name", "tag"]
    assert all(tell.score == 1 for tell in found)
    assert abs(found[0].baseline - np.bincount(CODES).max() / 600) < 1e-9


def test_a_nearly_perfect_column_is_found():
    noisy = np.where(RNG.random(600) < 0.02, "cat", LABELS)
    assert [tell.column for tell in told(table(nearly=noisy))] == ["nearly"]


def test_useful_columns_are_not_leaks():
    assert told(table()) == []


def test_unknown_labels_are_not_looked_at():
    labels = pd.Series(LABELS, dtype=object).where(RNG.random(600) < 0.5)
    assert [tell.column for tell in told(table(tag=LABELS), labels)] == ["tag"]
    codes = np.where(RNG.random(600) < 0.5, CODES, -1)
    assert [tell.column for tell in told(table(tag=LABELS), codes)] == ["tag"]


def test_too_few_labels_or_one_class():
    assert told(table(tag=LABELS), np.where(np.arange(600) < 10, CODES, -1)) == []
    assert told(table(tag=LABELS), np.zeros(600, dtype=int)) == []
    assert told(table(tag=LABELS), [None] * 600) == []


def test_large_tables_are_sampled():
    labels = np.arange(5 * ROWS) % 2
    frame = pd.DataFrame({"a": labels * 3.0 + 1, "b": RNG.normal(size=5 * ROWS)})
    assert [tell.column for tell in told(frame, labels)] == ["a"]
