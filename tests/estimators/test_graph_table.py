"""The graph as a table: each column against a dense reference, and no row with its own label."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from safetensors.torch import load, save
from threadpoolctl import threadpool_limits

from otherhalf import Graph
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.graph_table import NEIGHBOUR_COLUMNS, WIDEST, GraphTable, pagerank
from otherhalf.nn.label_messages import label_rows as training_rows
from otherhalf.nn.label_messages import label_walks, messages

CLASSES = 3


def graph(nodes=80, features=6, *, sparse=False, directed=False, isolated=0, seed=0):
    """A random graph whose last nodes have no edge."""
    linked = nodes - isolated
    edges = contextual_sbm(linked, 2, 2, seed=seed).edges if linked > 4 else np.array([[0], [1]])
    x = np.random.default_rng(seed).normal(size=(nodes, features)) * (np.arange(features) % 3 > 0)
    return Graph(edges=edges, x=sp.csr_matrix(x) if sparse else x, directed=directed)


def label_rows(graph, share=0.6, seed=1):
    """Labels of a share of the nodes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(CLASSES, size=graph.num_nodes)
    rows = torch.eye(CLASSES)[codes]
    rows[rng.random(graph.num_nodes) > share] = 0
    return rows


def with_nodes(graph, count, edges=()):
    """The graph with new nodes after its own."""
    new = np.random.default_rng(5).normal(size=(count, graph.num_features)).astype(np.float32)
    x = sp.vstack([graph.x, new]) if sp.issparse(graph.x) else np.vstack([graph.x, new])
    pairs = np.array(edges, dtype=int).reshape(-1, 2).T
    return Graph(edges=np.hstack([graph.edges, pairs]), x=x, directed=graph.directed)


GRAPHS = {
    "few columns": graph(),
    "few sparse columns": graph(sparse=True),
    "projected": graph(features=70),
    "projected sparse": graph(features=70, sparse=True),
    "directed": graph(directed=True),
    "isolated nodes": graph(isolated=9, features=60),
    "fewer nodes than columns": graph(20, 60, isolated=2),
    "one edge": graph(12, 3, isolated=10),
    "two nodes": graph(2, 60),
    "no features but zero": replace(graph(), x=np.zeros((80, 55))),
    "large features": replace(graph(), x=np.full((80, 40), 3e38)),
}


@pytest.fixture(params=GRAPHS)
def given(request):
    return GRAPHS[request.param]


def test_the_size(given):
    table = GraphTable.fit(given, 0)
    rows = table.rows(given, label_rows(given))
    own = given.num_features if given.num_features <= WIDEST else min(WIDEST, given.num_nodes)
    neighbours = min(NEIGHBOUR_COLUMNS, given.num_nodes)
    width = 3 * own + 4 + neighbours + 3 * CLASSES + (2 * (own + CLASSES) if given.directed else 0)
    assert rows.shape == (given.num_nodes, width)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    again = GraphTable.fit(given, 0).rows(given, label_rows(given))
    assert np.array_equal(rows, again)


def dense_rows(graph, labels, table):
    """The table by dense matrices in double precision, column by column."""

    def mean(a):
        return a / np.maximum(a.sum(axis=1, keepdims=True), 1)

    a, n = graph.adjacency.toarray().astype(float), graph.num_nodes
    x = np.asarray(graph.x.toarray() if sp.issparse(graph.x) else graph.x, dtype=float)
    own = x if table.features is None else x @ table.features
    p, y = mean(a), labels.numpy().astype(float)
    log_degree = np.log1p(a.sum(axis=1, keepdims=True))
    rank = np.ones(n)
    for _ in range(30):
        rank = 0.15 + 0.85 * p.T @ rank
    with_loops = a + np.eye(n)
    scale = 1 / np.sqrt(with_loops.sum(axis=1))
    normalized = scale[:, None] * with_loops * scale
    two = p @ p
    np.fill_diagonal(two, 0)
    columns = [own, p @ own, p @ p @ own, log_degree, p @ log_degree, np.log(rank)[:, None]]
    columns += [np.log1p(np.abs(x).sum(axis=1, keepdims=True))]
    columns += [normalized[:, : len(table.neighbours)] @ table.neighbours, p @ y, a @ y, two @ y]
    if table.directed:
        for direction in ("given", "reversed"):
            q = mean(graph.adjacency_in(direction).toarray().astype(float))
            columns += [q @ own, q @ y]
    return np.hstack(columns)


