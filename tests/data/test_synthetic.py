from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otherhalf.data.synthetic import KEYS, contextual_sbm, parse_synthetic, redraw_edges
from otherhalf.diagnosis.homophily import edge_homophily
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split

# Classes of 3 and 2 nodes and one node unknown: 3 + 1 pairs within a class, 6 between the two.
SMALL = Graph(
    edges=[[0, 1, 2, 3], [1, 2, 3, 4]],
    x=np.arange(12.0).reshape(6, 2),
    y=["a", "b", "a", "b", "a", ""],
    ids=list("uvwxyz"),
    fixed_splits=(Split(train=[0, 1], val=[2], test=[3]),),
    name="small",
)


def check_simple(graph: Graph) -> None:
    assert graph.dropped_self_loops == 0
    assert graph.dropped_repeats == 0


@given(
    y=st.lists(st.integers(-1, 3), min_size=4, max_size=30),
    share=st.floats(0, 1),
    count=st.integers(1, 60),
    seed=st.integers(0, 1000),
)
@settings(deadline=None)
def test_redrawn_edges_have_exactly_the_homophily_asked_for(y, share, count, seed):
    known = [label for label in y if label >= 0]
    assume(len(set(known)) > 1)
    inside = sum(a == b for a, b in combinations(known, 2))
    between = len(known) * (len(known) - 1) // 2 - inside
    wanted = round(share * count)
    graph = Graph(edges=[[0], [1]], x=np.ones((len(y), 1)), y=np.array(y))
    if wanted > inside or count - wanted > between:
        with pytest.raises(InputError, match=r"too few for .* edges: give fewer edges"):
            redraw_edges(graph, share, seed, num_edges=count)
        return
    drawn = redraw_edges(graph, share, seed, num_edges=count)
    check_simple(drawn)
    assert drawn.num_edges == count
    assert edge_homophily(drawn.edges, drawn.y) == wanted / count
    assert not np.isin(np.flatnonzero(np.array(y) == -1), drawn.edges).any()


def test_redrawing_keeps_all_but_the_edges():
    drawn = redraw_edges(SMALL, 0.5, seed=1)
    np.testing.assert_array_equal(drawn.x, SMALL.x)
    np.testing.assert_array_equal(drawn.y, SMALL.y)
    np.testing.assert_array_equal(drawn.classes, SMALL.classes)
    np.testing.assert_array_equal(drawn.ids, SMALL.ids)
    assert drawn.fixed_splits == SMALL.fixed_splits
    assert drawn.num_edges == 4
    assert drawn.name == "small@0.5"
    assert not drawn.directed


def test_redrawing_all_pairs_of_a_kind():
    drawn = redraw_edges(SMALL, 1.0, num_edges=4)
    assert drawn.edges.T.tolist() == [[0, 2], [0, 4], [1, 3], [2, 4]]


def test_every_pair_of_its_kind_is_equally_likely():
    """Two of the four pairs within a class and two of the six between, 900 times."""
    counts = np.zeros((6, 6))
    for seed in range(900):
        i, j = redraw_edges(SMALL, 0.5, seed).edges
        counts[i, j] += 1
    for i, j in combinations(range(5), 2):
        expected = 2 / 4 if SMALL.y[i] == SMALL.y[j] else 2 / 6
        assert counts[i, j] / 900 == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 900))


def test_redrawing_is_deterministic_in_the_seed():
    graph = contextual_sbm(50)
    first, again, other = (redraw_edges(graph, 0.3, seed=s) for s in (7, 7, 8))
    np.testing.assert_array_equal(first.edges, again.edges)
    assert not np.array_equal(first.edges, other.edges)


@pytest.mark.parametrize(
    ("homophily", "count", "sentence"),
    [(1.5, 4, "must be a number from 0 to 1"), (float("nan"), 4, "from 0 to 1"), (0.5, 0, "must be ≥ 1")],
)
def test_redrawing_refuses_impossible_requests(homophily, count, sentence):
    with pytest.raises(InputError, match=sentence):
        redraw_edges(SMALL, homophily, num_edges=count)


def test_redrawing_needs_labels():
    with pytest.raises(InputError, match="no node has a label"):
        redraw_edges(Graph(edges=[[0], [1]], x=np.ones((2, 1))), 0.5)


# ---------------------------------------------------------------------- contextual block model


def test_block_model_is_what_was_asked_for():
    graph = contextual_sbm(
        20_000, num_classes=4, num_features=8, average_degree=6, homophily=0.3, signal=2, seed=5
    )
    check_simple(graph)
    assert (graph.num_nodes, graph.num_features, graph.num_edges) == (20_000, 8, 60_000)
    assert np.bincount(graph.y).tolist() == [5000] * 4
    assert edge_homophily(graph.edges, graph.y) == 0.3
    assert graph.x.dtype == np.float32
    for c in range(4):
        rows = graph.x[graph.y == c].astype(float)
        # A mean of 5,000 rows of unit noise is off by about 1/√5000 = 0.014 in each of 8 directions.
        assert np.linalg.norm(rows.mean(axis=0)) == pytest.approx(2, abs=0.1)
        np.testing.assert_allclose(rows.std(axis=0), 1, atol=0.05)


def test_block_model_is_deterministic_in_the_seed():
    first, again, other = (contextual_sbm(50, seed=s) for s in (1, 1, 2))
    assert first.fingerprint == again.fingerprint
    assert first.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    "options",
    [
        {"num_classes": 1},
        {"num_nodes": 3, "num_classes": 4},
        {"num_features": 0},
        {"average_degree": 0},
        {"average_degree": 50},
        {"homophily": -0.1},
        {"signal": -1},
        {"signal": float("nan")},
        {"seed": -1},
    ],
)
def test_block_model_refuses_impossible_sizes(options):
    with pytest.raises(InputError, match=r"give|must be"):
        contextual_sbm(**({"num_nodes": 50} | options))


# ---------------------------------------------------------------------- by name


def test_by_name():
    graph = parse_synthetic("csbm:nodes=60,classes=3,homophily=0.25,degree=4,features=2,signal=1,seed=9")
    same = contextual_sbm(60, 3, 2, 4, 0.25, 1, 9)
    assert graph.fingerprint == same.fingerprint
    assert graph.name == "csbm:nodes=60,classes=3,features=2,degree=4.0,homophily=0.25,signal=1.0,seed=9"
    assert parse_synthetic(graph.name).fingerprint == graph.fingerprint


def test_by_name_with_defaults():
    assert parse_synthetic("csbm").fingerprint == contextual_sbm().fingerprint
    assert parse_synthetic("csbm:seed=3").fingerprint == contextual_sbm(seed=3).fingerprint


@pytest.mark.parametrize("text", ["cora", "csbm.npz", "csbmodel", "nodes.csv,edges.csv"])
def test_other_names_are_left_to_others(text):
    assert parse_synthetic(text) is None


@pytest.mark.parametrize("text", ["csbm:node=5", "csbm:nodes", "csbm:nodes=many", "csbm:nodes=1.5", "csbm:5"])
def test_a_bad_key_or_value_gets_one_sentence_with_all_keys(text):
    with pytest.raises(InputError, match=", ".join(KEYS)):
        parse_synthetic(text)
