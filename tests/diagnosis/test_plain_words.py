"""The verdict in one sentence."""

from dataclasses import replace

import pytest

from otherhalf import diagnose
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.plain_words import EITHER, LIKE, MEASURES, UNLIKE, sentence

BASE = diagnose(contextual_sbm(60, 2, 4, seed=0), simple=False)


@pytest.mark.parametrize(
    ("label_tendency", "adjusted", "words"),
    [("homophily", 0.7, LIKE), ("heterophily", 0.05, EITHER), ("heterophily", -0.3, UNLIKE)],
)
def test_one_sentence(label_tendency, adjusted, words):
    diagnosis = replace(
        BASE, label_tendency=label_tendency, adjusted_homophily=adjusted, edge_homophily=0.412
    )
    near = ", which is near chance" if words == EITHER else ""
    assert sentence(diagnosis, "Cora") == (
        f"Cora {words}: 41% of the edges with known labels are within a class{near}."
    )


def test_labels_that_decide_nothing():
    undecided = replace(BASE, label_tendency="undecided", adjusted_homophily=0.2, edge_homophily=0.4)
    assert sentence(undecided).startswith("This graph may join like with like or not")
    none = replace(BASE, label_tendency=None, edge_homophily=None, tendency="heterophily")
    assert sentence(none).startswith(f"By its features, this graph {UNLIKE}")


def test_measures_are_those_of_a_diagnosis():
    assert all(hasattr(BASE, name) for name in MEASURES)
