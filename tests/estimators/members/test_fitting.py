import numpy as np
import pytest

import otherhalf as oh
from otherhalf.estimators.members import fitting
from otherhalf.estimators.members.fitting import (
    OneAfterTheOther,
    fit_members,
    in_parts,
    members_fitted_by,
    one_after_the_other,
)


def test_others_fit_in_the_block_alone():
    others = object()
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

    class Others(OneAfterTheOther):
        def __call__(self, view, fits):
            parts, join = in_parts(fits)
            seen.append((len(fits), len(parts)))
            sent = pickle.dumps(view), [pickle.dumps(each) for each in parts]
            backwards = [pickle.dumps(pickle.loads(each)(pickle.loads(sent[0]))) for each in sent[1][::-1]]
            yield from join([pickle.loads(each) for each in backwards[::-1]])

    settings = {"seed": 0, "epochs": 8, "patience": 8}
    alone = oh.GOALClassifier(**settings).fit(graph, split)
    with fitting.members_fitted_by(Others()):
        model = oh.GOALClassifier(**settings).fit(graph, split)
    assert np.array_equal(model.predict_proba(graph), alone.predict_proba(graph))
    assert [row.member for row in model.leaderboard_] == [row.member for row in alone.leaderboard_]
    assert {row.member: row.validation for row in model.leaderboard_} == {
        row.member: row.validation for row in alone.leaderboard_
    }
    assert list(model.history_) == list(alone.history_)
    (fits, parts), (finishers, trainings) = seen  # the race with what has no race, and those that finish it
    assert fits > len(alone.leaderboard_) - finishers
    assert parts == fits + 2 * 4  # the classifier and the boosted trees are trained five times each
    assert trainings == 5 * finishers > 0
