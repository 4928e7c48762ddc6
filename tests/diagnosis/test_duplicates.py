import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import otherhalf.diagnosis.duplicates as module
from otherhalf.data.catalog import load
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.diagnosis.duplicates import audit_duplicates, find_duplicates
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split

UNDIRECTED = ["neighbours", "features", "neighbours_and_features"]


def star(directed=False) -> Graph:
    """Node 0 points to 2, 3, 4 and 5, node 1 to 4; node 6 is alone.

    Without direction 2, 3 and 5 have the one neighbour 0, and 4 has 0 and 1. The features of 2, 3 and 4 are
    equal, those of 5 and 6 are all zero.
    """
    return Graph(
        edges=[[0, 0, 0, 0, 1], [2, 3, 4, 5, 4]],
        x=[[1, 0], [0, 1], [2, 5], [2, 5], [2, 5], [0, 0], [0, 0]],
        y=[0, 0, 1, 1, 0, 1, 0],
        directed=directed,
    )


STAR_SPLIT = Split(train=[0, 1, 2], val=[6], test=[3, 4, 5])


# ---------------------------------------------------------------------- by hand


def test_identical_nodes_by_hand():
    found = find_duplicates(star())
    assert list(found.first) == UNDIRECTED
    assert found.first["neighbours"].tolist() == [0, 1, 2, 2, 4, 2, -1]
    assert found.first["features"].tolist() == [0, 1, 2, 2, 2, -1, -1]
    assert found.first["neighbours_and_features"].tolist() == [0, 1, 2, 2, 4, -1, -1]
    assert found.to_dict() == {
        "neighbours": {"groups": 1, "nodes": 3},
        "features": {"groups": 1, "nodes": 3},
        "neighbours_and_features": {"groups": 1, "nodes": 2},
    }
    assert "Of 7 nodes" in str(found)
    assert "3 the same neighbours" in str(found)


def test_out_neighbours_need_direction():
    """Turned round, 2, 3 and 5 point to 0 alone; as it is, five nodes point nowhere and are not identical."""
    graph = star(directed=True)
    assert find_duplicates(graph).first["out_neighbours"].tolist() == [0, 1, -1, -1, -1, -1, -1]
    turned = find_duplicates(replace(graph, edges=graph.edges[::-1]))
    assert list(turned.first) == ["out_neighbours", *UNDIRECTED]
    assert turned.first["out_neighbours"].tolist() == [-1, -1, 2, 2, 4, 2, -1]
    assert turned.first["neighbours"].tolist() == find_duplicates(star()).first["neighbours"].tolist()


def test_audit_by_hand():
    """By neighbours 3 and 5 find node 2, of class 1, which is right; 4 gets class 0, right too."""
    found = audit_duplicates(star(), STAR_SPLIT)
    assert (found.nodes, found.test_nodes, found.majority_accuracy) == (7, 3, pytest.approx(1 / 3))
    by_neighbours = found.kinds["neighbours"]
    assert (by_neighbours.groups, by_neighbours.nodes, by_neighbours.answerable) == (1, 3, 2)
    assert by_neighbours.answerable_share == pytest.approx(2 / 3)
    assert (by_neighbours.answerable_accuracy, by_neighbours.accuracy) == (1, 1)
    assert by_neighbours.gain == pytest.approx(2 / 3)
    assert by_neighbours.gain_error == pytest.approx(np.sqrt(2 / 9 / 3))  # of the gains 1, 0 and 1
    assert by_neighbours.roc_auc == 1
    # By features 3 and 4 find node 2, which is right for 3 alone, and 5 gets class 0, which is wrong.
    by_features = found.kinds["features"]
    assert by_features.answerable_accuracy == pytest.approx(1 / 2)
    assert by_features.accuracy == pytest.approx(1 / 3)
    assert by_features.roc_auc == pytest.approx(1 / 4)  # 3 ties with 4, and 5 comes after it
    assert found.kinds["neighbours_and_features"].answerable == 1
    assert found.substantial == ("neighbours",)


@pytest.mark.parametrize(("labels", "expected"), [([1, 0, 1], 1), ([2, 1, 0], 0), ([2, 1, 3], 1)])
def test_most_frequent_label_and_ties_to_the_smaller_class(labels, expected):
    """Nodes 1 to 4 have the one neighbour 0."""
    graph = Graph(edges=[[0] * 4, [1, 2, 3, 4]], x=np.eye(5), y=[3, *labels, expected], classes=[0, 1, 2, 3])
    found = audit_duplicates(graph, Split(train=[0, 1, 2, 3], val=[], test=[4]))
    assert found.kinds["neighbours"].accuracy == 1
    assert found.kinds["features"].answerable_accuracy is None


