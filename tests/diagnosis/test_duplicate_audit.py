import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import roc_auc_score
from tests.diagnosis.duplicate_graphs import UNDIRECTED, literal, small_graphs, star

from otherhalf.data.catalog import load
from otherhalf.data.splits import split
from otherhalf.diagnosis.duplicate_audit import audit_duplicates
from otherhalf.diagnosis.duplicates import find_duplicates
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split

STAR_SPLIT = Split(train=[0, 1, 2], val=[6], test=[3, 4, 5])


def test_audit_by_hand():
    """By neighbours 3 and 5 find node 2, of class 1, which is right; 4 gets class 0, right too."""
    audit = audit_duplicates(star(), STAR_SPLIT)
    assert (audit.nodes, audit.test_nodes, audit.majority_accuracy) == (7, 3, pytest.approx(1 / 3))
    by_neighbours = audit.kinds["neighbours"]
    assert (by_neighbours.groups, by_neighbours.nodes, by_neighbours.answerable) == (1, 3, 2)
    assert by_neighbours.answerable_share == pytest.approx(2 / 3)
    assert (by_neighbours.answerable_accuracy, by_neighbours.accuracy) == (1, 1)
    assert by_neighbours.gain == pytest.approx(2 / 3)
    assert by_neighbours.gain_error == pytest.approx(np.sqrt(2 / 9 / 3))  # of the gains 1, 0 and 1
    assert by_neighbours.roc_auc == 1
    # By features 3 and 4 find node 2, which is right for 3 alone, and 5 gets class 0, which is wrong.
    by_features = audit.kinds["features"]
    assert by_features.answerable_accuracy == pytest.approx(1 / 2)
    assert by_features.accuracy == pytest.approx(1 / 3)
    assert by_features.roc_auc == pytest.approx(1 / 4)  # 3 ties with 4, and 5 comes after it
    assert audit.kinds["neighbours_and_features"].answerable == 1
    assert audit.substantial == ("neighbours",)


@pytest.mark.parametrize(("labels", "expected"), [([1, 0, 1], 1), ([2, 1, 0], 0), ([2, 1, 3], 1)])
def test_most_frequent_label_and_ties_to_the_smaller_class(labels, expected):
    """Nodes 1 to 4 have the one neighbour 0."""
    graph = Graph(edges=[[0] * 4, [1, 2, 3, 4]], x=np.eye(5), y=[3, *labels, expected], classes=[0, 1, 2, 3])
    audit = audit_duplicates(graph, Split(train=[0, 1, 2, 3], val=[], test=[4]))
    assert audit.kinds["neighbours"].accuracy == 1
    assert audit.kinds["features"].answerable_accuracy is None


def literal_answer(labels: list[int]) -> int:
    return min(set(labels), key=lambda label: (-labels.count(label), label))


@given(small_graphs())
@settings(max_examples=200, deadline=None)
def test_against_brute_force(case):
    graph, parts = case
    train = [node for node in parts.train if graph.y[node] >= 0]
    test = [node for node in parts.test if graph.y[node] >= 0]
    if not train or not test:
        with pytest.raises(InputError, match="labelled nodes in train and in test"):
            audit_duplicates(graph, parts)
        return
    audit = audit_duplicates(graph, parts)
    everywhere = [graph.y[node] for node in train]
    truth = graph.y[test]
    for kind, lookup in audit.kinds.items():
        heads = literal(graph, kind)
        twins = [[graph.y[other] for other in train if heads[other] == heads[node] != -1] for node in test]
        answers = np.array([literal_answer(same or everywhere) for same in twins])
        able = np.array([bool(same) for same in twins])
        sizes = [heads.count(head) for head in set(heads) - {-1}]
        assert lookup.nodes == sum(size for size in sizes if size > 1)
        assert lookup.groups == sum(size > 1 for size in sizes)
        assert lookup.answerable == able.sum()
        assert lookup.accuracy == pytest.approx((answers == truth).mean())
        assert lookup.gain == pytest.approx(lookup.accuracy - audit.majority_accuracy)
        if able.any():
            assert lookup.answerable_accuracy == pytest.approx((answers == truth)[able].mean())
        else:
            assert lookup.answerable_accuracy is None
        if graph.num_classes == 2 and len(set(truth)) == 2:
            scores = [np.mean(same or everywhere) for same in twins]
            assert lookup.roc_auc == pytest.approx(roc_auc_score(truth, scores))
        else:
            assert lookup.roc_auc is None


def leaves(per_hub=40) -> tuple[Graph, Split]:
    """Two hubs of classes 0 and 1, each with leaves of its class: half the leaves train, half test."""
    hub = np.repeat([0, 1], per_hub)
    leaf = np.arange(2, 2 + 2 * per_hub)
    x = np.random.default_rng(0).normal(size=(2 + 2 * per_hub, 3))
    graph = Graph(edges=[hub, leaf], x=x, y=[0, 1, *hub])
    return graph, Split(train=leaf[::2], val=[0, 1], test=leaf[1::2], kind="uniform", seed=4)


