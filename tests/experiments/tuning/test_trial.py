import pytest

from otherhalf.experiments.tuning.space import ways_of
from otherhalf.experiments.tuning.trial import COMPLETE, FAILED, PRUNED, RUNGS, STOPPED, Trial, in_words

(GCN,) = ways_of(["gcn"])


def trial(**more):
    return Trial(3, GCN, {"hidden": 128, "residual": False}, **more)


def test_fits_of_a_rung():
    one = trial()
    assert one.waiting() == [0]
    one.running.add(0)
    assert one.waiting() == []
    assert not one.has(0)
    one.add(0, 0.5, 2.0)
    assert one.has(0)
    assert (one.waiting(), one.mean(0), one.seconds) == ([], 0.5, 2.0)
    one.rung = 2
    assert one.waiting() == [1, 2, 3]
    for fit, score in ((1, 0.7), (3, 0.3), (2, 0.1)):
        one.add(fit, score, 1.0)
    assert (one.mean(1), one.mean(2)) == (pytest.approx(0.6), pytest.approx(0.4))


def test_a_fit_with_a_record_was_let_on_its_rung():
    for fit, rung in ((0, 0), (1, 1), (2, 2), (3, 2)):
        one = trial()
        one.add(fit, 0.5, 1.0)
        assert one.rung == rung
    assert RUNGS[-1] == 4


def test_how_it_ended():
    one = trial()
    assert one.state == STOPPED
    one.add(0, 0.5, 1.0)
    assert one.state == PRUNED
    one.rung = 1
    assert one.state == STOPPED
    for fit in (1, 2, 3):
        one.add(fit, 0.5, 1.0)
    assert one.state == COMPLETE
    one = trial()
    one.add(0, None, 1.0, "the loss is not finite")
    assert (one.state, one.error, one.waiting(), one.has(0)) == (FAILED, "the loss is not finite", [], False)
    one = trial()
    one.add(0, None, 1.0)
    assert "undefined" in one.error


def test_words():
    assert trial().title == "gcn: hidden=128, residual=off"
    assert Trial(0, GCN, {}).title == "gcn: defaults"
    assert in_words((1.0, 0.5, True)) == "(1, 0.5, on)"
    assert in_words(5e-6) == "5e-06"
