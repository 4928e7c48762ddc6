"""What a score of the spread is made of: exact, against a literal computation, and stable."""

import numpy as np
import pytest
from tests.report.fits import PLAN, fitted, graph, parts, reported

from otherhalf import GOALClassifier
from otherhalf.complement.descriptions import Descriptions
from otherhalf.complement.kernel_half import fit_kernels
from otherhalf.complement.settings import KernelSettings
from otherhalf.estimators.inside import spread_of
from otherhalf.report import why
from otherhalf.report.why import contributions

NODES = np.concatenate([parts().test[:8], parts().train[:8], parts().val[:4]])


def literal(spread, nodes, classes):
    """Scores, and what each anchor adds to the score of one class, with loops over nodes and anchors."""
    descriptions = Descriptions(graph(), spread.basis)
    kernel = spread.similarities(descriptions, nodes, spread.anchors).double().numpy()
    dual, own = (part.double().numpy() for part in (spread.fitted.dual, spread.fitted.own))
    scores = np.zeros((len(nodes), dual.shape[1]))
    added = [{} for _ in nodes]
    left_out = np.zeros(len(nodes))
    for row, node in enumerate(nodes):
        raw = np.zeros(dual.shape[1])
        for place, anchor in enumerate(spread.anchors):
            raw += kernel[row, place] * dual[place]
            centred = dual[place] - dual[place].mean()
            added[row][int(anchor)] = spread.temperature * kernel[row, place] * centred[classes[row]]
        for place, taught in enumerate(spread.train):
            if taught == node:
                raw -= own[place]
                left_out[row] = spread.temperature * (own[place] - own[place].mean())[classes[row]]
        scores[row] = spread.temperature * (raw - raw.mean())
    return scores, added, left_out


def landmarks():
    """The spread of the same kernels over a few landmarks."""
    spread = spread_of(fitted())
    settings = KernelSettings(exact=1, landmarks=25)
    descriptions = Descriptions(graph(), spread.basis)
    return fit_kernels(descriptions, spread.kernels, spread.ridge, settings, parts().train, 0)


@pytest.mark.parametrize("make", [lambda: spread_of(fitted()), landmarks])
@pytest.mark.parametrize("most", [3, 500])
def test_everything_adds_up_to_the_score(make, most):
    spread = make()
    classes = reported().predicted[NODES]
    found = contributions(spread, graph(), NODES, classes, most)
    scores, added, left_out = literal(spread, NODES, classes)
    np.testing.assert_allclose(found.scores, scores, atol=1e-4)
    total = found.values.sum(axis=1) + found.others + found.own
    np.testing.assert_allclose(total, scores[np.arange(len(NODES)), classes], atol=1e-4)
    for row, node in enumerate(NODES):
        own = added[row].pop(int(node), 0.0) - left_out[row]
        assert found.own[row] == pytest.approx(own, abs=1e-4)
        listed = found.sources[row][found.sources[row] >= 0]
        expected = sorted(added[row].values(), key=lambda value: -abs(value))[:most]
        assert len(listed) == len(expected)
        np.testing.assert_allclose(np.abs(found.values[row][: len(listed)]), np.abs(expected), atol=1e-4)
        for source, value in zip(listed, found.values[row], strict=False):
            assert value == pytest.approx(added[row][int(source)], abs=1e-4)


def test_the_scores_are_those_of_the_member():
    model = fitted()
    prepared, _ = model.prepare(graph())
    scores = model._way.ensemble.view(prepared).found.scores
    found = contributions(spread_of(model), graph(), np.arange(150), reported().predicted, 2)
    np.testing.assert_allclose(found.scores, scores, atol=1e-3)


def test_a_training_node_does_not_list_itself_and_others_have_no_own_part():
    classes = reported().predicted[NODES]
    found = contributions(spread_of(fitted()), graph(), NODES, classes, 500)
    taught = np.isin(NODES, parts().train)
    assert (found.own[~taught] == 0).all()
    for row, node in enumerate(NODES):
        assert node not in found.sources[row]


def test_blocks_and_runs_give_the_same(monkeypatch):
    classes = reported().predicted[NODES]
    first = contributions(spread_of(fitted()), graph(), NODES, classes, 4)
    again = GOALClassifier(ensemble=PLAN, epochs=15, patience=15, hidden=8).fit(graph(), parts())
    second = contributions(spread_of(again), graph(), NODES, classes, 4)
    for name in ("scores", "sources", "values", "own", "others"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    monkeypatch.setattr(why, "BLOCK_ENTRIES", 300)
    third = contributions(spread_of(fitted()), graph(), NODES, classes, 4)
    np.testing.assert_array_equal(first.sources, third.sources)
    np.testing.assert_allclose(first.values, third.values, rtol=1e-5)