def test_against_a_dense_reference(given):
    table, labels = GraphTable.fit(given, 3), label_rows(given)
    expected = dense_rows(given, labels, table)
    assert np.allclose(table.rows(given, labels), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["few columns", "projected sparse", "directed", "isolated nodes"])
def test_no_bit_of_a_row_depends_on_its_own_label(name):
    given = GRAPHS[name]
    table, labels = GraphTable.fit(given, 0), label_rows(given)
    rows = table.rows(given, labels)
    training = np.flatnonzero(labels.sum(dim=1).numpy())
    for node in training:
        for other in (labels[node].roll(1), labels[node].roll(2), torch.zeros(CLASSES)):
            changed = labels.clone()
            changed[node] = other
            again = table.rows(given, changed)
            assert np.array_equal(again[node], rows[node])
            reads = given.adjacency[node].nnz > 0
            assert np.array_equal(again, rows) != reads  # its neighbours do read it


def test_a_difference_of_two_roundings_would_tell_the_label():
    """Why the walk of two steps is not that of label_messages, though both are the same numbers."""
    given = graph(300)
    labels = label_rows(given, share=0.05)
    degree = np.diff(given.adjacency.indptr)
    mean = sp.csr_matrix(sp.diags((1 / np.maximum(degree, 1)).astype(np.float32)) @ given.adjacency)
    walked = messages(label_walks([(mean, mean)]), labels).numpy()
    ours = GraphTable.fit(given, 0).rows(given, labels)[:, -CLASSES:]
    assert np.allclose(walked, ours, atol=1e-6)
    nothing = ours == 0
    assert (walked[nothing] != 0).any()
    assert labels.numpy()[nothing & (walked != 0)].all()  # each stands at the label of the node itself


def test_isolated_new_nodes_change_no_bit_of_the_other_rows(given):
    table, labels = GraphTable.fit(given, 0), label_rows(given)
    larger = with_nodes(given, 37)
    unlabelled = torch.zeros(37, CLASSES)
    rows = table.rows(larger, torch.cat([labels, unlabelled]))
    assert np.isfinite(rows).all()
    assert np.array_equal(rows[: given.num_nodes], table.rows(given, labels))


@pytest.mark.parametrize("name", ["few columns", "projected", "projected sparse", "directed"])
def test_new_nodes(name):
    given = GRAPHS[name]
    table, n = GraphTable.fit(given, 0), given.num_nodes
    larger = with_nodes(given, 3, [(0, n), (n + 1, 4), (n, n + 1), (7, n + 1)])
    labels = torch.cat([label_rows(given), torch.zeros(3, CLASSES)])
    rows = table.rows(larger, labels)
    assert np.allclose(rows, dense_rows(larger, labels, table), rtol=1e-4, atol=1e-4)
    assert rows.shape[1] == table.rows(given, labels[:n]).shape[1]


def test_the_directions_are_those_of_the_fit():
    directed, undirected = GRAPHS["directed"], GRAPHS["few columns"]
    table = GraphTable.fit(directed, 0)
    assert table.rows(undirected, label_rows(undirected)).shape[1] == 3 * 6 + 4 + 30 + 9 + 2 * (6 + 3)
    assert GraphTable.fit(undirected, 0).rows(directed, label_rows(directed)).shape[1] == 3 * 6 + 4 + 30 + 9


def test_scores_are_the_last_columns():
    given = GRAPHS["few columns"]
    table, labels = GraphTable.fit(given, 0), label_rows(given)
    scores = np.random.default_rng(0).normal(size=(given.num_nodes, 2)).astype(np.float32)
    rows = table.rows(given, labels, scores)
    assert np.array_equal(rows, np.hstack([table.rows(given, labels), scores]))


