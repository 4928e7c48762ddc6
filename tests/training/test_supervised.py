"""Supervised training: which nodes teach, which select and by what; and what nothing can be learned from."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from otherhalf import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs, Scaling
from otherhalf.nn.models.registry import MODELS, build
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.training.loop import Monitor, TrainingSettings, seeded
from otherhalf.training.metrics import METRICS, Metric, score
from otherhalf.training.supervised import (
    Supervision,
    check_trainable,
    class_probabilities,
    fit_epochs,
    fit_supervised,
    unread_probabilities,
)

TWO = contextual_sbm(num_nodes=150, num_classes=2, num_features=6, homophily=0.6, signal=0.7, seed=4)
PARTS = make_split(TWO, seed=0)


def test_loss_is_of_training_nodes_and_score_of_validation_nodes():
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 0.5], [9.0, 0.0]])
    graph = Graph(edges=np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), x=np.ones((5, 1)), y=[0, 0, 1, 1, 0])
    split = Split(train=[0, 1], val=[2, 3], test=[4])

    class Fixed(torch.nn.Module):
        """Logits that training cannot move: its parameter counts zero times."""

        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1))

        def forward(self, scale):
            return logits * scale + 0 * self.weight

    history = fit_supervised(Fixed(), (1.0,), graph, TrainingSettings(epochs=1), Supervision(split))
    # Node 0 (class 0) has logits 2 : 0, node 1 (class 0) has 0 : 1.
    assert history.losses == pytest.approx([(np.log(1 + np.exp(-2)) + np.log(1 + np.exp(1))) / 2])
    # Node 2 (class 1) has 3 : 0 and is wrong, node 3 (class 1) has 0 : 0.5 and is right.
    accuracy, minus_loss = history.scores[0]
    assert accuracy == 0.5
    assert minus_loss == pytest.approx(-(np.log(1 + np.exp(3)) + np.log(1 + np.exp(-0.5))) / 2)


def log_loss(probabilities, y):
    assert np.allclose(probabilities.sum(axis=1), 1)  # not logits
    return float(-np.log(probabilities[np.arange(len(y)), y]).mean())


class Scripted(torch.nn.Module):
    """Gives the next of its logits whenever it is evaluated; its one weight counts the training steps."""

    def __init__(self, *evaluations):
        super().__init__()
        self.left = iter(evaluations)
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self):
        if self.training:
            return torch.zeros(8, 2) + torch.stack([self.weight, -self.weight], dim=1)
        margins = torch.tensor([0.0, 0.0, *next(self.left), 0.0, 0.0])
        return torch.stack([torch.zeros(8), margins], dim=1)


EIGHT = Graph(
    edges=np.array([[0, 2, 4, 6], [1, 3, 5, 7]]), x=np.ones((8, 1)), y=np.array([0, 1, 0, 0, 1, 1, 0, 1])
)
EIGHT_SPLIT = Split(train=[0, 1], val=[2, 3, 4, 5], test=[6, 7])
# First three of four right, but 2 of 4 pairs in order; then two right, and all in order; then neither.
EPOCHS = ([-1.0, -0.5, -2.0, 1.0], [1.0, 2.0, 3.0, 4.0], [1.0, 1.0, -1.0, -1.0])


def val_loss(margins):
    signs = np.array([-1, -1, 1, 1])  # the classes of the four validation nodes
    return float(np.log1p(np.exp(-signs * np.array(margins))).mean())


@pytest.mark.parametrize(("metric", "best"), [("accuracy", 0), ("roc_auc", 1)])
def test_the_metric_decides_which_epoch_is_kept(metric, best):
    settings = TrainingSettings(epochs=3)
    history = fit_supervised(Scripted(*EPOCHS), (), EIGHT, settings, Supervision(EIGHT_SPLIT, metric=metric))
    expected = {"accuracy": [0.75, 0.5, 0.0], "roc_auc": [0.5, 1.0, 0.0]}
    assert [first for first, _ in history.scores] == expected[metric]
    assert history.best_epoch == best


@pytest.mark.parametrize("larger_is_better", [False, True])
def test_a_new_metric_that_needs_probabilities_selects_by_its_own_direction(monkeypatch, larger_is_better):
    metric = Metric(
        "log_loss", "log loss", log_loss, needs_probabilities=True, larger_is_better=larger_is_better
    )
    monkeypatch.setitem(METRICS, "log_loss", metric)
    values = [val_loss(margins) for margins in EPOCHS]
    assert len(set(values)) == 3
    settings = TrainingSettings(epochs=3)
    history = fit_supervised(
        Scripted(*EPOCHS), (), EIGHT, settings, Supervision(EIGHT_SPLIT, metric="log_loss")
    )
    assert history.best_epoch == (np.argmax(values) if larger_is_better else np.argmin(values))
    sign = 1 if larger_is_better else -1
    assert [first for first, _ in history.scores] == pytest.approx([sign * value for value in values])


def test_a_tie_in_the_metric_is_decided_by_the_loss():
    ties = ([-3.0, -3.0, 0.1, 0.1], [-1.0, -1.0, 1.0, 1.0], [-0.1, -0.1, 0.1, 0.1])  # all four right
    settings = TrainingSettings(epochs=3)
    history = fit_supervised(Scripted(*ties), (), EIGHT, settings, Supervision(EIGHT_SPLIT))
    assert history.scores == [[1.0, pytest.approx(-val_loss(m), abs=1e-6)] for m in ties]
    assert history.best_epoch == int(np.argmin([val_loss(margins) for margins in ties]))


def test_an_unknown_metric_is_refused_before_anything_is_trained():
    module = Scripted(*EPOCHS)
    with pytest.raises(InputError, match="metric must be one of accuracy, roc_auc, "):
        fit_supervised(module, (), EIGHT, TrainingSettings(epochs=3), Supervision(EIGHT_SPLIT, metric="f1"))
    assert float(module.weight.detach()) == 0


def test_the_stage_is_reported():
    steps = []
    monitor = Monitor(on_step=lambda *step: steps.append(step))
    by = Supervision(EIGHT_SPLIT, monitor=monitor)
    fit_supervised(Scripted(*EPOCHS), (), EIGHT, TrainingSettings(epochs=3), by, stage="encoder")
    assert steps == [("encoder", done, 3) for done in (1, 2, 3)]


def test_labels_of_other_nodes_are_out_of_reach():
    changed = Graph(edges=EIGHT.edges, x=EIGHT.x, y=[0, 1, 0, 0, 1, 1, -1, 0])
    torch.manual_seed(0)
    start = torch.nn.Linear(1, 2).state_dict()
    results = []
    for graph in (EIGHT, changed):
        module = torch.nn.Linear(1, 2)
        module.load_state_dict(start)
        x = torch.arange(8.0)[:, None]
        history = fit_supervised(module, (x,), graph, TrainingSettings(epochs=5), Supervision(EIGHT_SPLIT))
        results.append((history, module.weight.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", ["mlp", "gcn"])
def test_training_keeps_the_epoch_with_the_best_roc_auc(kind):
    arguments = PreparedGraph(TWO, Scaling.fit(TWO.x, "auto")).arguments(MODELS[kind].operators)
    seen = []

    def remember(stage, done, total):
        with torch.no_grad():
            margin = module.eval()(*arguments).diff(dim=1).squeeze(1).numpy()
        seen.append(roc_auc_score(TWO.y[PARTS.val], margin[PARTS.val]))

    with seeded(0):
        module = build(kind, 6, 2, TWO.num_nodes, Architecture(hidden=8))
        plan = TrainingSettings(epochs=25)
        monitor = Monitor(on_step=remember)
        history = fit_supervised(
            module, arguments, TWO, plan, Supervision(PARTS, metric="roc_auc", monitor=monitor)
        )
    assert [first for first, _ in history.scores] == pytest.approx(seen, abs=1e-9)
    assert len(set(seen)) > 3
    assert seen[history.best_epoch] == pytest.approx(max(seen), abs=1e-9)
    assert history.best_epoch == max(range(25), key=lambda epoch: history.scores[epoch])
    best = score("roc_auc", module(*arguments).detach().numpy()[PARTS.val], TWO.y[PARTS.val])
    assert best == history.best_score[0]  # its weights are the ones that were kept


# ---------------------------------------------------------------------- probabilities


def test_probabilities_are_the_softmax_in_evaluation_mode():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(3, 2)).train()
    x = torch.randn(5, 3)
    probabilities = class_probabilities(module, x)
    assert not module.training
    expected = torch.softmax(module(x), dim=1).detach().numpy()
    np.testing.assert_array_equal(probabilities, expected)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)


# ---------------------------------------------------------------------- what cannot be learned from

FIVE = Graph(edges=np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), x=np.ones((5, 1)), y=["a", "b", "a", "b", ""])


def test_a_fair_split_passes():
    check_trainable(FIVE, Split(train=[0, 1], val=[2], test=[3]))
    check_trainable(FIVE, Split(train=[0, 1], val=[2], test=[4]))  # a test node needs no label


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        (
            Split(train=[], val=[2], test=[3]),
            "the split has no train nodes to learn from",
        ),
        (
            Split(train=[0, 1], val=[], test=[3]),
            "the split has no val nodes to stop and select by: give a split with some",
        ),
        (Split(train=[0, 1, 4], val=[2], test=[]), "a train node of the split has no label"),
        (Split(train=[0, 1], val=[4], test=[]), "a val node of the split has no label"),
        (Split(train=[0, 2], val=[1], test=[]), "all training nodes have one class"),
        (Split(train=[0, 1], val=[2], test=[7]), "the split names node 7, but the graph has 5 nodes"),
    ],
)
def test_a_split_that_cannot_train_is_refused(split, sentence):
    with pytest.raises(InputError, match=sentence):
        check_trainable(FIVE, split)


@pytest.mark.parametrize(
    ("y", "sentence"), [(None, "no node has a label"), (["a"] * 5, "every labelled node has the class 'a'")]
)
def test_a_graph_without_two_classes_is_refused(y, sentence):
    graph = Graph(edges=FIVE.edges, x=FIVE.x, y=y)
    with pytest.raises(InputError, match=sentence):
        check_trainable(graph, Split(train=[0, 1], val=[2], test=[3]))


def test_all_epochs_on_given_nodes_and_no_other_label_is_read():
    """fit_epochs: as many steps as asked, the last weights kept, labels of other nodes irrelevant."""
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    nodes = np.array([0, 1, 2, 3])

    def trained(y):
        graph = Graph(edges=[[0, 1], [1, 2]], x=x.numpy(), y=y, classes=np.array([0, 1]))
        with seeded(0):
            module = nn.Linear(3, 2)
            history = fit_epochs(module, (x,), graph, TrainingSettings(epochs=7, patience=1), nodes)
        return module, history

    (one, history), (other, _) = trained([0, 1, 0, 1, 0, 1]), trained([0, 1, 0, 1, 1, -1])
    assert history.epochs == 7
    assert history.best_epoch == 6
    assert torch.equal(one.weight, other.weight)
    reference = torch.optim.Adam
    with seeded(0):
        literal = nn.Linear(3, 2)
        optimizer = reference(literal.parameters(), lr=0.01, weight_decay=5e-4)
        for _ in range(7):
            optimizer.zero_grad()
            nn.functional.cross_entropy(literal(x[:4]), torch.tensor([0, 1, 0, 1])).backward()
            optimizer.step()
    assert torch.allclose(one.weight, literal.weight, atol=1e-6)


# ---------------------------------------------------------------------- labels among the inputs


class OwnLabel(nn.Module):
    """A classifier that can do nothing but repeat the label that it is shown."""

    def __init__(self, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(classes, classes))
        self.seen = []

    def forward(self, inputs):
        self.seen.append(inputs.labels.clone())
        return inputs.labels @ self.weight


def shown_labels(nodes):
    labels = torch.zeros(TWO.num_nodes, TWO.num_classes)
    labels[nodes, TWO.y[nodes]] = 1.0
    return NodeInputs(torch.ones(TWO.num_nodes, 1)).showing(labels)


@pytest.mark.parametrize("train", [fit_supervised, fit_epochs])
def test_a_node_that_teaches_does_not_read_its_own_label(train):
    """With its own label hidden, repeating it cannot be learned: the weights get no gradient."""
    module, nodes = OwnLabel(TWO.num_classes), np.array(PARTS.train)
    arguments, settings = (shown_labels(nodes),), TrainingSettings(epochs=4, weight_decay=0.0)
    with seeded(0):
        if train is fit_supervised:
            train(module, arguments, TWO, settings, Supervision(PARTS))
        else:
            train(module, arguments, TWO, settings, nodes)
    assert torch.equal(module.weight.detach(), torch.ones_like(module.weight))
    steps = [seen for seen in module.seen if not torch.equal(seen, arguments[0].labels)]
    assert len(steps) == 4
    counts = [int(step.sum()) for step in steps]
    assert all(0.3 * len(nodes) < count < 0.7 * len(nodes) for count in counts)  # about a half stays
    assert not torch.equal(steps[0], steps[1])  # another one in each step


def test_no_prediction_reads_the_label_of_its_own_node():
    nodes = np.array(PARTS.train)
    module = OwnLabel(TWO.num_classes)
    with torch.no_grad():
        module.weight.copy_(5 * torch.eye(TWO.num_classes))
    arguments = (shown_labels(nodes),)
    told = class_probabilities(module, *arguments)[nodes]
    assert told[np.arange(len(nodes)), TWO.y[nodes]].min() > 0.9  # it would repeat its label
    np.testing.assert_allclose(unread_probabilities(module, arguments, nodes), 0.5)


def test_without_labels_among_the_inputs_all_nodes_are_predicted_at_once():
    prepared = PreparedGraph(TWO, Scaling.fit(TWO.x, "auto"))
    module = build("mlp", *prepared.sizes, Architecture(hidden=8))
    arguments = prepared.arguments(MODELS["mlp"].operators)
    expected = class_probabilities(module, *arguments)
    assert np.array_equal(unread_probabilities(module, arguments, PARTS.train), expected)


# ---------------------------------------------------------------------- weights of classes


def test_a_node_of_a_heavy_class_counts_more():
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 0.5]])
    graph = Graph(edges=np.array([[0, 1, 2], [1, 2, 3]]), x=np.ones((4, 1)), y=[0, 1, 0, 1])

    class Fixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(1))

        def forward(self):
            return logits + 0 * self.weight

    heavy = np.array([1, 3], dtype=np.float32)
    by = Supervision(Split([0, 1], [2, 3], []), class_weights=heavy)
    once = TrainingSettings(epochs=1)
    history = fit_supervised(Fixed(), (), graph, once, by)
    # Nodes 0 and 1 are right by 2 and 1, nodes 2 and 3 by 3 and 0.5; the second of each counts three times.
    losses = np.log(1 + np.exp([-2, -1, -3, -0.5]))
    expected = (losses[0] + 3 * losses[1]) / 4
    assert history.losses == pytest.approx([expected])
    assert history.scores[0][1] == pytest.approx(-(losses[2] + 3 * losses[3]) / 4)
    again = fit_epochs(Fixed(), (), graph, once, np.array([0, 1]), class_weights=heavy)
    assert again.losses == pytest.approx([expected])


def test_weights_of_one_change_no_bit():
    prepared = PreparedGraph(TWO, Scaling.fit(TWO.x, "none"))

    def trained(weights):
        with seeded(0):
            module = build("gcn", *TWO.sizes, Architecture(hidden=8), {})
            arguments = prepared.arguments(MODELS["gcn"].operators)
            by = Supervision(PARTS, class_weights=weights)
            fit_supervised(module, arguments, TWO, TrainingSettings(epochs=10), by)
        return class_probabilities(module, *arguments)

    assert np.array_equal(trained(None), trained(np.ones(2, dtype=np.float32)))
    assert not np.array_equal(trained(None), trained(np.array([1, 2], dtype=np.float32)))


class Hidden(nn.Module):
    """A model that does not look like one without edges."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *arguments):
        return self.model(*arguments)


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
@pytest.mark.parametrize("trunk", ["none", "features", "features+neighbours"])
def test_a_model_without_edges_is_judged_by_the_rows_of_validation_nodes_alone(norm, trunk, monkeypatch):
    prepared = PreparedGraph(TWO, Scaling.of(TWO, "auto"))
    settings = TrainingSettings(epochs=6)
    histories, seen = [], []
    rows = NodeInputs.rows
    monkeypatch.setattr(NodeInputs, "rows", lambda self, nodes: seen.append(len(nodes)) or rows(self, nodes))
    for wrap in (Hidden, lambda model: model):
        with seeded(0):
            architecture = Architecture(hidden=40, norm=norm, trunk=trunk)
            model = build("mlp", *prepared.sizes, architecture, {})
            histories.append(
                fit_supervised(wrap(model), (prepared.inputs,), TWO, settings, Supervision(PARTS))
            )
    everyone, alone = histories
    assert seen == [len(PARTS.val)]
    assert alone.losses == everyone.losses
    assert [score[0] for score in alone.scores] == [score[0] for score in everyone.scores]
    np.testing.assert_allclose(alone.scores, everyone.scores, rtol=1e-6)
