import pytest

from otherhalf.errors import InputError
from otherhalf.experiments.paper.summaries import DASH, gap, means, percent_cell, summary, summary_values
from otherhalf.experiments.statistics import Summary

OURS = Summary(0.82, 0.02, 3)


def test_a_summary_of_numbers_at_a_path():
    results = [{"variants": {"GOAL": {"test": score}}} for score in (0.8, 0.82, 0.84)]
    ours = summary(results, "variants", "GOAL", "test")
    assert (ours.mean, ours.std, ours.runs) == (pytest.approx(0.82), pytest.approx(0.02), 3)


def test_no_summary_without_every_number():
    assert summary(None, "test") is None
    assert summary([], "test") is None
    assert summary([{"test": 0.5}, {"test": None}], "test") is None
    with pytest.raises(InputError, match="where the number test belongs"):
        summary([{"test": 0.5}, {}], "test")


def test_means():
    assert means([OURS, None]) == [0.82, None]


def test_cells():
    assert percent_cell(OURS) == "82.00 ± 2.00"
    assert percent_cell(OURS, 81.5) == "82.00 ± 2.00\n81.50 (+0.50)"
    assert percent_cell(OURS, 82.001) == "82.00 ± 2.00\n82.00 (+0.00)"  # not -0.00
    assert percent_cell(None) == DASH
    assert percent_cell(None, 81.5) == f"{DASH}\n81.50"


def test_values():
    assert summary_values(OURS) == {"mean": 0.82, "std": 0.02, "runs": 3}
    assert summary_values(OURS, 81.5) == {**vars(OURS), "paper": 81.5, "gap": gap(OURS, 81.5)}
    assert gap(OURS, 81.5) == pytest.approx(0.5)
    assert summary_values(None, 81.5) == {"mean": None, "std": None, "runs": 0, "paper": 81.5, "gap": None}