def test_a_substantial_look_up_is_described():
    audit = audit_duplicates(*leaves())
    assert audit.substantial == ("neighbours",)
    assert audit.warning.startswith(
        "80 of 82 nodes have the same neighbours as another node; 100.0% of the test nodes (uniform split, "
        "seed 4) can be answered by looking up a training node with the same neighbours, which is right for "
        "100.0% of them, and that alone scores 100.0% on all test nodes, where the most frequent class "
        "scores 50.0%."
    )
    assert "also report a score without the repeated nodes" in audit.warning
    assert "0 of 82 nodes have the same features as another node; no test node" in str(audit)


def test_a_small_gain_gives_no_warning():
    graph, parts = leaves()
    audit = audit_duplicates(replace(graph, y=np.r_[0, 1, np.zeros(76), np.ones(4)].astype(int)), parts)
    assert audit.kinds["neighbours"].gain <= 0.05
    assert audit.substantial == ()
    assert audit.warning == ""
    # One test node of three more: above 0.05, but within what chance gives.
    graph, parts = leaves(per_hub=4)
    audit = audit_duplicates(graph, replace(parts, test=[3, 5, 7]))
    assert audit.warning == ""
    audit = audit_duplicates(graph, replace(parts, test=[3, 5, 9]))
    assert audit.kinds["neighbours"].gain == pytest.approx(1 / 3)
    assert audit.warning == ""


def test_repeated_features_get_other_advice():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    graph = Graph(edges=rng.integers(0, 100, (2, 400)), x=np.eye(2)[y], y=y)
    assert (
        "If the features have few different values, that may be fair"
        in audit_duplicates(graph, split(graph)).warning
    )


def test_values_for_json_and_copies():
    graph, parts = leaves()
    audit = audit_duplicates(graph, parts)
    values = json.loads(json.dumps(audit.to_dict()))
    assert values == audit.to_dict()
    assert (values["split"], values["seed"], values["test_nodes"]) == ("uniform", 4, 40)
    assert list(values["kinds"]) == UNDIRECTED
    assert pickle.loads(pickle.dumps(audit)) == audit
    assert audit_duplicates(graph, parts, find_duplicates(graph)) == audit


def test_labels_of_validation_nodes_are_not_used():
    graph, parts = leaves()
    other = graph.y.copy()
    other[parts.val] = 1 - other[parts.val]
    assert audit_duplicates(replace(graph, y=other), parts) == audit_duplicates(graph, parts)


def test_a_split_of_another_graph_is_refused():
    with pytest.raises(InputError, match="make the split from this graph"):
        audit_duplicates(star(), Split(train=[0], val=[1], test=[7]))


# ---------------------------------------------------------------------- real data


def mean_look_up(graph: Graph, kind: str, identical: str, split_of: Graph | None = None) -> float:
    duplicates = find_duplicates(graph)
    splits = [split(split_of or graph, kind, seed) for seed in range(10)]
    return float(np.mean([audit_duplicates(graph, s, duplicates).kinds[identical].accuracy for s in splits]))


# The mean score of the look-up over ten splits, counted with Python sets too. The files have no direction.
@pytest.mark.parametrize(
    ("name", "kind", "accuracy"),
    [
        ("chameleon", "uniform", 0.6165),
        ("squirrel", "uniform", 0.5492),
        ("chameleon_filtered", "uniform", 0.2663),
        ("squirrel_filtered", "uniform", 0.3360),
        ("chameleon_filtered", "fixed", 0.2665),
        ("squirrel_filtered", "fixed", 0.3525),
    ],
)
def test_wikipedia_graphs(data_dir, name, kind, accuracy):
    graph = load(data_dir / f"{name}.npz")
    assert mean_look_up(graph, kind, "neighbours") == pytest.approx(accuracy, abs=5e-5)
    warned = audit_duplicates(graph, split(graph, kind)).warning != ""
    assert warned == (not name.endswith("filtered"))


@pytest.mark.parametrize(
    ("name", "nodes", "accuracy"), [("chameleon", 1795, 0.7459), ("squirrel", 4021, 0.7384)]
)
def test_wikipedia_graphs_with_direction(data_dir, name, nodes, accuracy):
    """The published links keep their direction; with the self loops, 1,840 and 4,148 nodes share theirs."""
    links = data_dir / "raw" / "WikipediaNetwork" / name / "geom_gcn" / "raw" / "out1_graph_edges.txt"
    if not links.is_file():
        pytest.skip(f"{links} is absent")
    undirected = load(data_dir / f"{name}.npz")
    edges = np.loadtxt(links, skiprows=1, dtype=np.int64).T
    graph = replace(undirected, edges=edges, directed=True)
    assert find_duplicates(graph).count("out_neighbours")[1] == nodes
    assert mean_look_up(graph, "uniform", "out_neighbours", undirected) == pytest.approx(accuracy, abs=5e-5)
