"""A batch has the inputs of its nodes, and operators that shrink from layer to layer."""

import numpy as np
import torch

from otherhalf.data.synthetic import contextual_sbm
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.ops.sparse import mean_matrix
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.nn.sampling import ALL
from otherhalf.nn.subgraph import Subgraphs, blocks_of

GRAPH = contextual_sbm(num_nodes=40, num_features=5, homophily=0.6, seed=0)
PREPARED = PreparedGraph(GRAPH, Scaling("none"))


def test_a_batch_has_rows_of_the_features_and_of_the_adjacency_matrix():
    batch = Subgraphs(PREPARED, ("mean",), (3, 2), 2).batch(np.array([5, 2]), 0)
    nodes, layers = Subgraphs(PREPARED, ("mean",), (3, 2), 2).around(np.array([5, 2]), 0)
    assert nodes[:2].tolist() == [5, 2]
    assert batch.seeds == 2
    torch.testing.assert_close(batch.inputs.features, torch.from_numpy(GRAPH.x[nodes]))
    rows = batch.inputs.neighbours.matrix.to_dense()
    np.testing.assert_array_equal(rows, GRAPH.adjacency[nodes].toarray())
    assert [count for count, _ in batch.layers] == [count for count, _ in layers]
    assert batch.layers[0][0] == len(nodes) > batch.layers[1][0] > 2


def test_all_neighbours_have_the_entries_of_the_whole_matrix():
    nodes, ((count, (mean,)),) = Subgraphs(PREPARED, ("mean",), (ALL,), 1).around(np.arange(7), 0)
    whole = mean_matrix(GRAPH.adjacency).toarray()
    found = mean.matrix.to_dense().numpy()
    assert count == len(nodes)
    np.testing.assert_allclose(found[:7], whole[:7][:, nodes], rtol=1e-6)
    assert not found[7:].any()  # the last hop has no neighbours
    np.testing.assert_array_equal(mean.transpose.to_dense(), found.T)


def test_sampled_entries_count_for_those_that_are_left_out():
    """Without weights, the mean over d neighbours becomes the mean over the k that are sampled."""
    _, ((_, (mean,)),) = Subgraphs(PREPARED, ("mean",), (2,), 1).around(np.arange(7), 0)
    degree = np.minimum(np.diff(GRAPH.adjacency.indptr)[:7], 2)
    for row, k in zip(mean.matrix.to_dense().numpy()[:7], degree, strict=True):
        np.testing.assert_allclose(row[row != 0], np.full(k, 1 / k), rtol=1e-6)


def test_blocks_cover_everything_once():
    assert [block.tolist() for block in blocks_of(5, 2)] == [[0, 1], [2, 3], [4]]
