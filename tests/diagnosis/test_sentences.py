from dataclasses import replace

import numpy as np
import pytest

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.sentences import adjective, explain
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.graph import Graph


@pytest.fixture(scope="module")
def agreeing():
    """Like joined with like, by features and labels."""
    return diagnose(contextual_sbm(600, num_classes=3, num_features=3, homophily=0.95, signal=4))


@pytest.fixture(scope="module")
def flights():
    """Edges within classes, and features that say nothing of the classes."""
    graph = contextual_sbm(2000, num_classes=5, num_features=4, homophily=0.96, signal=0, seed=1)
    return diagnose(replace(graph, name="flights"))


def test_adjectives():
    assert [adjective(word) for word in ("homophily", "heterophily", "both")] == [
        "homophilic",
        "heterophilic",
        "homophilic and heterophilic",
    ]


def test_agreement(agreeing):
    text = explain(agreeing)
    assert [line.split()[0] for line in text.split("\n")[1:]] == ["The", "By", "What"]
    assert "(every feature column scaled to mean 0 and deviation 1)" in text
    assert "by its features the graph is homophily-prone" in text
    assert "which means homophily too." in text
    assert "By default fit follows the labels: the heterophilic half is missing." in text
    assert "ks" not in text
    assert "The reason" not in text


def test_features_that_say_nothing_are_the_reason_and_neighbours_tell(flights):
    """As in a graph of airports: altitude says nothing of the continent, and the flights nearly all."""
    assert (flights.tendency, flights.label_tendency) == ("heterophily", "homophily")
    assert flights.separation < 0.05
    text = explain(flights)
    assert "which means homophily: the labels contradict D." in text
    assert "The reason: nodes of one class are hardly more alike than nodes of two" in text
    assert "so edges within a class do not raise D." in text
    assert "By default fit follows the labels: the heterophilic half is missing." in text
    assert 'With follow="ks" (--follow ks), as in the paper, it is the homophilic one.' in text
    share = flights.simple["neighbours"]["accuracy"]
    assert share > 0.96
    assert f"So the labels of the neighbours already tell {share:.0%}" in text


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"tendency": "homophily", "separation": 0.1}, "D shows that connected nodes are alike in something"),
        ({"tendency": "heterophily", "separation": 0.3}, "too few edges are within a class for D to show it"),
        ({"tendency": "homophily", "separation": 0.3}, "connected nodes are alike in something else too"),
        (
            {"tendency": "homophily", "separation": 0.3, "mean_connected": -0.5, "mean_random": 0.5},
            "D is large because the edges connect unlike nodes",
        ),
    ],
)
def test_other_reasons(agreeing, values, reason):
    opposite = {"homophily": "heterophily", "heterophily": "homophily"}
    diagnosis = replace(agreeing, label_tendency=opposite[values["tendency"]], **values)
    assert reason in explain(diagnosis)
    assert reason not in explain(replace(diagnosis, separation=None))
    assert reason not in explain(replace(diagnosis, doubt="D means nothing here: a test."))


def test_what_is_followed_without_a_verdict_of_the_labels(agreeing):
    unlabelled = explain(replace(agreeing, label_tendency=None))
    assert "So fit follows D by default: the heterophilic half is missing." in unlabelled
    undecided = explain(replace(agreeing, label_tendency="undecided"))
    assert "By default fit follows the labels, and looks for both halves" in undecided
    assert "--follow ks" in undecided


def test_a_doubt_takes_the_place_of_the_verdict(agreeing):
    text = explain(replace(agreeing, doubt="D means nothing here: no feature column varies."))
    assert "above 0.2, which would mean homophily. D means nothing here: no feature column varies." in text
    assert "prone" not in text


def ways(majority, neighbours, features=None, without=0, nodes=1000):
    found = {
        "majority": {"accuracy": majority, "nodes": nodes, "class": "EU"},
        "neighbours": {"accuracy": neighbours, "nodes": nodes, "without": without},
    }
    return found if features is None else found | {"features": {"accuracy": features, "nodes": 500}}


@pytest.mark.parametrize(
    ("simple", "expected"),
    [
        (ways(0.3, 0.96, 0.4), "So the labels of the neighbours already tell 96%"),
        (ways(0.3, 0.2, 0.85), "So the features alone already tell 85%"),
        (ways(0.8, 0.81, 0.79), "So neither tells clearly more than the most frequent class."),
        (ways(0.3, 0.6), "the most frequent label among a node's neighbours 60.0%. So the labels"),
        (ways(0.3, 0.6, without=7), "7 nodes have no labelled neighbour, and get the most frequent class"),
        (ways(0.3, 0.96, 0.4), "the most frequent class (EU) 30.0% of 1,000 nodes"),
        (ways(0.3, 0.96, 0.4), "on the features alone 40.0% (cross-validated on 500 nodes)"),
    ],
)
def test_what_simple_ways_would_score(agreeing, simple, expected):
    assert expected in explain(replace(agreeing, simple=simple))


def test_nothing_about_simple_ways_that_were_not_tried(agreeing):
    assert "simple ways" not in explain(replace(agreeing, simple={}))


def test_graphs_without_labels_have_no_simple_ways():
    ring = np.stack([np.arange(200), (np.arange(200) + 1) % 200])
    text = explain(diagnose(Graph(edges=ring, x=np.random.default_rng(0).normal(size=(200, 3)))))
    assert "simple ways" not in text
    assert "So fit follows D by default" in text
