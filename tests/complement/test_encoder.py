"""The encoder: what it is made of, what its training sees, and how ``auto`` chooses."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch.nn import functional as F

from otherhalf.complement import encoder as encoder_module
from otherhalf.complement.encoder import AUTO, Encoder, fit_supervised, pretrain
from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.settings import EncoderSettings
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling, node_inputs
from otherhalf.nn.models.registry import build, operators
from otherhalf.training.loop import Checkpoint, History, TrainingSettings

KINDS = ["mlp", "gcn", "gat", "structure"]
SHAPE = Architecture(hidden=16, dropout=0.5)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return contextual_sbm(num_nodes=120, num_classes=3, num_features=6, average_degree=6, signal=4.0, seed=1)


@pytest.fixture(scope="module")
def split(graph) -> Split:
    return make_split(graph, "uniform", seed=0)


@pytest.fixture(scope="module")
def inputs(graph):
    return node_inputs(graph, Scaling.fit(graph.x, "auto"))


def encoder_settings(kind: str, epochs: int = 5, **options) -> EncoderSettings:
    return EncoderSettings(kind, SHAPE, TrainingSettings(epochs=epochs, **options))


# ---------------------------------------------------------------------- its parts


@pytest.mark.parametrize("kind", KINDS)
def test_embedding_is_the_hidden_state_before_the_prediction(graph, inputs, kind):
    torch.manual_seed(0)
    module = build(kind, graph.num_features, graph.num_classes, graph.num_nodes, SHAPE)
    module.train()  # embedding must not depend on it
    z = Encoder(kind, module, History()).embed(graph, inputs)
    assert z.shape == (graph.num_nodes, 16)
    assert not z.requires_grad
    last = module.layers[-1]
    logits = last(z, *operators(kind, graph, inputs))
    torch.testing.assert_close(logits, module.eval()(inputs, *operators(kind, graph, inputs)))


def test_only_the_structure_encoder_reads_adjacency_rows(graph, inputs):
    without_edges = replace(inputs, neighbours=None)
    mlp = build("mlp", graph.num_features, 3, graph.num_nodes, SHAPE).eval()
    assert torch.equal(mlp(inputs), mlp(without_edges))
    structure = build("structure", graph.num_features, 3, graph.num_nodes, SHAPE)
    assert structure.trunk.neighbours.weight.shape == (graph.num_nodes, 16)


# ---------------------------------------------------------------------- fitting


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

    history = fit_supervised(Fixed(), (1.0,), graph, split, TrainingSettings(epochs=1))
    # Node 0 (class 0) has logits 2 : 0, node 1 (class 0) has 0 : 1.
    assert history.losses == pytest.approx([(np.log(1 + np.exp(-2)) + np.log(1 + np.exp(1))) / 2])
    # Node 2 (class 1) has 3 : 0 and is wrong, node 3 (class 1) has 0 : 0.5 and is right.
    accuracy, minus_loss = history.scores[0]
    assert accuracy == 0.5
    assert minus_loss == pytest.approx(-(np.log(1 + np.exp(3)) + np.log(1 + np.exp(-0.5))) / 2)


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


@pytest.mark.parametrize(("metric", "best"), [("accuracy", 0), ("roc_auc", 1)])
def test_the_metric_decides_which_epoch_is_kept(metric, best):
    y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    graph = Graph(edges=np.array([[0, 2, 4, 6], [1, 3, 5, 7]]), x=np.ones((8, 1)), y=y)
    split = Split(train=[0, 1], val=[2, 3, 4, 5], test=[6, 7])
    # First three of four right, but 2 of 4 pairs in order; then two right, and all in order; then neither.
    module = Scripted([-1.0, -0.5, -2.0, 1.0], [1.0, 2.0, 3.0, 4.0], [1.0, 1.0, -1.0, -1.0])
    history = fit_supervised(module, (), graph, split, TrainingSettings(epochs=3), metric=metric)
    expected = {"accuracy": [0.75, 0.5, 0.0], "roc_auc": [0.5, 1.0, 0.0]}
    assert [first for first, _ in history.scores] == expected[metric]
    assert history.best_epoch == best


@pytest.mark.parametrize("kind", ["auto", "gcn"])
def test_pretraining_selects_by_the_metric_it_is_given(kind):
    graph = contextual_sbm(num_nodes=120, num_classes=2, num_features=6, signal=0.5, homophily=0.6, seed=3)
    split, inputs = make_split(graph, "uniform", seed=0), node_inputs(graph, Scaling.fit(graph.x, "auto"))
    encoder = pretrain(graph, split, inputs, encoder_settings(kind, epochs=20), seed=0, metric="roc_auc")
    history = encoder.history
    assert history.best_epoch == max(range(history.epochs), key=lambda epoch: history.scores[epoch])
    probabilities = encoder.probabilities(graph, inputs)[split.val]
    truth = roc_auc_score(graph.y[split.val], probabilities[:, 1])
    assert history.best_score[0] == pytest.approx(truth, abs=1e-3)  # probabilities may round to ties


@pytest.mark.parametrize("kind", KINDS)
def test_pretraining_learns_and_keeps_its_best_epoch(graph, split, inputs, kind):
    encoder = pretrain(graph, split, inputs, encoder_settings(kind, epochs=40, lr=0.02), seed=0)
    assert encoder.kind == kind
    logits = encoder.module(inputs, *operators(kind, graph, inputs))
    accuracy = float((logits.argmax(1).numpy() == graph.y)[split.val].mean())
    assert accuracy == pytest.approx(encoder.history.best_score[0])
    assert accuracy > 0.6  # one in three by chance
    val_loss = F.cross_entropy(logits[np.array(split.val)], torch.from_numpy(graph.y[split.val])).item()
    assert -val_loss == pytest.approx(encoder.history.best_score[1], abs=1e-6)


def test_a_seed_determines_the_encoder_and_the_callers_numbers_go_on(graph, split, inputs):
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first = pretrain(graph, split, inputs, encoder_settings("gcn"), seed=0)
    assert torch.equal(torch.rand(2), expected)
    again = pretrain(graph, split, inputs, encoder_settings("gcn"), seed=0)
    other = pretrain(graph, split, inputs, encoder_settings("gcn"), seed=1)
    assert first.history == again.history
    assert torch.equal(first.embed(graph, inputs), again.embed(graph, inputs))
    assert not torch.equal(first.embed(graph, inputs), other.embed(graph, inputs))


def test_labels_of_other_nodes_are_out_of_reach(graph, split, inputs):
    outside = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([split.train, split.val]))
    y = graph.y.copy()
    y[outside] = (y[outside] + 1) % 3
    changed = replace(graph, y=y, classes=graph.classes)
    first = pretrain(graph, split, inputs, encoder_settings("structure"), seed=0)
    second = pretrain(changed, split, inputs, encoder_settings("structure"), seed=0)
    assert first.history == second.history
    assert torch.equal(first.embed(graph, inputs), second.embed(changed, inputs))


# ---------------------------------------------------------------------- auto


@pytest.mark.parametrize(
    ("scores", "chosen"),  # in the order of AUTO
    [
        ([(0.5, -1.0), (0.7, -2.0), (0.6, -0.1), (0.6, -0.1)], "gcn"),
        ([(0.5, -1.0), (0.5, -0.9), (0.4, 0.0), (0.4, 0.0)], "gcn"),  # a tie: by the loss
        ([(0.5, -1.0), (0.5, -1.0), (0.5, -1.0), (0.5, -1.0)], "mlp"),  # the simplest stays
        ([(0.5, -1.0), (0.6, -1.0), (0.8, -1.0), (0.7, -1.0)], "gcn-plain"),
        ([(0.5, -1.0), (0.6, -1.0), (0.6, -1.0), (0.7, -1.0)], "structure"),
    ],
)
def test_auto_keeps_the_best_on_validation(graph, split, inputs, monkeypatch, scores, chosen):
    assert AUTO == ("mlp", "gcn", "gcn-plain", "structure")
    left = iter(scores)

    def scripted(module, *args, **kwargs):
        return History(losses=[0.0], scores=[list(next(left))], best_epoch=0)

    monkeypatch.setattr(encoder_module, "fit_supervised", scripted)
    settings = encoder_settings("auto")
    settings = replace(settings, shape=replace(settings.shape, norm="layer", residual=True))
    encoder = pretrain(graph, split, inputs, settings, seed=0)
    assert encoder.kind == chosen.removesuffix("-plain")
    plain = chosen.endswith("-plain")
    shape = encoder.module.shape
    assert (shape.norm, shape.residual) == (("none", False) if plain else ("layer", True))


def test_auto_gives_what_the_chosen_kind_gives_alone(graph, split, inputs):
    auto = pretrain(graph, split, inputs, encoder_settings("auto"), seed=0)
    settings = replace(encoder_settings(auto.kind), shape=auto.module.shape)
    alone = pretrain(graph, split, inputs, settings, seed=0)
    assert torch.equal(auto.embed(graph, inputs), alone.embed(graph, inputs))


def test_stages_are_told_and_checkpointed_by_kind(graph, split, inputs, tmp_path):
    told = []
    pretrain(
        graph,
        split,
        inputs,
        encoder_settings("auto", epochs=2),
        seed=0,
        checkpoint=lambda stage: Checkpoint(tmp_path / f"{stage}.safetensors", "run"),
        on_epoch=lambda *step: told.append(step),
    )
    assert told == [(f"encoder-{kind}", done, 2) for kind in AUTO for done in (1, 2)]
    assert {path.stem for path in tmp_path.iterdir()} == {f"encoder-{kind}" for kind in AUTO}
