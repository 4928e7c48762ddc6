import numpy as np
import pytest
from tests.ray_nodes import RAY, three_nodes

import otherhalf as oh
from otherhalf.cluster.address import Address
from otherhalf.errors import InputError
from otherhalf.estimators import distributed
from otherhalf.estimators.distributed import MembersOnRay, members_on
from otherhalf.estimators.members.fitting import fit_members, members_fitted_by, one_after_the_other

pytestmark = RAY


def test_a_fit_on_a_cluster_is_the_fit_on_one_machine(monkeypatch):
    graph = oh.load("csbm:nodes=120,classes=2,features=8,seed=0")
    split = oh.split(graph, seed=0)
    settings = {"seed": 0, "epochs": 8, "patience": 8}
    over_rows = {**settings, "ensemble": {"training": "rows"}}
    alone = oh.GOALClassifier(**settings).fit(graph, split)
    alone_over_rows = oh.GOALClassifier(**over_rows).fit(graph, split)
    with three_nodes() as nodes:
        runner = MembersOnRay(nodes.address)

        usual = runner._tasks.map

        def and_kill(*arguments, **options):
            ended = usual(*arguments, **options)
            yield next(ended)
            nodes.kill_one()
            yield from ended

        with monkeypatch.context() as patch, members_fitted_by(runner):
            patch.setattr(runner._tasks, "map", and_kill)
            model = oh.GOALClassifier(**settings).fit(graph, split)
        nodes.ensure(3)
        with members_fitted_by(runner):
            model_over_rows = oh.GOALClassifier(**over_rows).fit(graph, split)
    assert np.array_equal(model_over_rows.predict_proba(graph), alone_over_rows.predict_proba(graph))
    assert np.array_equal(model.predict_proba(graph), alone.predict_proba(graph))
    assert [row.member for row in model.leaderboard_] == [row.member for row in alone.leaderboard_]


def test_who_fits_no_members():
    with members_on(None):
        assert fit_members() is one_after_the_other
    with (
        pytest.raises(InputError, match="threads fits no members: give processes, ray"),
        members_on("threads"),
    ):
        pass


def test_who_is_named_fits_the_members(monkeypatch):
    asked = []
    monkeypatch.setattr(distributed, "MembersOnRay", lambda address: asked.append(address) or "others")
    for name, address in (("ray", ""), ("ray://auto", "auto"), ("ray://head:6379", "head:6379")):
        with members_on(name):
            assert fit_members() == "others"
        assert asked.pop() == Address(address)
