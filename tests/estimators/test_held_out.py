"""What a model keeps of its validation nodes, and what happens where it kept nothing."""

import numpy as np
import pytest

from otherhalf.errors import InputError
from otherhalf.estimators.decision import Decision
from otherhalf.estimators.held_out import HeldOut, decision_of, kept

TWO = np.array([[0.8, 0.2], [0.7, 0.3], [0.6, 0.4]], dtype=np.float32)
THREE = np.full((3, 3), 1 / 3, dtype=np.float32)


def test_of_two_classes_and_of_more():
    held_out = HeldOut.of(TWO, np.array([0, 1, 1]))
    assert held_out.decision == Decision.choose(TWO, np.array([0, 1, 1]))
    assert held_out.calibration.scores == pytest.approx([0.2, 0.6, 0.7])
    assert HeldOut.of(THREE, np.array([0, 1, 2])).decision is None


@pytest.mark.parametrize("rows", [TWO, THREE])
def test_written_and_read(rows):
    held_out = HeldOut.of(rows, np.array([0, 1, 1]))
    again = HeldOut.restore(held_out.to_dict(), held_out.tensors())
    assert again.decision == held_out.decision
    assert np.array_equal(again.calibration.scores, held_out.calibration.scores)


def test_probabilities_that_are_none():
    assert HeldOut.of(np.full((2, 2), np.nan), np.array([0, 1])) is None


def test_older_models_kept_nothing():
    assert HeldOut.restore(None, {}) is None
    with pytest.raises(
        InputError, match="keeps nothing of its validation nodes for prediction sets: an older"
    ):
        kept(None, "prediction sets")
    with pytest.raises(InputError, match="for the threshold auto"):
        decision_of("auto", None)


def test_the_decision():
    held_out = HeldOut.of(TWO, np.array([0, 1, 1]))
    assert decision_of("auto", held_out) is held_out.decision
    assert decision_of(0.3, None) == Decision(0.3)
    with pytest.raises(InputError, match="threshold must be a number from 0 to 1 or auto, not 'half'"):
        decision_of("half", held_out)
    with pytest.raises(InputError, match="threshold must be a number"):
        decision_of(3, held_out)
    with pytest.raises(InputError, match="a threshold needs 2 classes, and the model has more"):
        decision_of("auto", HeldOut.of(THREE, np.array([0, 1, 2])))
