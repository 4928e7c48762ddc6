"""What all kinds of columns have in common."""

import json

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.columns.column import stack
from otherhalf.data.columns.encoding import KINDS

COLUMNS = {
    "number": ["1", "2", None, "400"],
    "category": ["a", "b", None, "a"],
    "boolean": ["yes", "no", None, "no"],
    "date": ["2020-01-01", "2021-02-03 10:00", None, "2020-01-01"],
    "text": ["one two three", "two three four", None, "five six one"],
    "tags": ["a;b", "b;c", None, "a"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_keeps_the_contract(kind):
    column = pd.Series(COLUMNS[kind], name="c")
    learned = KINDS[kind].learn(column)
    block = learned.apply(column)
    dense = block if isinstance(block, np.ndarray) else block.toarray()
    assert dense.shape == (4, len(learned.names))
    assert dense.dtype == np.float32
    assert np.isfinite(dense).all()
    assert learned.names[-1] == "c: missing"
    assert dense[:, -1].tolist() == [0, 0, 1, 0]
    assert len(set(learned.names)) == len(learned.names)
    assert learned.becomes.endswith("gaps marked")

    values = json.loads(json.dumps(learned.to_dict()))
    assert values["kind"] == kind
    again = KINDS[kind].from_dict(values, learned.tensors()).apply(column)
    np.testing.assert_array_equal(dense, again if isinstance(again, np.ndarray) else again.toarray())

    assert learned.apply(column[:0]).shape == (0, len(learned.names))
    assert learned.apply(pd.Series([None, np.nan], name="c")).shape == (2, len(learned.names))


@pytest.mark.parametrize("kind", KINDS)
def test_no_column_for_gaps_that_the_fit_did_not_have(kind):
    column = pd.Series(COLUMNS[kind], name="c").drop(2)
    learned = KINDS[kind].learn(column)
    assert "c: missing" not in learned.names
    later = learned.apply(pd.Series([None], name="c"))
    assert np.isfinite(later if isinstance(later, np.ndarray) else later.toarray()).all()


def test_stack():
    assert stack(np.array([1.0, 2.0]), np.array([True, False])).tolist() == [[1, 1], [2, 0]]