# ---------------------------------------------------------------------- against the literal definition


def literal(graph: Graph, kind: str) -> list[int]:
    """The first node with the same, node by node."""
    neighbours = [set() for _ in range(graph.num_nodes)]
    for source, target in graph.edges.T:
        neighbours[source].add(target)
        if kind != "out_neighbours":
            neighbours[target].add(source)
    x = graph.x.toarray() if sp.issparse(graph.x) else graph.x
    features = [tuple(row) if any(row) else () for row in x.tolist()]
    parts = {"features": [features], "neighbours_and_features": [neighbours, features]}.get(
        kind, [neighbours]
    )
    own = [tuple(part[node] for part in parts) for node in range(graph.num_nodes)]
    return [own.index(values) if all(values) else -1 for values in own]


@st.composite
def small_graphs(draw):
    """Few nodes, few different neighbours and feature values: many nodes are identical."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, classes = draw(st.integers(3, 14)), draw(st.integers(2, 3))
    edges = np.stack([rng.integers(0, 3, size=2 * n), rng.integers(0, n, size=2 * n)])
    edges = np.concatenate([edges[::-1], [[0], [1]]], axis=1)
    x = rng.choice(np.array([0.0, -0.0, 1.0, 2.0, -1.0]), size=(n, draw(st.integers(1, 3))))
    graph = Graph(
        edges=edges,
        x=sp.csr_matrix(x) if draw(st.booleans()) else x,
        y=rng.integers(-1, classes, size=n),
        classes=np.arange(classes),
        directed=draw(st.booleans()),
    )
    part = rng.integers(0, 3, size=n)
    return graph, Split(*(np.flatnonzero(part == p) for p in range(3)))


def literal_answer(labels: list[int]) -> int:
    return min(set(labels), key=lambda label: (-labels.count(label), label))


@given(small_graphs())
@settings(max_examples=200, deadline=None)
def test_against_brute_force(case):
    graph, parts = case
    duplicates = find_duplicates(graph)
    assert ("out_neighbours" in duplicates.first) == graph.directed
    first = {kind: literal(graph, kind) for kind in duplicates.first}
    assert {kind: found.tolist() for kind, found in duplicates.first.items()} == first

    train = [node for node in parts.train if graph.y[node] >= 0]
    test = [node for node in parts.test if graph.y[node] >= 0]
    if not train or not test:
        with pytest.raises(InputError, match="labelled nodes in train and in test"):
            audit_duplicates(graph, parts)
        return
    audit = audit_duplicates(graph, parts)
    everywhere = [graph.y[node] for node in train]
    truth = graph.y[test]
    for kind, heads in first.items():
        twins = [[graph.y[other] for other in train if heads[other] == heads[node] != -1] for node in test]
        answers = np.array([literal_answer(found or everywhere) for found in twins])
        able = np.array([bool(found) for found in twins])
        found = audit.kinds[kind]
        sizes = [heads.count(head) for head in set(heads) - {-1}]
        assert found.nodes == sum(size for size in sizes if size > 1)
        assert found.groups == sum(size > 1 for size in sizes)
        assert found.answerable == able.sum()
        assert found.accuracy == pytest.approx((answers == truth).mean())
        assert found.gain == pytest.approx(found.accuracy - audit.majority_accuracy)
        if able.any():
            assert found.answerable_accuracy == pytest.approx((answers == truth)[able].mean())
        else:
            assert found.answerable_accuracy is None
        if graph.num_classes == 2 and len(set(truth)) == 2:
            scores = [np.mean(found or everywhere) for found in twins]
            assert found.roc_auc == pytest.approx(roc_auc_score(truth, scores))
        else:
            assert found.roc_auc is None


@pytest.mark.parametrize("different", [1, 3])
def test_colliding_hashes_change_nothing(monkeypatch, different):
    """Even where all rows have one hash."""
    graph = Graph(
        edges=contextual_sbm(60, seed=3).edges,
        x=np.random.default_rng(0).integers(0, 2, (60, 3)),
        directed=True,
    )
    before = find_duplicates(graph)
    assert before.count("features")[1] > 40
    real = module._hashed

    def poor(matrix):
        hashes, lengths = real(matrix)
        return hashes % np.uint64(different), lengths

    monkeypatch.setattr(module, "_hashed", poor)
    after = find_duplicates(graph)
    for kind in before.first:
        np.testing.assert_array_equal(after.first[kind], before.first[kind])


@pytest.mark.parametrize("block", [1, 7, 50])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_blocks_and_storage_change_nothing(monkeypatch, block, make):
    rng = np.random.default_rng(1)
    graph = Graph(edges=rng.integers(0, 30, (2, 40)), x=rng.integers(0, 2, (30, 3)))
    expected = {kind: found.tolist() for kind, found in find_duplicates(graph).first.items()}
    monkeypatch.setattr(module, "BLOCK", block)
    found = find_duplicates(replace(graph, x=make(graph.x)))
    assert {kind: values.tolist() for kind, values in found.first.items()} == expected


# ---------------------------------------------------------------------- manners


def leaves(per_hub=40) -> tuple[Graph, Split]:
    """Two hubs of classes 0 and 1, each with leaves of its class: half the leaves train, half test."""
    hub = np.repeat([0, 1], per_hub)
    leaf = np.arange(2, 2 + 2 * per_hub)
    x = np.random.default_rng(0).normal(size=(2 + 2 * per_hub, 3))
    graph = Graph(edges=[hub, leaf], x=x, y=[0, 1, *hub])
    return graph, Split(train=leaf[::2], val=[0, 1], test=leaf[1::2], kind="uniform", seed=4)


def test_a_substantial_look_up_is_put_in_words():
    audit = audit_duplicates(*leaves())
    assert audit.substantial == ("neighbours",)
    assert audit.warning.startswith(
        "80 of 82 nodes have the same neighbours as another node; 100.0% of the test nodes (uniform split, "
        "seed 4) can be answered by looking up a training node with the same neighbours, which is right for "
        "100.0% of them, and that alone scores 100.0% on all test nodes, where the most frequent class "
        "scores 50.0%."
    )
    assert "without the repeated nodes beside it" in audit.warning
    assert "0 of 82 nodes have the same features as another node; no test node" in str(audit)


def test_a_small_gain_is_not():
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


def test_repeated_features_get_another_word():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    graph = Graph(edges=rng.integers(0, 100, (2, 400)), x=np.eye(2)[y], y=y)
    assert "Where features take few values that may be fair" in audit_duplicates(graph, split(graph)).warning


def test_plain_values_and_copies():
    graph, parts = leaves()
    audit = audit_duplicates(graph, parts)
    values = json.loads(json.dumps(audit.to_dict()))
    assert values == audit.to_dict()
    assert (values["split"], values["seed"], values["test_nodes"]) == ("uniform", 4, 40)
    assert list(values["kinds"]) == UNDIRECTED
    assert pickle.loads(pickle.dumps(audit)) == audit
    given = find_duplicates(graph)
    assert audit_duplicates(graph, parts, given) == audit
    with pytest.raises(ValueError, match="read-only"):
        given.first["features"][0] = 5


def test_labels_do_not_matter_for_finding_and_validation_ones_not_for_the_audit():
    graph, parts = leaves()
    other = graph.y.copy()
    other[parts.val] = 1 - other[parts.val]
    assert audit_duplicates(replace(graph, y=other), parts) == audit_duplicates(graph, parts)
    assert find_duplicates(replace(graph, y=None, classes=None)).to_dict() == find_duplicates(graph).to_dict()


def test_a_split_of_another_graph_is_refused():
    with pytest.raises(InputError, match="make the split from this graph"):
        audit_duplicates(star(), Split(train=[0], val=[1], test=[7]))


# ---------------------------------------------------------------------- real data


def mean_look_up(graph: Graph, kind: str, identical: str, plain: Graph | None = None) -> float:
    duplicates = find_duplicates(graph)
    splits = [split(plain or graph, kind, seed) for seed in range(10)]
    return float(np.mean([audit_duplicates(graph, s, duplicates).kinds[identical].accuracy for s in splits]))


# The number of nodes that share their neighbours and the mean score of the look-up over ten splits, both
# counted with Python sets as well. The files have no direction.
@pytest.mark.parametrize(
    ("name", "kind", "nodes", "accuracy"),
    [
        ("chameleon", "uniform", 1300, 0.6165),
        ("squirrel", "uniform", 2581, 0.5492),
        ("chameleon_filtered", "uniform", 46, 0.2663),
        ("squirrel_filtered", "uniform", 19, 0.3360),
        ("chameleon_filtered", "fixed", 46, 0.2665),
        ("squirrel_filtered", "fixed", 19, 0.3525),
    ],
)
def test_wikipedia_graphs(data_dir, name, kind, nodes, accuracy):
    graph = load(data_dir / f"{name}.npz")
    assert find_duplicates(graph).count("neighbours")[1] == nodes
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
    plain = load(data_dir / f"{name}.npz")
    edges = np.loadtxt(links, skiprows=1, dtype=np.int64).T
    graph = replace(plain, edges=edges, directed=True)
    assert find_duplicates(graph).count("out_neighbours")[1] == nodes
    assert mean_look_up(graph, "uniform", "out_neighbours", plain) == pytest.approx(accuracy, abs=5e-5)
