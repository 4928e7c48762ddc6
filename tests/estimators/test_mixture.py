"""The blend: temperatures, EM weights, and who takes part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.estimators.mixture import PRIOR, Mixture, fit_mixture, tempered


def member(y, classes, share_right, seed, confidence=0.8):
    """Probabilities that are right for a share of the nodes."""
    draw = np.random.default_rng(seed)
    right = draw.random(len(y)) < share_right
    says = np.where(right, y, (y + draw.integers(1, classes, len(y))) % classes)
    p = np.full((len(y), classes), (1 - confidence) / (classes - 1), dtype=np.float32)
    p[np.arange(len(y)), says] = confidence
    return p


Y = np.random.default_rng(0).integers(0, 3, 600)


def test_tempered_by_hand():
    p = np.array([[0.8, 0.2]], dtype=np.float32)
    assert tempered(p, 1.0) == pytest.approx(p)
    assert tempered(p, 2.0) == pytest.approx(np.array([[0.64, 0.04]]) / 0.68)


def test_a_blend_by_hand():
    mixture = Mixture({"a": 1.0, "b": 1.0}, {"a": 0.25, "b": 0.75})
    members = {"a": np.array([[1.0, 0.0]]), "b": np.array([[0.0, 1.0]]), "c": np.array([[1.0, 0.0]])}
    assert mixture.blend(members) == pytest.approx(np.array([[0.25, 0.75]]), abs=1e-5)


def test_a_single_member_takes_all():
    mixture = fit_mixture({"only": member(Y, 3, 0.7, 1)}, Y)
    assert mixture.weights == {"only": 1.0}


def test_two_good_members_that_err_apart_both_take_part_and_beat_either():
    members = {"one": member(Y, 3, 0.7, 1), "two": member(Y, 3, 0.7, 2)}
    mixture = fit_mixture(members, Y)
    assert set(mixture.weights) == {"one", "two"}
    fresh = np.random.default_rng(9).integers(0, 3, 3000)
    new = {"one": member(fresh, 3, 0.7, 11), "two": member(fresh, 3, 0.7, 12)}
    at_label = mixture.blend(new)[np.arange(3000), fresh]
    alone = [tempered(p, mixture.temperatures[n])[np.arange(3000), fresh] for n, p in new.items()]
    assert np.log(at_label).mean() > max(np.log(each).mean() for each in alone)


def test_noise_stays_out():
    draw = np.random.default_rng(3)
    noise = draw.dirichlet(np.ones(3), len(Y)).astype(np.float32)
    mixture = fit_mixture({"good": member(Y, 3, 0.9, 1), "noise": noise}, Y)
    assert mixture.weights == {"good": 1.0}


def test_a_copy_of_the_best_member_stays_out():
    p = member(Y, 3, 0.8, 1)
    assert len(fit_mixture({"one": p, "copy": p.copy()}, Y).weights) == 1


def test_the_weights_are_the_fixed_point_of_em_with_the_prior():
    members = {"one": member(Y, 3, 0.75, 1), "two": member(Y, 3, 0.65, 2)}
    mixture = fit_mixture(members, Y)
    names = list(mixture.weights)
    q = np.stack([tempered(members[n], mixture.temperatures[n])[np.arange(len(Y)), Y] for n in names], axis=1)
    w = np.array([mixture.weights[n] for n in names])
    shares = q * w / (q @ w)[:, None]
    expected = (shares.sum(axis=0) + PRIOR) / (len(Y) + 2 * PRIOR)
    assert w == pytest.approx(expected, abs=1e-4)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 5), st.integers(1, 4), st.integers(2, 40), st.integers(0, 1000))
def test_weights_and_probabilities_sum_to_one(classes, count, nodes, seed):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, classes, nodes)
    members = {str(i): draw.dirichlet(np.ones(classes), nodes).astype(np.float32) for i in range(count)}
    mixture = fit_mixture(members, y)
    assert sum(mixture.weights.values()) == pytest.approx(1.0)
    blend = mixture.blend(members)
    assert blend.sum(axis=1) == pytest.approx(np.ones(nodes), abs=1e-5)
    assert np.isfinite(blend).all()


def test_certain_and_wrong_probabilities_do_not_make_infinities():
    y = np.array([0, 1, 0, 1])
    wrong = np.eye(2, dtype=np.float32)[1 - y]
    right = np.eye(2, dtype=np.float32)[y]
    mixture = fit_mixture({"wrong": wrong, "right": right}, y)
    assert mixture.weights == {"right": 1.0}


# ---------------------------------------------------------------------- weights of nodes


def test_the_member_that_is_good_where_nodes_count_has_more_weight():
    good_at_0, good_at_2 = member(Y, 3, 0.6, 1), member(Y, 3, 0.6, 2)
    good_at_0[Y == 0] = member(Y, 3, 0.95, 3)[Y == 0]
    good_at_2[Y == 2] = member(Y, 3, 0.95, 4)[Y == 2]
    members = {"0": good_at_0, "2": good_at_2}
    heavy = np.where(Y == 2, 5, 1).astype(np.float32)
    even, weighted = fit_mixture(members, Y), fit_mixture(members, Y, heavy / heavy.mean())
    assert set(even.weights) == set(weighted.weights) == {"0", "2"}
    assert weighted.weights["2"] > even.weights["2"] + 0.1


def test_the_weights_are_the_fixed_point_of_em_with_weighted_nodes():
    members = {"one": member(Y, 3, 0.75, 1), "two": member(Y, 3, 0.7, 2)}
    nodes = np.where(Y == 0, 2, 1).astype(np.float32)
    nodes /= nodes.mean()
    mixture = fit_mixture(members, Y, nodes)
    names = list(mixture.weights)
    assert len(names) == 2
    q = np.stack([tempered(members[n], mixture.temperatures[n])[np.arange(len(Y)), Y] for n in names], axis=1)
    w = np.array([mixture.weights[n] for n in names])
    shares = nodes[:, None] * q * w / (q @ w)[:, None]
    assert w == pytest.approx((shares.sum(axis=0) + PRIOR) / (len(Y) + 2 * PRIOR), abs=1e-4)


def test_weights_of_one_change_no_bit():
    members = {"one": member(Y, 3, 0.75, 1), "two": member(Y, 3, 0.65, 2)}
    assert fit_mixture(members, Y) == fit_mixture(members, Y, np.ones(len(Y), dtype=np.float32))
