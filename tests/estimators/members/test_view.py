"""The view: what members read, and that no node reads its own label."""

import numpy as np
import pytest
import torch
from tests.estimators.members.conftest import GRAPH, PARTS, view_of

from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.nn.ops.sparse import normalized_matrix


def test_training_labels_as_rows():
    rows = TrainingLabels(np.array([2, 0]), np.array([1, 0]), 2).rows(4)
    assert rows.tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]


def test_the_given_edges_are_the_half_that_their_tendency_says(view):
    given = normalized_matrix(GRAPH.adjacency).toarray()
    halves = view.halves
    assert halves.heterophilic.matrix.to_dense().numpy() == pytest.approx(given)
    assert halves.homophilic.matrix.to_dense().numpy() == pytest.approx(view.found.half.matrix.toarray())
    other = view_of(GRAPH, PARTS, kind="heterophily").halves
    assert other.homophilic.matrix.to_dense().numpy() == pytest.approx(given)


def test_both_kinds_at_once():
    view = view_of(GRAPH, PARTS, kind="both")
    given, half = normalized_matrix(GRAPH.adjacency).toarray(), view.found.half
    expected = (given + half.part("homophily").matrix.toarray()) / 2
    assert view.halves.homophilic.matrix.to_dense().numpy() == pytest.approx(expected, abs=1e-6)
    dissimilar = half.part("heterophily").matrix.toarray()
    assert view.halves.heterophilic.matrix.to_dense().numpy() == pytest.approx(dissimilar)


def test_without_a_half_the_other_operator_is_empty(view_without_half):
    halves = view_without_half.halves
    assert halves.scores is None
    assert halves.homophilic.matrix.to_dense().abs().sum() == 0


def test_no_message_of_a_training_node_depends_on_its_own_label(view):
    node = int(view.labels.nodes[3])
    codes = view.labels.codes.copy()
    codes[3] = (codes[3] + 1) % 3
    changed = TrainingLabels(view.labels.nodes, codes, 3)
    other = GraphView(
        view.prepared, changed, view.tendency, spread=view.spread, kind=view.kind, k=view.k, found=view.found
    )
    assert torch.allclose(view.messages[node], other.messages[node], atol=1e-7)
    assert not torch.allclose(view.messages, other.messages)


def test_scores_and_half_of_the_fitted_graph_are_found_again(view):
    again = GraphView(view.prepared, view.labels, view.tendency, spread=view.spread, kind=view.kind, k=view.k)
    assert np.array_equal(again.found.scores, view.found.scores)
    assert np.array_equal(again.found.half.pairs, view.found.half.pairs)
