import numpy as np
import pytest

import otherhalf as oh
from otherhalf.estimators.members import fitting
from otherhalf.estimators.members.fitting import fit_members, members_fitted_by, one_after_the_other


def test_others_fit_in_the_block_alone():
    def others(view, fits):
        raise AssertionError

    assert fit_members() is one_after_the_other
    with pytest.raises(KeyError), members_fitted_by(others):  # noqa: PT012
        assert fit_members() is others
        raise KeyError
    assert fit_members() is one_after_the_other


def test_members_are_fitted_when_they_are_asked_for():
    asked = []
    fitted = one_after_the_other("view", [lambda view: asked.append(view) or 1, lambda view: 2])
    assert asked == []
    assert next(fitted) == 1
    assert asked == ["view"]
    assert list(fitted) == [2]


def test_members_that_travel_are_the_same_members():
    """Whoever fits them sees only what can be pickled, in any order."""
    import pickle

    graph = oh.load("csbm:nodes=120,classes=2,features=8,seed=0")
    split = oh.split(graph, seed=0)
    seen = []

    def others(view, fits):
        seen.append(len(fits))
        sent = pickle.dumps(view), [pickle.dumps(each) for each in fits]
        backwards = [pickle.dumps(pickle.loads(each)(pickle.loads(sent[0]))) for each in sent[1][::-1]]
        return iter([pickle.loads(each) for each in backwards[::-1]])

    settings = {"seed": 0, "epochs": 8, "patience": 8}
    alone = oh.GOALClassifier(**settings).fit(graph, split)
    with fitting.members_fitted_by(others):
        model = oh.GOALClassifier(**settings).fit(graph, split)
    assert np.array_equal(model.predict_proba(graph), alone.predict_proba(graph))
    assert [row.member for row in model.leaderboard_] == [row.member for row in alone.leaderboard_]
    assert len(seen) == 3  # what has no race, the race, and those that finish it
    assert min(seen) > 1
