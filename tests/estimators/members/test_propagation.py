"""Label propagation against a dense reference."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from otherhalf import Graph, Split
from otherhalf.estimators.members.propagation import (
    FREQUENCY_SHARE,
    STEPS,
    PropagationMember,
    _propagated,
    fit_propagation,
)
from otherhalf.estimators.members.view import GraphView, TrainingLabels
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.ops.sparse import mean_adjacency
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.training.folds import stratified_folds
from otherhalf.training.supervised import Supervision

PATH = Graph(edges=[[0, 1, 2, 3], [1, 2, 3, 4]], x=np.eye(6), y=[0, 0, 0, 1, 1, 1])
LABELS = TrainingLabels(np.array([0, 4]), np.array([0, 1]), 2)
VIEW = GraphView(PreparedGraph(PATH, Scaling("none")), LABELS, "homophily")


@pytest.mark.parametrize("way", ["normalized", "mean"])
def test_a_dense_reference(way):
    a = PATH.adjacency.toarray()
    degree = np.maximum(a.sum(axis=1), 1)
    p = a / np.sqrt(np.outer(degree, degree)) if way == "normalized" else a / degree[:, None]
    y = np.zeros((6, 2))
    y[0, 0] = y[4, 1] = 1
    f = y
    for _ in range(STEPS):
        f = 0.8 * p @ f + 0.2 * y
    f = f + FREQUENCY_SHARE * np.array([0.5, 0.5])
    expected = f / f.sum(axis=1, keepdims=True)
    assert PropagationMember(way, 0.8).probabilities(VIEW) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("classes", [2, 40])
def test_steps_in_place_have_the_bits_of_the_formula(classes):
    rng = np.random.default_rng(0)
    graph = Graph(edges=rng.integers(0, 300, (2, 700)), x=np.ones((300, 1)))
    operator, labels = mean_adjacency(graph.adjacency), torch.zeros(300, classes)
    labels[torch.arange(100), torch.from_numpy(rng.integers(0, classes, 100))] = 1.0
    before, state = labels.clone(), labels
    for _ in range(STEPS):
        state = 0.8 * (operator @ state) + (1 - 0.8) * labels
    state = state.clamp_min(0) + FREQUENCY_SHARE * (labels.sum(dim=0) / labels.sum())
    expected = (state / state.sum(dim=1, keepdim=True)).numpy()
    np.testing.assert_array_equal(_propagated(operator, labels, 0.8), expected)
    assert torch.equal(labels, before)


def test_nodes_near_a_label_get_it_and_an_isolated_node_gets_the_frequencies():
    p = PropagationMember("mean", 0.8).probabilities(VIEW)
    assert p[:2].argmax(axis=1).tolist() == [0, 0]
    assert p[3:5].argmax(axis=1).tolist() == [1, 1]
    assert p[5] == pytest.approx([0.5, 0.5])


def test_a_directed_graph_may_propagate_along_its_edges_and_unseen_labels_are_not_read():
    # 0 → 2, 1 → 3, …: every node points to one of its own class.
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 60)
    target = np.array([draw.choice(np.flatnonzero(y == label)) for label in y])
    loops = target == np.arange(60)
    edges = np.stack([np.arange(60)[~loops], target[~loops]])
    graph = Graph(edges=edges, x=np.ones((60, 1)), y=y, directed=True)
    parts = Split(np.arange(40), np.arange(40, 50), np.arange(50, 60))
    labels = TrainingLabels(np.arange(40), y[:40], 2)
    view = GraphView(PreparedGraph(graph, Scaling("none")), labels, "homophily")
    folds = stratified_folds(y[:40], 4, 0)
    fitted = fit_propagation(view, Supervision(parts), folds)
    changed = y.copy()
    changed[0] = 1 - changed[0]
    other = GraphView(
        PreparedGraph(graph, Scaling("none")), TrainingLabels(np.arange(40), changed[:40], 2), "homophily"
    )
    again = fit_propagation(other, Supervision(parts), folds)
    if again.member.description() == fitted.member.description():
        assert again.unseen[0] == pytest.approx(fitted.unseen[0])
    assert fitted.member.way in ("normalized", "mean", "mean_given", "mean_reversed")


def test_one_relation_alone():
    # The path 0 – 1 – 2 – 3 – 4 by "knows"; "sees" joins nodes of unlike labels.
    edges = np.hstack([PATH.edges, [[0, 0, 1], [3, 4, 4]]])
    graph = replace(PATH, edges=edges, relations=["knows"] * 4 + ["sees"] * 3)
    view = GraphView(PreparedGraph(graph, Scaling("none")), LABELS, "homophily")
    member = PropagationMember("mean:knows", 0.8)
    assert np.array_equal(member.probabilities(view), PropagationMember("mean", 0.8).probabilities(VIEW))
    supervision = Supervision(Split([0, 4], [1, 2, 3], [5]), 0)
    chosen = fit_propagation(view, supervision, np.array([0, 1])).member
    assert chosen.way == "mean:knows"
    again = PropagationMember.restore("label propagation", (6, 2, 6), chosen.description(), {})
    assert np.array_equal(again.probabilities(view), chosen.probabilities(view))


def test_no_node_is_judged_by_its_own_label_over_one_relation(monkeypatch):
    draw = np.random.default_rng(0)
    edges, y = draw.integers(0, 60, (2, 150)), draw.integers(0, 2, 60)
    relations, weights = draw.choice(["knows", "sees"], 150).tolist(), draw.exponential(size=150) + 0.1
    graph = Graph(edges=edges, x=None, y=y, relations=relations, weights=weights)
    parts, folds = Split(np.arange(40), np.arange(40, 60), []), np.arange(40) % 4
    prepared = PreparedGraph(graph, Scaling("none"))
    monkeypatch.setattr("otherhalf.estimators.members.propagation._ways", lambda graph: ["mean:knows"])
    monkeypatch.setattr("otherhalf.estimators.members.propagation.STRENGTHS", (0.9,))

    def unseen(codes):
        view = GraphView(prepared, TrainingLabels(np.arange(40), codes, 2), "homophily")
        return fit_propagation(view, Supervision(parts), folds).unseen

    before = unseen(y[:40])
    moved = False
    for node in range(40):
        codes = np.where(np.arange(40) == node, 1 - y[:40], y[:40])
        after = unseen(codes)
        assert np.array_equal(after[folds == folds[node]], before[folds == folds[node]])
        moved |= not np.array_equal(after, before)
    assert moved


def grown_view(*, directed: bool = False) -> GraphView:
    """PATH, the new nodes 6 (joined to 4) and 7 (joined to 6 alone), and 8 on its own."""
    edges = np.hstack([PATH.edges, [[4, 6], [6, 7]]])
    y = [*PATH.y, -1, -1, -1]
    graph = Graph(edges=edges, x=np.ones((9, 1)), y=y, classes=PATH.classes, directed=directed)
    return GraphView(PreparedGraph(graph, Scaling("none")), LABELS, "homophily")


@pytest.mark.parametrize("way", ["normalized", "mean"])
def test_kept_states_stay_and_new_nodes_take_theirs_from_neighbours(way):
    kept = PropagationMember(way, 0.8, torch.zeros(6, 2)).again(VIEW, Supervision(Split([0], [1], [2])), [])
    known = PropagationMember(way, 0.8).probabilities(VIEW)
    assert np.array_equal(kept.probabilities(VIEW), known)
    view = grown_view()
    a = view.graph.adjacency.toarray()
    degree = np.maximum(a.sum(axis=1), 1)
    p = a / np.sqrt(np.outer(degree, degree)) if way == "normalized" else a / degree[:, None]
    f = np.vstack([kept.states.numpy(), np.zeros((3, 2))])
    for _ in range(STEPS + 1):
        f[6:] = 0.8 * (p @ f)[6:]
    f = f + FREQUENCY_SHARE * np.array([0.5, 0.5])
    expected = f / f.sum(axis=1, keepdims=True)
    found = kept.probabilities(view)
    assert np.array_equal(found[:6], known)
    assert found == pytest.approx(expected, abs=1e-5)
    assert found[6:8].argmax(axis=1).tolist() == [1, 1]
    for nodes in ([7], [0, 6, 8], [2, 3], []):
        nodes = np.array(nodes, dtype=np.int64)
        assert np.array_equal(kept.probabilities_of(view, nodes), found[nodes])


@pytest.mark.parametrize("way", ["mean_given", "mean_reversed"])
def test_kept_states_of_a_directed_graph(way):
    view = grown_view(directed=True)
    states = torch.from_numpy(np.random.default_rng(0).random((6, 2), dtype=np.float32))
    member, graph = PropagationMember(way, 0.5, states), view.graph
    a = graph.adjacency_in("given" if way == "mean_given" else "reversed").toarray()
    f = np.vstack([states.numpy(), np.zeros((3, 2))])
    for _ in range(STEPS + 1):
        f[6:] = 0.5 * ((a / np.maximum(a.sum(axis=1), 1)[:, None]) @ f)[6:]
    f = f + FREQUENCY_SHARE * np.array([0.5, 0.5])
    assert member.probabilities(view) == pytest.approx(f / f.sum(axis=1, keepdims=True), abs=1e-5)


def test_kept_states_are_saved_and_checked():
    states = torch.rand(6, 2)
    member = PropagationMember("mean", 0.8, states)
    sizes = (6, 2, 6)
    again = PropagationMember.restore(member.name, sizes, member.description(), member.tensors())
    assert torch.equal(again.states, states)
    for wrong in (torch.rand(5, 2), torch.rand(6, 2).double()):
        with pytest.raises(ValueError, match="are not those of its nodes"):
            PropagationMember.restore(member.name, sizes, member.description(), {"states": wrong})
    assert PropagationMember("mean", 0.8).tensors() == {}