def test_rows_for_other_nodes():
    given = GRAPHS["few columns"]
    table, labels = GraphTable.fit(given, 0), label_rows(given)
    with pytest.raises(ValueError, match="one row for each of 80 nodes"):
        table.rows(given, labels[:-1])
    with pytest.raises(ValueError, match="one row for each of 80 nodes"):
        table.rows(given, labels, np.zeros((79, 1), dtype=np.float32))


def test_the_fit_reads_no_label():
    labelled = replace(graph(), y=np.arange(80) % 4, classes=None)
    table, other = GraphTable.fit(graph(), 0), GraphTable.fit(labelled, 0)
    assert np.array_equal(table.neighbours, other.neighbours)


def test_the_projection_keeps_what_can_be_kept():
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(90, 20)) @ rng.normal(size=(20, 70))).astype(np.float32)  # of rank 20
    vectors = GraphTable.fit(replace(graph(90), x=x), 0).features
    assert vectors.shape == (70, WIDEST)
    assert np.allclose(x @ vectors @ vectors.T, x, atol=1e-3)


@pytest.mark.parametrize("name", ["few columns", "projected", "directed"])
def test_tensors(name):
    given = GRAPHS[name]
    table, labels = GraphTable.fit(given, 0), label_rows(given)
    tensors = table.tensors()
    assert all(key.startswith("table/") for key in tensors)
    again = GraphTable.from_tensors({"other": torch.zeros(1), **load(save(tensors))})
    assert np.array_equal(again.rows(given, labels), table.rows(given, labels))


