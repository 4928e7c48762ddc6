"""The encoder: what it is made of, what its training sees, and how ``auto`` chooses."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from otherhalf.complement import encoder as encoder_module
from otherhalf.complement.encoder import AUTO, Encoder, build, fit_classifier, operators, pretrain
from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Graph, Split
from otherhalf.nn.inputs import Scaling, node_inputs
from otherhalf.nn.skeleton import Shape
from otherhalf.settings import EncoderSettings
from otherhalf.training import Checkpoint, History, TrainingSettings

KINDS = ["mlp", "gcn", "gat", "structure"]
CPU = torch.device("cpu")
SHAPE = Shape(hidden=16, dropout=0.5)


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


def test_operators_of_a_path_by_hand():
    path = Graph(edges=np.array([[0, 1], [1, 2]]), x=np.ones((3, 1)))
    (a,) = operators("gcn", path, CPU)
    s = 1 / np.sqrt(6)  # with self loops the degrees are 2, 3 and 2
    expected = torch.tensor([[1 / 2, s, 0], [s, 1 / 3, s], [0, s, 1 / 2]], dtype=torch.float32)
    torch.testing.assert_close(a.matrix.to_dense(), expected)
    (edge_index,) = operators("gat", path, CPU)
    both_ways_and_loops = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
    assert sorted(map(tuple, edge_index.T.tolist())) == both_ways_and_loops
    assert operators("mlp", path, CPU) == operators("structure", path, CPU) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_embedding_is_the_hidden_state_before_the_prediction(graph, inputs, kind):
    torch.manual_seed(0)
    module = build(kind, graph.num_features, graph.num_classes, graph.num_nodes, SHAPE)
    module.train()  # embedding must not depend on it
    z = Encoder(kind, module, History()).embed(graph, inputs)
    assert z.shape == (graph.num_nodes, 16)
    assert not z.requires_grad
    last = module.layers[-1]
    logits = last(z, *operators(kind, graph, CPU))
    torch.testing.assert_close(logits, module.eval()(inputs, *operators(kind, graph, CPU)))


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

    history = fit_classifier(Fixed(), (1.0,), graph, split, TrainingSettings(epochs=1))
    # Node 0 (class 0) has logits 2 : 0, node 1 (class 0) has 0 : 1.
    assert history.losses == pytest.approx([(np.log(1 + np.exp(-2)) + np.log(1 + np.exp(1))) / 2])
    # Node 2 (class 1) has 3 : 0 and is wrong, node 3 (class 1) has 0 : 0.5 and is right.
    accuracy, minus_loss = history.scores[0]
    assert accuracy == 0.5
    assert minus_loss == pytest.approx(-(np.log(1 + np.exp(3)) + np.log(1 + np.exp(-0.5))) / 2)


@pytest.mark.parametrize("kind", KINDS)
def test_pretraining_learns_and_keeps_its_best_epoch(graph, split, inputs, kind):
    encoder = pretrain(graph, split, inputs, encoder_settings(kind, epochs=40, lr=0.02), seed=0)
    assert encoder.kind == kind
    logits = encoder.module(inputs, *operators(kind, graph, CPU))
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

    monkeypatch.setattr(encoder_module, "fit_classifier", scripted)
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
