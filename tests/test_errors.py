"""What the two errors are to programs that catch them."""

import pytest

from otherhalf.errors import InputError, RunsFailed


def test_wrong_input_is_a_value_error():
    with pytest.raises(ValueError, match="k must be an integer"):
        raise InputError("k must be an integer ≥ 1, not 0")


def test_failed_runs_are_not_the_users_fault():
    assert not issubclass(RunsFailed, ValueError)
