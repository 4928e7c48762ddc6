"""Rows that are probabilities, and rows that are not."""

import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.system.probabilities import check_probabilities

NAMES = np.array(["a", "b"])


def test_rows_that_sum_to_one_but_for_rounding():
    check_probabilities(np.array([[0.25, 0.75], [1.0, 1e-7]], dtype=np.float32), NAMES)


@pytest.mark.parametrize(
    "row",
    [[np.nan, np.nan], [np.nan, 1.0], [np.inf, -np.inf], [np.inf, 0.0], [-0.5, 1.5], [0.4, 0.5], [0, 0]],
)
def test_a_row_that_is_no_probabilities_is_refused_by_name(row):
    with pytest.raises(InputError, match="the probabilities of the node 'b' are not probabilities"):
        check_probabilities(np.array([[0.5, 0.5], row]), NAMES)
