"""The encoder: what it is made of, what its training sees, and how ``auto`` chooses."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch.nn import functional as F

from otherhalf.complement import encoder as encoder_module
from otherhalf.complement.encoder import AUTO_KINDS, RUNGS, Encoder, pretrain
from otherhalf.complement.settings import EncoderSettings
from otherhalf.data.splits import split as make_split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.models.registry import MODELS, build
from otherhalf.nn.prepared import OPERATORS, PreparedGraph
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import Monitor, TrainingSettings
from otherhalf.training.supervised import Supervision

KINDS = ["mlp", "gcn", "gat", "structure"]
ARCHITECTURE = Architecture(hidden=16, dropout=0.5)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return contextual_sbm(num_nodes=120, num_classes=3, num_features=6, average_degree=6, signal=4.0, seed=1)


@pytest.fixture(scope="module")
def split(graph) -> Split:
    return make_split(graph, "uniform", seed=0)


@pytest.fixture(scope="module")
def prepared(graph) -> PreparedGraph:
    return prepare(graph)


def prepare(graph: Graph) -> PreparedGraph:
    return PreparedGraph(graph, Scaling.fit(graph.x, "auto"))


def encoder_settings(kind: str, epochs: int = 5, **options) -> EncoderSettings:
    return EncoderSettings(kind, ARCHITECTURE, TrainingSettings(epochs=epochs, **options))


def logits_of(encoder: Encoder, prepared: PreparedGraph) -> torch.Tensor:
    return encoder.module(*prepared.arguments(MODELS[encoder.kind].operators))


# ---------------------------------------------------------------------- its parts


@pytest.mark.parametrize("kind", KINDS)
def test_embedding_is_the_hidden_state_before_the_prediction(graph, prepared, kind):
    torch.manual_seed(0)
    module = build(kind, graph.num_features, graph.num_classes, graph.num_nodes, ARCHITECTURE)
    module.train()  # embedding must not depend on it
    z = Encoder(kind, module, History()).embed(prepared)
    assert z.shape == (graph.num_nodes, 16)
    assert not z.requires_grad
    last = module.layers[-1]
    arguments = prepared.arguments(MODELS[kind].operators)
    torch.testing.assert_close(last(z, *arguments[1:]), module.eval()(*arguments))


def test_only_the_structure_encoder_reads_adjacency_rows(graph, prepared):
    inputs = prepared.inputs
    without_edges = replace(inputs, neighbours=None)
    mlp = build("mlp", graph.num_features, 3, graph.num_nodes, ARCHITECTURE).eval()
    assert torch.equal(mlp(inputs), mlp(without_edges))
    structure = build("structure", graph.num_features, 3, graph.num_nodes, ARCHITECTURE)
    assert structure.trunk.neighbours.weight.shape == (graph.num_nodes, 16)


# ---------------------------------------------------------------------- fitting


@pytest.mark.parametrize("kind", ["auto", "gcn"])
def test_pretraining_selects_by_the_metric_it_is_given(kind):
    graph = contextual_sbm(num_nodes=120, num_classes=2, num_features=6, signal=0.5, homophily=0.6, seed=3)
    split, prepared = make_split(graph, "uniform", seed=0), prepare(graph)
    encoder = pretrain(prepared, encoder_settings(kind, epochs=20), Supervision(split, metric="roc_auc"))
    history = encoder.history
    assert history.best_epoch == max(range(history.epochs), key=lambda epoch: history.scores[epoch])
    probabilities = encoder.probabilities(prepared)[split.val]
    truth = roc_auc_score(graph.y[split.val], probabilities[:, 1])
    assert history.best_score[0] == pytest.approx(truth, abs=1e-3)  # probabilities may round to ties


@pytest.mark.parametrize("kind", KINDS)
def test_pretraining_learns_and_keeps_its_best_epoch(graph, split, prepared, kind):
    encoder = pretrain(prepared, encoder_settings(kind, epochs=40, lr=0.02), Supervision(split))
    assert encoder.kind == kind
    logits = logits_of(encoder, prepared)
    accuracy = float((logits.argmax(1).numpy() == graph.y)[split.val].mean())
    assert accuracy == pytest.approx(encoder.history.best_score[0])
    assert accuracy > 0.6  # one in three by chance
    val_loss = F.cross_entropy(logits[np.array(split.val)], torch.from_numpy(graph.y[split.val])).item()
    assert -val_loss == pytest.approx(encoder.history.best_score[1], abs=1e-6)


def test_a_seed_determines_the_encoder_and_the_callers_numbers_go_on(graph, split, prepared):
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first = pretrain(prepared, encoder_settings("gcn"), Supervision(split))
    assert torch.equal(torch.rand(2), expected)
    again = pretrain(prepared, encoder_settings("gcn"), Supervision(split))
    other = pretrain(prepared, encoder_settings("gcn"), Supervision(split, 1))
    assert first.history == again.history
    assert torch.equal(first.embed(prepared), again.embed(prepared))
    assert not torch.equal(first.embed(prepared), other.embed(prepared))


def test_labels_of_other_nodes_are_out_of_reach(graph, split, prepared):
    outside = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([split.train, split.val]))
    y = graph.y.copy()
    y[outside] = (y[outside] + 1) % 3
    changed = replace(graph, y=y, classes=graph.classes)
    first = pretrain(prepared, encoder_settings("structure"), Supervision(split))
    second = pretrain(prepare(changed), encoder_settings("structure"), Supervision(split))
    assert first.history == second.history
    assert torch.equal(first.embed(prepared), second.embed(prepare(changed)))


# ---------------------------------------------------------------------- auto


@pytest.mark.parametrize(
    ("scores", "chosen"),  # in the order of AUTO_KINDS
    [
        ([(0.5, -1.0), (0.7, -2.0), (0.6, -0.1), (0.6, -0.1)], "gcn"),
        ([(0.5, -1.0), (0.5, -0.9), (0.4, 0.0), (0.4, 0.0)], "gcn"),  # a tie: by the loss
        ([(0.5, -1.0), (0.5, -1.0), (0.5, -1.0), (0.5, -1.0)], "mlp"),  # the simplest stays
        ([(0.5, -1.0), (0.6, -1.0), (0.8, -1.0), (0.7, -1.0)], "gcn-plain"),
        ([(0.5, -1.0), (0.6, -1.0), (0.6, -1.0), (0.7, -1.0)], "structure"),
    ],
)
def test_auto_keeps_the_best_on_validation(graph, split, prepared, monkeypatch, scores, chosen):
    assert AUTO_KINDS == ("mlp", "gcn", "gcn-plain", "structure")
    script(monkeypatch, [[each] for each in scores])
    settings = encoder_settings("auto")
    architecture = replace(settings.architecture, norm="layer", residual=True)
    settings = replace(settings, architecture=architecture)
    encoder = pretrain(prepared, settings, Supervision(split))
    assert encoder.kind == chosen.removesuffix("-plain")
    plain = chosen.endswith("-plain")
    built = encoder.module.architecture
    assert (built.norm, built.residual) == (("none", False) if plain else ("layer", True))


class Script:
    """A training whose scores were written down beforehand."""

    def __init__(self, scores: list[tuple[float, float]]) -> None:
        self.scores, self.history = iter(scores), History()

    def run(self, until: int | None = None) -> History:
        for score in islice(self.scores, None if until is None else max(0, until - self.history.epochs)):
            self.history.losses.append(0.0)
            self.history.scores.append(list(score))
            if list(score) > self.history.best_score:
                self.history.best_epoch = self.history.epochs - 1
        return self.history


def script(monkeypatch, scores: list[list[tuple[float, float]]]) -> list[Script]:
    trainings = [Script(each) for each in scores]
    left = iter(trainings)
    monkeypatch.setattr(encoder_module, "supervised_training", lambda *_: next(left))
    return trainings


def test_kinds_that_fall_behind_are_not_trained_to_the_end(split, prepared, monkeypatch):
    assert RUNGS[:3] == ((20, 0.05), (40, 0.03), (80, 0.015))
    trainings = script(
        monkeypatch,
        [
            [(0.44, 0.0)] * 20 + [(0.99, 0.0)] * 80,  # 0.06 behind after 20 epochs
            [(0.46, 0.0)] * 100,  # 0.04 behind
            # 0.2 behind, and it has gained 0.2 in ten epochs; later 0.05, with 0.1 gained in twenty
            [(0.1, 0.0)] * 10 + [(0.3, 0.0)] * 10 + [(0.45, 0.0)] * 50 + [(0.9, 0.0)] * 30,
            [(0.50, 0.0)] * 100,
        ],
    )
    encoder = pretrain(prepared, encoder_settings("auto"), Supervision(split))
    assert encoder.history is trainings[2].history
    assert [each.history.epochs for each in trainings] == [20, 40, 100, 80]


def test_a_resumed_race_ends_like_one_that_was_not_stopped(split, prepared, monkeypatch):
    scores = [
        [(0.41, 0.0)] * 100,
        [(0.46, 0.0)] * 100,
        [(0.50, 0.0)] * 100,
        [(0.49, 0.0)] * 25 + [(0.9, 0.0)] * 75,  # goes on from a file, later than the others
    ]
    trainings = script(monkeypatch, scores)
    trainings[3].run(90)
    encoder = pretrain(prepared, encoder_settings("auto"), Supervision(split))
    assert encoder.history is trainings[3].history
    assert [each.history.epochs for each in trainings] == [20, 40, 40, 100]


@pytest.mark.parametrize("epochs", [5, 45])
def test_auto_gives_what_the_chosen_kind_gives_alone(graph, split, prepared, epochs):
    auto = pretrain(prepared, encoder_settings("auto", epochs), Supervision(split))
    settings = replace(encoder_settings(auto.kind, epochs), architecture=auto.module.architecture)
    alone = pretrain(prepared, settings, Supervision(split))
    assert auto.history == alone.history
    assert torch.equal(auto.embed(prepared), alone.embed(prepared))


def test_stages_are_reported_and_checkpointed_by_kind(split, prepared, tmp_path):
    steps = []
    monitor = Monitor(tmp_path, "run", lambda *step: steps.append(step))
    pretrain(prepared, encoder_settings("auto", epochs=2), Supervision(split, monitor=monitor))
    assert steps == [(f"encoder-{kind}", done, 2) for kind in AUTO_KINDS for done in (1, 2)]
    assert {path.stem for path in tmp_path.iterdir()} == {f"encoder-{kind}" for kind in AUTO_KINDS}


# ---------------------------------------------------------------------- own options


def test_own_options_reach_the_model_and_the_others_have_their_defaults(split, prepared):
    settings = replace(encoder_settings("appnp", epochs=1), own_options={"teleport": 0.5, "steps": None})
    module = pretrain(prepared, settings, Supervision(split)).module
    assert (module.steps, module.teleport) == (10, 0.5)


def test_kinds_that_read_the_same_operator_share_it(graph, split, monkeypatch):
    made = []
    name = "normalized_with_loops"
    make = OPERATORS[name]
    monkeypatch.setitem(OPERATORS, name, lambda adjacency: made.append(name) or make(adjacency))
    prepared = prepare(graph)
    pretrain(prepared, encoder_settings("auto", epochs=1), Supervision(split)).embed(prepared)
    assert made == [name]  # for gcn and gcn-plain, and for the embedding
