"""The relations of edges: an edge can be in several, in one or in none."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.relations import MOST_APART, RelationGroups, Relations

# 0 – 1 by "cites" and by "likes", 1 – 2 by "likes", 2 – 3 by nothing, a loop, and 0 – 3 by "cites".
EDGES = np.array([[0, 1, 1, 2, 2, 0], [1, 0, 2, 3, 2, 3]])
NAMES = ["cites", "likes", "likes", None, "cites", "cites"]


def graph(relations=NAMES, **options):
    return Graph(edges=EDGES, x=np.eye(4), relations=relations, **options)


def test_an_edge_of_two_relations_is_one_edge_and_in_both():
    made = graph()
    assert made.edges.T.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert made.relations.names == ("cites", "likes")
    assert made.relations.edges.toarray().tolist() == [[1, 1, 0, 0], [1, 0, 1, 0]]
    assert made.relations.counts() == {"cites": 2, "likes": 2}


def test_direction_and_weights():
    made = graph(directed=True, weights=[1, 2, 3, 4, 5, 6])
    assert made.edges.T.tolist() == [[0, 1], [0, 3], [1, 0], [1, 2], [2, 3]]
    assert made.relations.edges.toarray().tolist() == [[1, 6, 0, 0, 0], [0, 0, 2, 3, 0]]
    cites = made.relation_adjacency(["cites"], "given")
    assert cites.toarray().tolist() == [[0, 1, 0, 6], [0] * 4, [0] * 4, [0] * 4]
    assert (made.relation_adjacency(["cites"], "reversed") != cites.T).nnz == 0
    assert made.relation_adjacency(["cites"]).toarray().tolist() == (cites + cites.T).toarray().tolist()


def test_weights_of_an_undirected_edge_are_summed_within_a_relation():
    made = Graph(
        edges=[[0, 1, 0], [1, 0, 1]], x=np.eye(2), relations=["a", "a", "b"], weights=[1.0, 2.0, 4.0]
    )
    assert (made.weights.tolist(), made.relations.edges.toarray().tolist()) == ([7], [[3], [4]])


def test_adjacency_of_several_relations():
    made = graph()
    both = made.relation_adjacency(["cites", "likes"])
    assert both.toarray().tolist() == [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    repeated = Graph(edges=[[0, 0], [1, 1]], x=np.eye(2), relations=["a", "b"], directed=True)
    assert repeated.relation_adjacency(["a", "b"], "given").toarray().tolist() == [[0, 1], [0, 0]]
    assert made.relation_adjacency([]).nnz == 0
    assert made.relation_adjacency(["unknown"]).nnz == 0
    assert graph(None).relation_adjacency(["cites"]).nnz == 0


@pytest.mark.parametrize(
    "names", [pd.Series(NAMES), np.array(NAMES, dtype=object), [name or " " for name in NAMES]]
)
def test_names_of_every_type(names):
    assert graph(names).relations.edges.toarray().tolist() == graph().relations.edges.toarray().tolist()


def test_numbers_are_names():
    assert graph([2, 1, 1, 1, 1, 2]).relations.names == ("1", "2")


def test_no_names_at_all_are_no_relations():
    assert graph([None] * 6).relations is None
    assert graph([None, None, None, None, "on a loop", None]).relations is None


def test_the_hash_has_relations_only_if_there_are_two():
    plain = graph(None)
    assert graph(["cites"] * 6).fingerprint == plain.fingerprint
    assert graph().fingerprint != plain.fingerprint
    assert graph().fingerprint != graph(NAMES[::-1]).fingerprint
    # Which row says what does not matter.
    order = [3, 1, 5, 0, 4, 2]
    again = Graph(edges=EDGES[:, order], x=np.eye(4), relations=[NAMES[i] for i in order])
    assert again.fingerprint == graph().fingerprint


def test_a_changed_copy_keeps_them():
    made = graph(directed=True, weights=[1, 2, 3, 4, 5, 6])
    order = np.array([3, 1, 0, 2])
    moved = replace(made, edges=order[made.edges])
    assert moved.relations.names == made.relations.names
    expected = np.zeros((4, 4))
    expected[np.ix_(order, order)] = made.relation_adjacency(["cites"], "given").toarray()
    assert moved.relation_adjacency(["cites"], "given").toarray().tolist() == expected.tolist()
    assert pickle.loads(pickle.dumps(made)).fingerprint == made.fingerprint


def test_wrong_numbers_of_relations():
    with pytest.raises(InputError, match="there are 2 relations for 6 edges: give one relation per edge"):
        graph(["a", "b"])
    wrong = Relations(("a",), sp.csr_matrix((1, 5), dtype=np.float32))
    with pytest.raises(InputError, match="the relations are those of 5 edges, and there are 6"):
        graph(wrong)


def test_names_have_an_end():
    with pytest.raises(InputError, match=r"the relation 'x{40}…' has 1,001 characters: give at most 1,000"):
        graph(["cites", "x" * 1001, None, None, None, None])


class TestGroups:
    def test_one_relation_is_nothing_to_tell_apart(self):
        assert RelationGroups.of(None).names == ()
        assert RelationGroups.of(graph(["cites"] * 6).relations).names == ()

    def test_each_relation_has_its_own(self):
        made = graph()
        groups = RelationGroups.of(made.relations)
        assert groups.names == ("cites", "likes")
        assert groups.members(made.relations) == [["cites"], ["likes"]]
        assert groups.members(None) == [[], []]

    def test_rare_relations_are_put_together(self):
        counts = {f"r{i}": i + 1 for i in range(10)}
        names = [name for name, count in counts.items() for _ in range(count)]
        pairs = np.array([(i, j) for i in range(12) for j in range(i)])[: len(names)].T
        relations = Graph(edges=pairs, x=np.eye(12), relations=names).relations
        groups = RelationGroups.of(relations)
        assert len(groups.names) == MOST_APART
        assert groups.names == ("r3", "r4", "r5", "r6", "r7", "r8", "r9", None)
        assert groups.members(relations)[-1] == ["r0", "r1", "r2"]
        later = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), relations=["new", "r9"]).relations
        assert groups.members(later) == [[], [], [], [], [], [], ["r9"], ["new"]]

    @given(st.lists(st.one_of(st.none(), st.text(min_size=1)), max_size=5))
    def test_there_and_back(self, names):
        assert RelationGroups.from_array(RelationGroups(tuple(names)).to_array()).names == tuple(names)
