"""Columns that give the label away: a small tree that sees one column alone is nearly always right.

Such a column is often a copy of the label under another name, or was filled in after the label was known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.data.columns.cells import Cells
from otherhalf.data.columns.encoding import ColumnEncoding

ROWS = 3000
"""Number of labelled rows that are looked at."""

FOLDS = 3
NEARLY = 0.9
"""A column is told of if it removes this share of the errors that the most frequent class makes."""

_FEWEST = 20


class Tell(NamedTuple):
    """A column that gives the label away.

    Attributes:
        column: Its name.
        score: Share of rows whose label a small tree predicts from this column alone, by cross-validation.
        baseline: Share of the most frequent label.
    """

    column: str
    score: float
    baseline: float


def columns_that_tell(table: pd.DataFrame, labels: Any, encoding: ColumnEncoding) -> list[Tell]:
    """Return the columns that on their own predict the label nearly without error, the best first.

    Args:
        table: The table that the encoding was learned from, or one like it.
        labels: One label per row; gaps and −1 are unknown labels.
        encoding: What the columns become.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    classes = _classes(labels)
    rows = _some_rows(classes)
    y = classes[rows]
    if len(rows) < _FEWEST or len(np.unique(y)) < 2:
        return []
    baseline = float(np.bincount(y).max() / len(y))
    leaves = max(16, 4 * len(np.unique(y)))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    by_name = {str(name): place for place, name in enumerate(table.columns)}
    found = []
    for column in encoding.columns:
        cells = Cells.of(table.iloc[rows, by_name[column.name]])
        # A wide table has many columns with few values, which cannot tell: a tree for each would take long.
        if cells.lists is None and _most_right(cells.codes, y) - baseline < NEARLY * (1 - baseline):
            continue
        block: Any = column.apply(cells)
        x = block if isinstance(block, np.ndarray) else block.toarray()
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=2, random_state=0)
        score = float(cross_val_score(tree, x, y, cv=folds).mean())
        if score - baseline >= NEARLY * (1 - baseline):
            found.append(Tell(column.name, score, baseline))
    return sorted(found, key=lambda tell: (-tell.score, tell.column))


def _most_right(values: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> float:
    """Return the share of rows that are right if each value, or gap, predicts its most frequent class."""
    counts = np.zeros((values.max() + 2, y.max() + 1), dtype=np.int64)
    np.add.at(counts, (values, y), 1)
    return float(counts.max(axis=1).sum() / len(y))


def _classes(labels: Any) -> npt.NDArray[np.int64]:
    """Return the class of each row, −1 for an unknown label."""
    cells = Cells.of(pd.Series(labels).reset_index(drop=True))
    known = np.array([str(text) not in ("-1", "") for text in cells.texts] + [False], dtype=bool)
    return np.where(known[cells.codes], cells.codes, -1)


def _some_rows(classes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return at most ROWS rows with a label, without classes that are too small for the folds."""
    rows = np.flatnonzero(classes >= 0)
    if len(rows) > ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, ROWS, replace=False))
    counts = np.bincount(classes[rows], minlength=1)
    return rows[counts[classes[rows]] >= 2 * FOLDS]