def test_pagerank():
    ring = Graph(edges=np.array([[0, 1, 2, 3], [1, 2, 3, 0]]), x=np.ones((6, 1)))
    ranks = pagerank(ring.adjacency)  # two nodes without an edge
    assert np.allclose(ranks, [1, 1, 1, 1, 0.15, 0.15], atol=1e-6)
    way = sp.csr_matrix(([1.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))  # nothing leads on from the last
    first, second = 0.15, 0.15 + 0.85 * 0.15
    assert np.allclose(pagerank(way), [first, second, 0.15 + 0.85 * second])


def test_kept_ranks_stay_and_a_new_node_takes_one_step():
    # 0 – 1 – 2, then the new nodes 3 (joined to 1 and 4) and 4, and 5 alone.
    before = Graph(edges=[[0, 1], [1, 2]], x=np.ones((3, 1)), y=[0, 1, 0])
    grown = Graph(
        edges=[[0, 1, 1, 3], [1, 2, 3, 4]], x=np.ones((6, 1)), y=[0, 1, 0, -1, -1, -1], classes=(0, 1)
    )
    table, labels = GraphTable.fit(before, 0, keep_ranks=True), torch.zeros(6, 2)
    kept = pagerank(before.adjacency)
    assert np.array_equal(table.ranks, kept)
    # In the grown graph node 1 has three edges and node 4 one; a new neighbour counts 1.
    three = 0.15 + 0.85 * (kept[1] / 3 + 1 / 1)
    four = 0.15 + 0.85 * (1 / 2)
    expected = [*kept, three, four, 0.15]
    rows, column = table.rows(grown, labels), 1 * 3 + 2
    assert np.allclose(np.exp(rows[:, column]), expected, atol=1e-6)
    for nodes in ([3], [4, 5], [0, 1, 3]):
        assert np.array_equal(table.few(grown, labels, np.array(nodes)), rows[nodes])
    again = GraphTable.from_tensors(load(save(table.tensors())))
    assert np.array_equal(again.rows(grown, labels), rows)
    with pytest.raises(ValueError, match="one number for each node"):
        GraphTable.from_tensors(table.tensors() | {"table/ranks": torch.ones(4)})


def test_any_seed():
    assert GraphTable.fit(graph(features=60), 2**40).features.shape == (60, WIDEST)


def test_weights_count_in_means_and_no_row_reads_its_own_label():
    """Shares of labels are weighted; a planted label changes no bit of its own row."""
    drawn = contextual_sbm(num_nodes=60, num_classes=3, num_features=3, seed=5)
    weights = np.random.default_rng(0).exponential(size=drawn.num_edges)
    graph = replace(drawn, weights=weights)
    table, nodes = GraphTable.fit(graph, 0), np.arange(40)
    rows = table.rows(graph, training_rows(graph.y[nodes], nodes, 60, 3))
    dense = graph.adjacency.toarray().astype(float)
    known = np.zeros((60, 3))
    known[nodes, graph.y[nodes]] = 1
    sums = dense.sum(axis=1, keepdims=True)
    shares = np.divide(dense @ known, sums, out=np.zeros((60, 3)), where=sums > 0)
    assert any(np.allclose(rows[:, i : i + 3], shares, atol=1e-6) for i in range(rows.shape[1] - 2))
    planted = np.where(nodes == 7, (graph.y[nodes] + 1) % 3, graph.y[nodes])
    again = table.rows(graph, training_rows(planted, nodes, 60, 3))
    assert np.array_equal(again[7], rows[7])
    assert not np.array_equal(again, rows)


# ---------------------------------------------------------------------- relations


def related(names=("cites", "likes"), **options):
    plain = graph(**options)
    return replace(plain, relations=[names[i % len(names)] for i in range(plain.num_edges)])


@pytest.mark.parametrize("directed", [False, True])
def test_columns_of_each_relation_come_last(directed):
    given = related(directed=directed)
    labels, plain = label_rows(given), replace(given, relations=None)
    rows = GraphTable.fit(given, 0).rows(given, labels)
    before = GraphTable.fit(plain, 0).rows(plain, labels)
    assert np.array_equal(rows[:, : before.shape[1]], before)
    expected = []
    for name in ("cites", "likes"):
        for direction in ("given", "reversed") if directed else ("undirected",):
            a = given.relation_adjacency([name], direction).toarray().astype(float)
            degree = a.sum(axis=1, keepdims=True)
            p = a / np.maximum(degree, 1)
            expected += [np.log1p(degree), p @ given.x, p @ labels.numpy()]
    np.testing.assert_allclose(rows[:, before.shape[1] :], np.hstack(expected), rtol=1e-5, atol=1e-6)


def test_one_relation_adds_no_column():
    given = related(["cites"])
    labels, plain = label_rows(given), replace(given, relations=None)
    table = GraphTable.fit(given, 0)
    assert np.array_equal(table.rows(given, labels), GraphTable.fit(plain, 0).rows(plain, labels))
    assert sorted(table.tensors()) == ["table/directed", "table/neighbours"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_relations_are_saved_and_no_row_has_its_own_label(directed, weighted):
    given = related(directed=directed)
    if weighted:
        given = replace(given, weights=np.random.default_rng(0).exponential(size=given.num_edges) + 0.01)
    table = GraphTable.from_tensors(load(save(GraphTable.fit(given, 0).tensors())))
    assert table.relations.names == ("cites", "likes")
    labels = label_rows(given)
    rows = table.rows(given, labels)
    for node in range(given.num_nodes):
        other = labels.clone()
        other[node] = torch.eye(CLASSES)[1] if labels[node, 0] else torch.eye(CLASSES)[0]
        again = table.rows(given, other)
        assert np.array_equal(again[node], rows[node])
        assert np.array_equal(again, rows) != (given.adjacency[node].nnz > 0)


@pytest.mark.parametrize("change", [lambda part: part.ravel(), lambda part: part.double()])
def test_a_projection_that_is_no_matrix_of_numbers_is_refused(change):
    tensors = GraphTable.fit(graph(), 0).tensors()
    with pytest.raises(ValueError, match="no matrix of numbers"):
        GraphTable.from_tensors(tensors | {"table/neighbours": change(tensors["table/neighbours"])})


def test_the_digits_do_not_depend_on_the_threads_of_the_process():
    """Members in other processes, which may have other threads, must have the same table."""
    given = contextual_sbm(3000, 3, 400, seed=0)
    tables = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            tables.append(GraphTable.fit(given, 0))
    for each in tables[1:]:
        assert np.array_equal(each.neighbours, tables[0].neighbours)
        assert np.array_equal(each.features, tables[0].features)
