"""Descriptions by one relation: those of a graph that has the edges of this relation alone."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.complement.basis import Basis
from otherhalf.complement.descriptions import Descriptions, words_of_description
from otherhalf.complement.relations import KINDS, names_by_relation
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling
from otherhalf.system.relations import RelationGroups

PLAIN = contextual_sbm(num_nodes=40, num_classes=2, num_features=5, seed=0)


def graph_of(directed=False, weighted=False, names=("cites", "likes")):
    count = PLAIN.num_edges
    return replace(
        PLAIN,
        directed=directed,
        weights=np.linspace(0.5, 2, count) if weighted else None,
        relations=[names[i % len(names)] for i in range(count)],
    )


def described(graph):
    return Descriptions(graph, Basis.of(graph, Scaling.fit(graph.x, "auto")))


def alone(graph, name):
    """The graph with the edges of one relation."""
    values = graph.relations.values([name])
    weights = None if graph.weights is None else values[values > 0]
    return replace(graph, edges=graph.edges[:, values > 0], weights=weights, relations=None)


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_are_those_of_the_relation_alone(kind, directed, weighted):
    graph = graph_of(directed, weighted)
    found = described(graph)
    if KINDS[kind].direction != "undirected" and not directed:
        assert f"{kind}:cites" not in found.names
        return
    expected = described(alone(graph, "cites")).rows(kind)
    np.testing.assert_allclose(dense(found.rows(f"{kind}:cites")), dense(expected), atol=1e-6)


def test_all_names_of_the_graph_without_relations_come_first():
    plain, apart = described(replace(graph_of(), relations=None)), described(graph_of())
    assert apart.names[: len(plain.names)] == plain.names
    groups = RelationGroups(("cites", "likes"))
    assert apart.names[len(plain.names) :] == names_by_relation(groups, directed=False, features=True)
    for name in plain.names:
        assert (dense(apart.rows(name)) == dense(plain.rows(name))).all()


@pytest.mark.parametrize("directed", [False, True])
def test_features_that_are_all_the_same_describe_nothing_by_any_relation(directed):
    graph = graph_of(directed)
    names = described(replace(graph, x=np.ones_like(graph.x))).names
    assert "rare_neighbours:likes" in names
    assert not [name for name in names if name.startswith("neighbours_features")]


def test_one_relation_changes_nothing():
    assert described(graph_of(names=("cites",))).names == described(replace(PLAIN, relations=None)).names


def test_words():
    assert (
        words_of_description("rare_neighbours:cites") == "the same neighbours by 'cites', weighted by rarity"
    )
    assert words_of_description("two_steps:a:b") == "the same surroundings by 'a:b' within two steps"
    assert words_of_description("neighbours:") == "the same neighbours by other relations"


def test_other_relations_are_put_together():
    graph = graph_of(names=[f"r{i}" for i in range(9)])
    found = described(graph)
    rest = [name for name in graph.relations.names if name not in found.basis.relations.names]
    assert len(rest) == 2
    np.testing.assert_array_equal(
        dense(found.rows("neighbours:")) > 0, graph.relation_adjacency(rest).toarray() > 0
    )


@pytest.mark.parametrize("directed", [False, True])
def test_the_basis_is_saved_and_describes_a_grown_graph(directed):
    graph = graph_of(directed)
    first = described(graph)
    basis = Basis.from_tensors(graph.num_nodes, first.basis.scaling, first.basis.tensors())
    assert basis.relations == first.basis.relations
    grown = Graph(
        edges=np.concatenate([graph.edges, [[40], [0]]], axis=1),
        x=np.concatenate([graph.x, graph.x[:1]]),
        directed=directed,
        relations=[*(graph.relations.names[c] for c in graph.relations.edges.T.tocsr().indices), "cites"],
    )
    later = Descriptions(grown, basis)
    for name in ("neighbours:likes", "rare_neighbours:likes", "neighbours_features:likes"):
        np.testing.assert_allclose(dense(later.rows(name))[:40], dense(first.rows(name)), atol=1e-6)
    assert dense(later.rows("neighbours:cites"))[40].nonzero()[0].tolist() == [0]


def test_a_basis_without_relations_has_no_tensors_of_them():
    basis = Basis.of(PLAIN, Scaling("none"))
    assert sorted(basis.tensors()) == ["basis/feature_rarity", "basis/node_rarity"]
    assert Basis.from_tensors(40, Scaling("none"), basis.tensors()).relation_rarity is None
