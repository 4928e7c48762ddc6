"""The baselines behind the estimator's face."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from otherhalf import Graph, InputError, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.baseline import PLAIN, BaselineClassifier, BaselineSettings
from otherhalf.estimators.presets import BEST
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import node_inputs
from otherhalf.nn.models.registry import operators
from otherhalf.training.loop import TrainingSettings

NAMES = np.array(["red", "blue", "green"])
SBM = contextual_sbm(num_nodes=300, num_classes=3, num_features=8, homophily=0.8, signal=3.0, seed=2)
KNOWN = 240
INSIDE = (SBM.edges < KNOWN).all(axis=0)
GRAPH = Graph(edges=SBM.edges[:, INSIDE], x=SBM.x[:KNOWN], y=NAMES[SBM.y[:KNOWN]])
SPLIT = split(GRAPH, seed=0)
WALKS = {
    "appnp": {"steps": 10, "teleport": 0.1},
    "gprgnn": {"steps": 10, "teleport": 0.1, "walk_dropout": 0.0},
    "chebynet": {"steps": 2},
}
READ_ROWS = ("linkx", "acmgcn", "structure")


def quick(kind, **options):
    return BaselineClassifier(kind, **{"hidden": 16, "epochs": 40, "patience": 40, **options})


def test_the_kinds():
    assert (
        *("mlp", "gcn", "gat", "appnp", "sage", "chebynet", "gprgnn", "jknet", "linkx", "acmgcn"),
        "structure",
    ) == PLAIN


# ---------------------------------------------------------------------- manners


def test_manners():
    names = list(inspect.signature(BaselineClassifier).parameters)
    given = {name: object() for name in names}
    assert vars(BaselineClassifier(**given)) == given
    assert BaselineClassifier(**given).get_params() == given
    model = quick("mlp", seed=3)
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert (copy.kind, copy.seed, copy.hidden, copy.epochs, copy.lr) == ("mlp", 3, 16, 40, None)
    with pytest.raises(NotFittedError):
        model.predict(GRAPH)
    assert model.fit(GRAPH, SPLIT) is model
    learned = set(vars(model)) - set(names)
    assert all(name.endswith("_") or name.startswith("_") for name in learned)
    assert model.get_params() == copy.get_params()  # fitting leaves what was said as it was
    assert model.history_.epochs == 40
    assert set(model.seconds_) == {"total"}
    with pytest.raises(NotFittedError):
        clone(model).predict(GRAPH)


def test_every_argument_but_the_kind_is_by_name():
    kinds = [p.kind for p in inspect.signature(BaselineClassifier).parameters.values()]
    assert kinds[1:] == [inspect.Parameter.KEYWORD_ONLY] * (len(kinds) - 1)


def test_set_params():
    model = quick("mlp").set_params(kind="chebynet", steps=3)
    assert model.resolved_settings().walks == {"steps": 3}


def test_progress_is_told_by_the_name_of_the_kind():
    told = []
    quick("sage", epochs=3).fit(GRAPH, SPLIT, on_step=lambda *step: told.append(step))
    assert told == [("sage", done, 3) for done in (1, 2, 3)]


# ---------------------------------------------------------------------- learning


@pytest.mark.parametrize("kind", PLAIN)
def test_each_kind_learns_and_takes_new_nodes(kind):
    model = quick(kind).fit(GRAPH, SPLIT)
    assert model.score(GRAPH, SPLIT.test) > 0.8  # chance would give 1/3
    probabilities = model.predict_proba(SBM)
    assert probabilities.shape == (300, 3)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert np.mean(model.predict(SBM)[KNOWN:] == NAMES[SBM.y[KNOWN:]]) > 0.8
    assert set(model.predict(GRAPH)) == set(NAMES)


@pytest.mark.parametrize("kind", READ_ROWS)
def test_rows_of_new_nodes_are_over_the_known_ones(kind):
    model = quick(kind, epochs=3).fit(GRAPH, SPLIT)
    widths = [p.shape[0] for name, p in model._module.named_parameters() if row_weight(name)]
    assert widths
    assert set(widths) == {KNOWN}
    among_new = (SBM.edges >= KNOWN).all(axis=0)
    assert among_new.any()
    without = Graph(edges=SBM.edges[:, ~among_new], x=SBM.x)
    cut = Graph(edges=SBM.edges[:, INSIDE], x=SBM.x)
    whole, between_known, alone = (model.predict_proba(graph)[KNOWN:] for graph in (SBM, without, cut))
    assert np.array_equal(whole, between_known) == (kind != "acmgcn")  # which also takes means over all nodes
    assert not np.array_equal(whole, alone)


def row_weight(name):
    return name.endswith(("trunk.neighbours.weight", "structure.weight"))


@pytest.mark.parametrize("kind", ["gat", "acmgcn", "structure"])
def test_nodes_are_known_by_their_ids(kind):
    ids = np.array([f"n{i}" for i in range(KNOWN)])
    named = replace(GRAPH, ids=ids)
    model = quick(kind, epochs=3).fit(named, SPLIT)
    order = np.random.default_rng(0).permutation(KNOWN)
    place = np.argsort(order)
    shuffled = Graph(edges=place[GRAPH.edges], x=GRAPH.x[order], ids=ids[order])
    np.testing.assert_allclose(
        model.predict_proba(shuffled), model.predict_proba(named)[order], atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("kind", PLAIN)
def test_one_seed_one_model(kind):
    fits = [quick(kind, seed=seed, epochs=4).fit(GRAPH, SPLIT) for seed in (0, 0, 1)]
    probabilities = [model.predict_proba(GRAPH) for model in fits]
    assert fits[0].history_ == fits[1].history_
    assert np.array_equal(probabilities[0], probabilities[1])
    assert not np.array_equal(probabilities[0], probabilities[2])


@pytest.mark.parametrize("kind", PLAIN)
def test_test_labels_play_no_part(kind):
    y = GRAPH.y.copy()
    y[SPLIT.test] = (y[SPLIT.test] + 1) % 3
    other = Graph(edges=GRAPH.edges, x=GRAPH.x, y=y, classes=GRAPH.classes)
    one, two = (quick(kind, epochs=4).fit(graph, SPLIT).predict_proba(graph) for graph in (GRAPH, other))
    assert np.array_equal(one, two)


def test_the_usual_split_is_the_uniform_one_of_the_seed():
    one = quick("mlp", seed=5, epochs=4).fit(GRAPH)
    two = quick("mlp", seed=5, epochs=4).fit(GRAPH, split(GRAPH, "uniform", seed=5))
    assert one.history_ == two.history_


def test_the_callers_random_numbers_go_on():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    quick("gat", epochs=2).fit(GRAPH, SPLIT)
    assert torch.equal(torch.rand(2), expected)


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("kind", PLAIN)
def test_what_is_not_said_is_as_in_goals_own_encoder(kind):
    usual = BEST.complement.encoder
    expected = BaselineSettings(kind, "auto", usual.shape, usual.training, WALKS.get(kind, {}))
    assert BaselineClassifier(kind).resolved_settings() == expected


def test_what_is_said_is_taken_even_where_it_is_nothing():
    settings = BaselineClassifier(
        "appnp", residual=False, dropout=0.0, weight_decay=0.0, teleport=0.0, norm="none", scaling="row"
    ).resolved_settings()
    usual = BEST.complement.encoder
    assert settings.shape == replace(usual.shape, residual=False, dropout=0.0, norm="none")
    assert settings.training == replace(usual.training, weight_decay=0.0)
    assert settings.walks == {"steps": 10, "teleport": 0.0}
    assert settings.scaling == "row"


@pytest.mark.parametrize("kind", PLAIN)
def test_the_frame_reaches_the_module(kind):
    options = {"hidden": 24, "layers": 3, "dropout": 0.3, "norm": "batch", "residual": True}
    model = quick(kind, epochs=1, **options).fit(GRAPH, SPLIT)
    module, shape = model._module, model._module.shape
    assert {name: getattr(shape, name) for name in options} == options
    assert model.settings_.shape == Architecture(**options)
    linear = shape.output == "linear"
    widths = [24, 24, 24] if linear else [24, 24, 3]
    first = 24 if module.trunk is not None else 8
    residuals = [tuple(r.weight.shape) for r in module.residuals]
    assert residuals == list(zip([first, 24, 24], widths, strict=True))
    assert len(module.layers) == 3
    norms = [*module.norms, *([module.trunk_norm] if module.trunk is not None else [])]
    assert len(norms) == (3 if linear or module.trunk is not None else 2)
    assert all(isinstance(norm, torch.nn.BatchNorm1d) and norm.num_features == 24 for norm in norms)


@pytest.mark.parametrize("kind", PLAIN)
def test_without_norm_and_residual_there_is_none(kind):
    module = quick(kind, epochs=1, norm="none", residual=False).fit(GRAPH, SPLIT)._module
    assert module.residuals is None
    assert not any(isinstance(m, torch.nn.LayerNorm | torch.nn.BatchNorm1d) for m in module.modules())


@pytest.mark.parametrize("kind", PLAIN)
def test_dropout_is_at_work_in_training_and_only_there(kind):
    def outputs(dropout):
        model = quick(kind, epochs=1, dropout=dropout).fit(GRAPH, SPLIT)
        inputs = node_inputs(GRAPH, model._scaling)
        arguments = inputs, *operators(kind, GRAPH, inputs)
        with torch.no_grad():
            model._module.train()
            trained = [model._module(*arguments) for _ in range(2)]
            model._module.eval()
            return trained, [model._module(*arguments) for _ in range(2)]

    (one, two), (three, four) = outputs(0.5)
    assert not torch.equal(one, two)
    assert torch.equal(three, four)
    (one, two), (three, _) = outputs(0.0)
    assert torch.equal(one, two)
    assert torch.equal(one, three)


@pytest.mark.parametrize("kind", PLAIN)
def test_the_training_is_the_one_that_was_asked_for(kind):
    options = {"lr": 0.03, "weight_decay": 0.01, "epochs": 3, "patience": 2}
    model = quick(kind, **options).fit(GRAPH, SPLIT)
    assert model.settings_.training == TrainingSettings(**options)
    assert model.history_.epochs <= 3
    losses = [
        quick(kind, **{**options, **other}).fit(GRAPH, SPLIT).history_.losses
        for other in ({"lr": 0.003}, {"weight_decay": 1.0})
    ]
    assert all(found[0] == model.history_.losses[0] for found in losses)  # before the first step
    assert all(found != model.history_.losses for found in losses)


def test_patience_ends_the_training():
    history = quick("mlp", epochs=400, patience=5).fit(GRAPH, SPLIT).history_
    assert history.epochs - 1 - history.best_epoch == 5
    assert history.epochs < 400


def test_walks_reach_the_module():
    appnp = quick("appnp", epochs=1, steps=3, teleport=0.25).fit(GRAPH, SPLIT)
    assert (appnp._module.steps, appnp._module.teleport) == (3, 0.25)
    gprgnn = quick("gprgnn", epochs=1, lr=1e-9, steps=2, teleport=0.25, walk_dropout=0.2).fit(GRAPH, SPLIT)
    assert gprgnn._module.theta.tolist() == pytest.approx([0.25, 0.1875, 0.5625], abs=1e-6)
    assert gprgnn._module.walk_dropout == 0.2
    chebynet = quick("chebynet", epochs=1, steps=4).fit(GRAPH, SPLIT)
    assert [len(layer.linears) for layer in chebynet._module.layers] == [5, 5]


@pytest.mark.parametrize("kind", WALKS)
@pytest.mark.parametrize("steps", [3.0, np.int64(3), np.float64(3)])
def test_a_whole_number_of_steps_in_any_number_type(kind, steps):
    model = quick(kind, epochs=1, steps=steps).fit(GRAPH, SPLIT)
    assert model.settings_.walks["steps"] == 3
    assert type(model.settings_.walks["steps"]) is int


def test_scaling_reaches_the_features():
    graph = replace(GRAPH, x=GRAPH.x * 50 + 7)
    losses = {
        scaling: quick("mlp", epochs=1, scaling=scaling).fit(graph, SPLIT).history_.losses[0]
        for scaling in ("auto", "standard", "row", "none")
    }
    assert losses["auto"] == losses["standard"]
    assert len(set(losses.values())) == 3


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("kind", sorted(set(PLAIN) - set(WALKS)))
@pytest.mark.parametrize(("name", "value"), [("steps", 3), ("teleport", 0.1), ("walk_dropout", 0.1)])
def test_walks_are_refused_where_nothing_walks(kind, name, value):
    with pytest.raises(InputError, match=f"{kind} has no {name}: leave it out"):
        BaselineClassifier(kind, **{name: value}).fit(GRAPH, SPLIT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kind": "transformer"},
            "there is no baseline 'transformer': choose one of mlp, gcn, gat, appnp, sage, chebynet, "
            "gprgnn, jknet, linkx, acmgcn, structure",
        ),
        ({"kind": "auto"}, "there is no baseline 'auto'"),
        ({"kind": "chebynet", "teleport": 0.1}, "chebynet has no teleport: leave it out"),
        ({"kind": "appnp", "steps": 0}, "steps=0 is not a number of steps: give 1 or more"),
        ({"kind": "gprgnn", "steps": 2.5}, "steps=2.5 is not a number of steps"),
        ({"kind": "chebynet", "steps": float("nan")}, "steps=nan is not a number of steps"),
        ({"kind": "chebynet", "steps": float("inf")}, "steps=inf is not a number of steps"),
        ({"kind": "appnp", "walk_dropout": 0.1}, "appnp has no walk_dropout: leave it out"),
        ({"kind": "gprgnn", "walk_dropout": 1.0}, "walk_dropout=1.0 is not a share below 1"),
        ({"kind": "appnp", "teleport": -0.1}, "teleport=-0.1 is no probability"),
        ({"kind": "gprgnn", "teleport": 1.5}, "teleport=1.5 is no probability"),
        ({"kind": "appnp", "teleport": float("nan")}, "teleport=nan is no probability"),
        ({"seed": -1}, "seed"),
        ({"hidden": 0}, "hidden=0 is too small"),
        ({"hidden": 6.5}, "hidden=6.5 is no whole number: give 1 or more"),
        ({"hidden": "64"}, "hidden='64' is no whole number: give 1 or more"),
        ({"layers": 0}, "layers=0 is too small"),
        ({"residual": "yes"}, "residual='yes' is neither true nor false"),
        ({"lr": "fast"}, "lr=fast is not above 0"),
        ({"kind": "appnp", "steps": "far"}, "steps='far' is no number: give one"),
        ({"dropout": 1.0}, "the dropout 1.0 is not a share below 1"),
        ({"norm": "group"}, "there is no norm 'group': choose one of none, layer, batch"),
        ({"lr": 0.0}, "lr=0.0 is not above 0"),
        ({"weight_decay": -1.0}, "weight_decay=-1.0 is too small"),
        ({"epochs": 0}, "epochs=0 is too small"),
        ({"patience": 0}, "patience=0 is too small"),
        ({"scaling": "log"}, "there is no scaling 'log'"),
        ({"metric": "f1"}, "there is no metric 'f1': choose one of accuracy, roc_auc"),
        ({"metric": "roc_auc"}, "ROC-AUC is for two classes and there are 3"),
        ({"device": "tpu"}, "the device 'tpu' cannot be used here"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        BaselineClassifier(**options).fit(GRAPH, SPLIT)


def test_a_fit_that_fails_leaves_the_earlier_one_whole():
    model = quick("mlp", epochs=2).fit(GRAPH, SPLIT)
    before = model.predict_proba(GRAPH)
    with pytest.raises(InputError):
        model.set_params(kind="gcn", norm="group").fit(GRAPH, SPLIT)
    assert np.array_equal(model.predict_proba(GRAPH), before)
