"""The baselines as estimators."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from otherhalf import Graph, InputError, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.presets import BEST
from otherhalf.estimators.settings import BaselineSettings
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.registry import MODELS, model_spec
from otherhalf.system.fields import to_dict
from otherhalf.training.loop import TrainingSettings

KINDS = tuple(MODELS)
NAMES = np.array(["red", "blue", "green"])
SBM = contextual_sbm(num_nodes=300, num_classes=3, num_features=8, homophily=0.8, signal=3.0, seed=2)
KNOWN = 240
INSIDE = (SBM.edges < KNOWN).all(axis=0)
GRAPH = Graph(edges=SBM.edges[:, INSIDE], x=SBM.x[:KNOWN], y=NAMES[SBM.y[:KNOWN]])
SPLIT = split(GRAPH, seed=0)
OWN_OPTIONS = {
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
    ) == KINDS


# ---------------------------------------------------------------------- scikit-learn's conventions


def test_conventions():
    names = list(inspect.signature(BaselineClassifier).parameters)
    given = {name: object() for name in names if name != "own_options"} | {"kind": "appnp"}
    own = {"steps": object(), "teleport": object()}
    assert vars(BaselineClassifier(**given, **own)) == given | {"own_options": own}
    assert BaselineClassifier(**given, **own).get_params() == given | own
    assert is_classifier(BaselineClassifier())
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
    assert model.history_["classifier"].epochs == 40
    assert set(model.seconds_) == {"train", "total"}
    with pytest.raises(NotFittedError):
        clone(model).predict(GRAPH)


def test_every_argument_but_the_kind_is_by_name():
    kinds = [p.kind for p in inspect.signature(BaselineClassifier).parameters.values()]
    keyword = inspect.Parameter.KEYWORD_ONLY
    assert kinds[1:] == [*[keyword] * (len(kinds) - 2), inspect.Parameter.VAR_KEYWORD]


def test_set_params():
    model = quick("mlp").set_params(kind="chebynet", steps=3)
    assert model.resolved_settings().own_options == {"steps": 3}
    assert clone(model).resolved_settings() == model.resolved_settings()
    with pytest.raises(ValueError, match="Invalid parameter 'stepz'"):
        model.set_params(stepz=3)
    with pytest.raises(TypeError, match="no model has the option 'stepz'"):
        quick("chebynet", stepz=3)


def test_progress():
    steps = []
    quick("sage", epochs=3).fit(GRAPH, SPLIT, on_step=lambda *step: steps.append(step))
    assert steps == [("classifier", done, 3) for done in (1, 2, 3)]


def test_a_fit_that_was_stopped_goes_on(tmp_path):
    class Stop(Exception):
        pass

    def on_step(stage, done, total):
        if done == 6:
            raise Stop

    whole = quick("gcn", epochs=12).fit(GRAPH, SPLIT)
    with pytest.raises(Stop):
        quick("gcn", epochs=12).fit(GRAPH, SPLIT, checkpoints=tmp_path, on_step=on_step)
    resumed = quick("gcn", epochs=12).fit(GRAPH, SPLIT, checkpoints=tmp_path)
    assert np.array_equal(resumed.predict_proba(GRAPH), whole.predict_proba(GRAPH))


# ---------------------------------------------------------------------- learning


@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.parametrize("kind", KINDS)
def test_one_seed_one_model(kind):
    fits = [quick(kind, seed=seed, epochs=4).fit(GRAPH, SPLIT) for seed in (0, 0, 1)]
    probabilities = [model.predict_proba(GRAPH) for model in fits]
    assert fits[0].history_ == fits[1].history_
    assert np.array_equal(probabilities[0], probabilities[1])
    assert not np.array_equal(probabilities[0], probabilities[2])


@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_said_is_as_in_goals_own_encoder(kind):
    usual = BEST.complement.encoder
    expected = BaselineSettings(kind, "auto", usual.architecture, usual.training, OWN_OPTIONS.get(kind, {}))
    assert BaselineClassifier(kind).resolved_settings() == expected


def test_what_is_said_is_taken_even_where_it_is_nothing():
    settings = BaselineClassifier(
        "appnp", residual=False, dropout=0.0, weight_decay=0.0, teleport=0.0, norm="none", scaling="row"
    ).resolved_settings()
    usual = BEST.complement.encoder
    assert settings.architecture == replace(usual.architecture, residual=False, dropout=0.0, norm="none")
    assert settings.training == replace(usual.training, weight_decay=0.0)
    assert settings.own_options == {"steps": 10, "teleport": 0.0}
    assert settings.scaling == "row"


@pytest.mark.parametrize("kind", KINDS)
def test_the_architecture_reaches_the_module(kind):
    options = {"hidden": 24, "layers": 3, "dropout": 0.3, "norm": "batch", "residual": True}
    model = quick(kind, epochs=1, **options).fit(GRAPH, SPLIT)
    module, shape = model._module, model._module.architecture
    assert {name: getattr(shape, name) for name in options} == options
    assert model.settings_.architecture == Architecture(**options)
    linear = shape.output == "linear"
    widths = [24, 24, 24] if linear else [24, 24, 3]
    first = 24 if module.trunk is not None else 8
    residuals = [tuple(r.weight.shape) for r in module.residuals]
    assert residuals == list(zip([first, 24, 24], widths, strict=True))
    assert len(module.layers) == 3
    norms = [*module.norms, *([module.trunk_norm] if module.trunk is not None else [])]
    assert len(norms) == (3 if linear or module.trunk is not None else 2)
    assert all(isinstance(norm, torch.nn.BatchNorm1d) and norm.num_features == 24 for norm in norms)


@pytest.mark.parametrize("kind", KINDS)
def test_without_norm_and_residual_there_is_none(kind):
    module = quick(kind, epochs=1, norm="none", residual=False).fit(GRAPH, SPLIT)._module
    assert module.residuals is None
    assert not any(isinstance(m, torch.nn.LayerNorm | torch.nn.BatchNorm1d) for m in module.modules())


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_is_at_work_in_training_and_only_there(kind):
    def outputs(dropout):
        model = quick(kind, epochs=1, dropout=dropout).fit(GRAPH, SPLIT)
        arguments = model.prepare(GRAPH)[0].arguments(model_spec(kind).operators)
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


@pytest.mark.parametrize("kind", KINDS)
def test_the_training_is_the_one_that_was_asked_for(kind):
    options = {"lr": 0.03, "weight_decay": 0.01, "epochs": 3, "patience": 2}
    model = quick(kind, **options).fit(GRAPH, SPLIT)
    assert model.settings_.training == TrainingSettings(**options)
    assert model.history_["classifier"].epochs <= 3
    losses = [
        quick(kind, **{**options, **other}).fit(GRAPH, SPLIT).history_["classifier"].losses
        for other in ({"lr": 0.003}, {"weight_decay": 1.0})
    ]
    expected = model.history_["classifier"].losses
    assert all(other[0] == expected[0] for other in losses)  # before the first step
    assert all(other != expected for other in losses)


def test_patience_ends_the_training():
    history = quick("mlp", epochs=400, patience=5).fit(GRAPH, SPLIT).history_["classifier"]
    assert history.epochs - 1 - history.best_epoch == 5
    assert history.epochs < 400


def test_own_options_reach_the_module():
    appnp = quick("appnp", epochs=1, steps=3, teleport=0.25).fit(GRAPH, SPLIT)
    assert (appnp._module.steps, appnp._module.teleport) == (3, 0.25)
    gprgnn = quick("gprgnn", epochs=1, lr=1e-9, steps=2, teleport=0.25, walk_dropout=0.2).fit(GRAPH, SPLIT)
    assert gprgnn._module.theta.tolist() == pytest.approx([0.25, 0.1875, 0.5625], abs=1e-6)
    assert gprgnn._module.walk_dropout == 0.2
    chebynet = quick("chebynet", epochs=1, steps=4).fit(GRAPH, SPLIT)
    assert [len(layer.linears) for layer in chebynet._module.layers] == [5, 5]


@pytest.mark.parametrize("kind", OWN_OPTIONS)
def test_integers_of_numpy(kind, tmp_path):
    model = quick(kind, epochs=1, steps=np.int64(3)).fit(GRAPH, SPLIT)
    model.save(tmp_path)
    assert BaselineClassifier.load(tmp_path).settings_.own_options["steps"] == 3


def test_scaling_reaches_the_features():
    graph = replace(GRAPH, x=GRAPH.x * 50 + 7)
    losses = {
        scaling: quick("mlp", epochs=1, scaling=scaling).fit(graph, SPLIT).history_["classifier"].losses[0]
        for scaling in ("auto", "standard", "row", "none")
    }
    assert losses["auto"] == losses["standard"]
    assert len(set(losses.values())) == 3


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(OWN_OPTIONS)))
@pytest.mark.parametrize(("name", "value"), [("steps", 3), ("teleport", 0.1), ("walk_dropout", 0.1)])
def test_options_of_other_models_are_refused(kind, name, value):
    with pytest.raises(InputError, match=f"{kind} has no option '{name}': leave it out"):
        BaselineClassifier(kind, **{name: value}).fit(GRAPH, SPLIT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kind": "transformer"},
            "kind must be one of mlp, gcn, gat, appnp, sage, chebynet, gprgnn, jknet, linkx, acmgcn, "
            "structure, not 'transformer'",
        ),
        ({"kind": "auto"}, "kind must be one of mlp, .* not 'auto'"),
        ({"kind": "chebynet", "teleport": 0.1}, "chebynet has no option 'teleport': leave it out"),
        ({"kind": "appnp", "steps": 0}, "steps must be an integer ≥ 1 and ≤ 1000, not 0"),
        ({"kind": "gprgnn", "steps": 2.5}, "steps must be an integer ≥ 1 and ≤ 1000, not 2.5"),
        ({"kind": "chebynet", "steps": float("nan")}, "steps must be an integer ≥ 1 and ≤ 1000, not nan"),
        ({"kind": "chebynet", "steps": float("inf")}, "steps must be an integer ≥ 1 and ≤ 1000, not inf"),
        ({"kind": "appnp", "walk_dropout": 0.1}, "appnp has no option 'walk_dropout'"),
        ({"kind": "gprgnn", "walk_dropout": 1.0}, "walk_dropout must be a number ≥ 0 and < 1, not 1.0"),
        ({"kind": "appnp", "teleport": -0.1}, "teleport must be a number ≥ 0 and ≤ 1, not -0.1"),
        ({"kind": "gprgnn", "teleport": 1.5}, "teleport must be a number ≥ 0 and ≤ 1, not 1.5"),
        ({"kind": "appnp", "teleport": float("nan")}, "teleport must be a number ≥ 0 and ≤ 1, not nan"),
        ({"seed": -1}, "seed"),
        ({"hidden": 0}, "hidden must be an integer ≥ 1 and ≤ 100000, not 0"),
        ({"hidden": 6.5}, "hidden must be an integer ≥ 1 and ≤ 100000, not 6.5"),
        ({"hidden": "64"}, "hidden must be an integer ≥ 1 and ≤ 100000, not '64'"),
        ({"layers": 0}, "layers must be an integer ≥ 1 and ≤ 1000, not 0"),
        ({"residual": "yes"}, "residual must be True or False, not 'yes'"),
        ({"lr": "fast"}, "lr must be a number > 0, not 'fast'"),
        ({"kind": "appnp", "steps": "far"}, "steps must be an integer ≥ 1 and ≤ 1000, not 'far'"),
        ({"dropout": 1.0}, "dropout must be a number ≥ 0 and < 1, not 1.0"),
        ({"norm": "group"}, "norm must be one of none, layer, batch, not 'group'"),
        ({"lr": 0.0}, "lr must be a number > 0, not 0.0"),
        ({"weight_decay": -1.0}, "weight_decay must be a number ≥ 0, not -1.0"),
        ({"epochs": 0}, "epochs must be an integer ≥ 1, not 0"),
        ({"patience": 0}, "patience must be an integer ≥ 1, not 0"),
        ({"scaling": "log"}, "scaling must be one of none, row, standard, auto, not 'log'"),
        ({"metric": "f1"}, "metric must be one of accuracy, roc_auc, "),
        ({"metric": "top_3"}, "top-3 accuracy needs at least 4 classes, and the graph has 3"),
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


# ---------------------------------------------------------------------- sampled neighbours


def test_a_model_trained_on_samples_predicts_without_a_draw(tmp_path):
    graph = contextual_sbm(300, num_classes=3, num_features=12, homophily=0.8, signal=2.0, seed=0)
    parts = split(graph, "uniform", 0)
    model = BaselineClassifier("sage", fanout=(5, 5), batch_size=32, epochs=20).fit(graph, parts)
    assert model.score(graph, parts.test) > 0.7
    again = BaselineClassifier("sage", fanout=[5, 5], batch_size=32, epochs=20).fit(graph, parts)
    first = model.predict_proba(graph)
    np.testing.assert_array_equal(first, again.predict_proba(graph))
    model.save(tmp_path / "model")
    loaded = BaselineClassifier.load(tmp_path / "model")
    assert loaded.settings_.fanout == (5, 5)
    np.testing.assert_array_equal(first, loaded.predict_proba(graph))


def test_settings_of_samples_are_checked_and_left_out_of_keys():
    assert "fanout" not in to_dict(BaselineClassifier("sage").resolved_settings())
    assert "batch_size" not in to_dict(BaselineClassifier("sage").resolved_settings())
    for options, says in (
        ({"fanout": (0, 5)}, "fanout must be a sequence of integers"),
        ({"fanout": 5}, "fanout must be a sequence of integers"),
        ({"fanout": (5,)}, "this model reads 2 hops"),
        ({"fanout": (5, 5), "batch_size": 0}, "batch_size must be an integer"),
        ({"fanout": (5, 5), "norm": "batch"}, "norm='batch' takes its mean"),
        ({"fanout": (5, 5), "kind": "appnp"}, "propagates its predictions"),
    ):
        with pytest.raises(InputError, match=says):
            BaselineClassifier(**{"kind": "sage", **options}).resolved_settings()


def test_a_fit_on_samples_needs_less_memory():
    graph = contextual_sbm(5000, num_features=12, seed=0)
    parts = split(graph, "uniform", 0)
    whole, few = (BaselineClassifier("gat", fanout=f, batch_size=16) for f in (None, (3, 3)))
    assert few.need(graph, parts).size < whole.need(graph, parts).size
