"""GOALClassifier: scikit-learn's conventions, one seed one model, no test label read, new nodes."""

import inspect
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from otherhalf import GOALClassifier, Graph, InputError, Split, split
from otherhalf.data.synthetic import contextual_sbm

NAMES = np.array(["ant", "bee", "cat"])


def induced(graph, nodes):
    """The part of a graph on its first ``nodes`` nodes."""
    inside = (graph.edges < nodes).all(axis=0)
    ids = None if graph.ids is None else graph.ids[:nodes]
    return replace(graph, edges=graph.edges[:, inside], x=graph.x[:nodes], y=graph.y[:nodes], ids=ids)


def named(graph):
    """The same graph with text for ids and classes."""
    ids = [f"node {index:03d}" for index in range(graph.num_nodes)]
    return Graph(edges=graph.edges, x=graph.x, y=NAMES[graph.y], ids=ids)


def quick(**options):
    return GOALClassifier(**{"encoder": "mlp", "epochs": 30, "patience": 15, "hidden": 16, **options})


WHOLE = contextual_sbm(num_nodes=300, num_classes=3, num_features=8, homophily=0.1, signal=3.0, seed=1)
KNOWN = 240
GRAPH = induced(WHOLE, KNOWN)
SPLIT = split(GRAPH, seed=0)


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(GRAPH, SPLIT)


@pytest.fixture(scope="module")
def by_id():
    """A model that knows its nodes by id, and the graph that has grown since."""
    graph = named(WHOLE)
    known = induced(graph, KNOWN)
    return quick().fit(known, split(known, seed=0)), graph


def tensors(model):
    modules = {
        "goal": model._way.module,
        "encoder": model._way.embedding.encoder.module,
        "head": model._way.embedding.head,
    }
    found = {f"{name}/{k}": v for name, m in modules.items() for k, v in m.state_dict().items()}
    return {**found, "half": torch.from_numpy(model.missing_half_.pairs)}


class TestConventions:
    def test_init_only_stores(self):
        names = list(inspect.signature(GOALClassifier).parameters)
        given = {name: object() for name in names}
        assert vars(GOALClassifier(**given)) == given
        assert set(GOALClassifier().get_params()) == set(names)

    def test_set_params_and_clone(self, fitted):
        copy = clone(fitted).set_params(seed=7, coefficients=(1, 0, 2, 0))
        assert copy.get_params() == {**fitted.get_params(), "seed": 7, "coefficients": (1, 0, 2, 0)}
        assert not hasattr(copy, "settings_")

    def test_fit_returns_self_and_marks_what_it_learned(self):
        model = quick(epochs=1)
        parameters = set(vars(model))
        assert model.fit(GRAPH, SPLIT) is model
        learned = set(vars(model)) - parameters
        assert all(name.endswith("_") or name.startswith("_") for name in learned)
        assert {"diagnosis_", "missing_half_", "history_", "classes_", "settings_", "seconds_"} <= learned
        assert model.get_params() == quick(epochs=1).get_params()

    def test_before_fit(self, tmp_path):
        model = GOALClassifier()
        for use in (
            lambda: model.predict(GRAPH),
            lambda: model.predict_proba(GRAPH),
            lambda: model.score(GRAPH),
            lambda: model.coefficients_,
            lambda: model.save(tmp_path / "model"),
        ):
            with pytest.raises(NotFittedError):
                use()
        assert list(tmp_path.iterdir()) == []

    def test_a_fit_that_fails_leaves_the_earlier_one_whole(self):
        model = quick().fit(GRAPH, SPLIT)
        before = model.predict_proba(GRAPH)

        class Stop(Exception):
            pass

        def on_step(stage, done, most):
            if stage == "classifier":
                raise Stop

        with pytest.raises(Stop):
            model.set_params(seed=1).fit(contextual_sbm(num_nodes=100, seed=5), on_step=on_step)
        assert np.array_equal(model.predict_proba(GRAPH), before)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"preset": "worst"}, "preset must be one of best, paper, not 'worst'"),
            ({"follow": "me"}, "follow must be one of ks, labels, homophily, heterophily, not 'me'"),
            ({"encoder": "cnn"}, "encoder must be one of auto, gcn-plain, mlp, gcn"),
            ({"norm": "group"}, "norm must be one of none, layer, batch, not 'group'"),
            ({"device": "tpu"}, "the device 'tpu' cannot be used here"),
            ({"device": "meta"}, "the device 'meta' cannot be used here"),
            ({"seed": -1}, "seed"),
            ({"seed": 0.5}, "seed"),
            ({"k": 0}, "k must be an integer ≥ 1, not 0"),
            ({"max_candidates": 0}, "max_candidates must be an integer ≥ 1, not 0"),
            ({"hidden": 0}, "hidden must be an integer ≥ 1 and ≤ 100000, not 0"),
            ({"layers": 0}, "layers must be an integer ≥ 1 and ≤ 1000, not 0"),
            ({"epochs": 0}, "epochs must be an integer ≥ 1, not 0"),
            ({"patience": 0}, "patience must be an integer ≥ 1, not 0"),
            ({"dropout": 1.0}, "dropout must be a number ≥ 0 and < 1, not 1.0"),
            ({"lr": 0.0}, "lr must be a number > 0, not 0.0"),
            ({"lr": float("nan")}, "lr must be a number > 0, not nan"),
            ({"weight_decay": -0.1}, "weight_decay must be a number ≥ 0, not -0.1"),
            ({"coefficients": (1, 1, 1)}, "coefficients must be 4 numbers from 0 to 5"),
            ({"coefficients": (1, 1, 1, 6)}, "coefficients must be 4 numbers from 0 to 5"),
        ],
    )
    def test_wrong_arguments_are_refused_before_anything_is_done(self, wrong, message):
        steps = []
        with pytest.raises(InputError) as caught:
            quick(**wrong).fit(GRAPH, SPLIT, on_step=lambda *step: steps.append(step))
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
        assert steps == []

    def test_wrong_splits(self):
        one_class = SPLIT.train[GRAPH.y[SPLIT.train] == 0]
        hidden = replace(GRAPH, y=np.where(np.arange(KNOWN) == SPLIT.train[0], -1, GRAPH.y))
        for graph, parts, message in (
            (GRAPH, Split([], SPLIT.val, SPLIT.test), "the split has no train nodes"),
            (GRAPH, Split(SPLIT.train, [], SPLIT.test), "the split has no val nodes"),
            (GRAPH, Split(one_class, SPLIT.val, SPLIT.test), "all training nodes have one class"),
            (GRAPH, Split(SPLIT.train, SPLIT.val, [KNOWN]), f"the split names node {KNOWN}"),
            (hidden, SPLIT, "a train node of the split has no label"),
        ):
            with pytest.raises(InputError, match=message):
                quick().fit(graph, parts)


class TestOneSeedOneModel:
    def test_bit_equal(self, fitted):
        torch.manual_seed(99)  # what the caller did with the global generator plays no part
        again = quick().fit(GRAPH, SPLIT)
        for key, value in tensors(fitted).items():
            assert torch.equal(value, tensors(again)[key]), key
        assert np.array_equal(fitted.predict_proba(GRAPH), again.predict_proba(GRAPH))
        assert fitted.history_ == again.history_

    def test_another_seed_differs(self, fitted):
        other = quick(seed=1).fit(GRAPH, SPLIT)
        assert not np.array_equal(fitted.predict_proba(GRAPH), other.predict_proba(GRAPH))

    def test_the_callers_generator_is_left_alone(self):
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        quick(epochs=1).fit(GRAPH, SPLIT)
        assert torch.equal(torch.rand(3), expected)

    def test_without_a_split_it_makes_the_uniform_one(self):
        by_itself = quick(epochs=2, seed=3).fit(GRAPH)
        given = quick(epochs=2, seed=3).fit(GRAPH, split(GRAPH, "uniform", seed=3))
        assert np.array_equal(by_itself.predict_proba(GRAPH), given.predict_proba(GRAPH))


def written(model, folder):
    """The two files of a saved model: the description without what a clock decides, and the weights."""
    model.save(folder)
    description = json.loads((folder / "model.json").read_text())
    for timing in ("seconds", "checksum"):
        del description[timing]
    del description["missing_half"]["seconds"]
    for row in description["leaderboard"]:
        del row["seconds"]
    return description, (folder / description["weights"]).read_bytes()


class TestLabelsOutOfReach:
    def test_every_test_label_changed_leaves_the_model_bit_identical(self, tmp_path):
        y = GRAPH.y.copy()
        y[SPLIT.test] = (y[SPLIT.test] + 1) % 3
        other = replace(GRAPH, y=y)
        options = {"encoder": "auto", "epochs": 5}  # auto also selects by labels
        one = written(quick(**options).fit(GRAPH, SPLIT), tmp_path / "one")
        two = written(quick(**options).fit(other, SPLIT), tmp_path / "two")
        assert one[0] == two[0]
        assert one[1] == two[1]

    def test_a_training_label_changed_does_not(self, tmp_path):
        y = GRAPH.y.copy()
        y[SPLIT.train[0]] = (y[SPLIT.train[0]] + 1) % 3
        one = written(quick(epochs=5).fit(GRAPH, SPLIT), tmp_path / "one")
        two = written(quick(epochs=5).fit(replace(GRAPH, y=y), SPLIT), tmp_path / "two")
        assert one[1] != two[1]


class TestWhatItLearns:
    def test_classes_planted_in_the_features_are_found(self, fitted):
        # Means 3 deviations long in 8 dimensions: the classes hardly overlap; chance would give 1/3.
        assert fitted.score(GRAPH, SPLIT.test) > 0.8
        probabilities = fitted.predict_proba(GRAPH)
        assert probabilities.shape == (KNOWN, 3)
        assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
        assert np.array_equal(fitted.predict(GRAPH), probabilities.argmax(axis=1))

    @pytest.mark.parametrize(
        ("follow", "missing"), [("homophily", "heterophily"), ("heterophily", "homophily")]
    )
    def test_follow_and_k(self, follow, missing):
        model = quick(follow=follow, k=4, epochs=1).fit(GRAPH, SPLIT)
        assert model.missing_half_.kind == missing
        assert (np.bincount(model.missing_half_.pairs[0], minlength=KNOWN) == 4).all()
        within = model.missing_half_.homophily(GRAPH.y)
        assert within > 0.8 if missing == "homophily" else within < 0.2

    def test_the_verdict_decides_by_default(self, fitted):
        opposite = {"homophily": "heterophily", "heterophily": "homophily"}
        assert fitted.missing_half_.kind == opposite[fitted.diagnosis_.tendency]

    def test_sampled_candidates(self):
        model = quick(max_candidates=50, epochs=1).fit(GRAPH, SPLIT)
        assert model.missing_half_.sampled
        assert len(np.unique(model.missing_half_.pairs[1])) <= 50

    def test_fixed_coefficients_stay_and_learned_ones_move_within_bounds(self):
        start = (0.5, 2.0, 0.0, 5.0)
        fixed = quick(coefficients=start, learn_coefficients=False, layers=3, epochs=3).fit(GRAPH, SPLIT)
        assert fixed.coefficients_ == [dict(zip(("alpha", "beta", "gamma", "delta"), start, strict=True))] * 3
        learned = quick(coefficients=(1, 1, 1, 1), learn_coefficients=True).fit(GRAPH, SPLIT)
        values = np.array([list(layer.values()) for layer in learned.coefficients_])
        assert (np.abs(values - 1) > 1e-3).all()
        assert (values >= 0).all()
        assert (values <= 5).all()

    def test_progress_by_stage(self):
        steps = []
        model = quick(epochs=4).fit(GRAPH, SPLIT, on_step=lambda *step: steps.append(step))
        assert list(dict.fromkeys(stage for stage, *_ in steps)) == [
            "encoder-mlp",
            "head",
            "search",
            "classifier",
        ]
        assert [step for step in steps if step[0] == "classifier"] == [
            ("classifier", done, 4) for done in range(1, 5)
        ]
        assert model.history_["classifier"].epochs == 4


class TestNewNodes:
    """A graph of 300 nodes of which the fit saw the first 240."""

    def test_new_nodes_by_position(self, fitted):
        new = np.arange(KNOWN, WHOLE.num_nodes)
        assert fitted.score(WHOLE, new) > 0.8
        assert fitted.predict_proba(WHOLE).shape == (300, 3)

    def test_new_nodes_by_id_in_any_order(self, by_id):
        model, graph = by_id
        straight = model.predict(graph)
        order = np.random.default_rng(0).permutation(graph.num_nodes)  # the node at place i was order[i]
        place = np.argsort(order)
        shuffled = Graph(
            edges=place[graph.edges], x=graph.x[order], y=NAMES[graph.y[order]], ids=graph.ids[order]
        )
        assert np.array_equal(model.predict(shuffled), straight[order])
        assert np.allclose(model.predict_proba(shuffled), model.predict_proba(graph)[order], atol=1e-5)
        assert np.mean(straight[KNOWN:] == NAMES[WHOLE.y[KNOWN:]]) > 0.8

    def test_class_names_come_back(self, by_id):
        model, graph = by_id
        assert model.classes_.tolist() == ["ant", "bee", "cat"]
        assert set(model.predict(graph)) == {"ant", "bee", "cat"}

    def test_nodes_are_known_by_id_not_by_place(self, by_id):
        model, graph = by_id
        known = induced(graph, KNOWN)
        backwards = Graph(
            edges=KNOWN - 1 - known.edges, x=known.x[::-1], y=NAMES[known.y[::-1]], ids=known.ids[::-1]
        )
        assert np.array_equal(model.predict_proba(backwards), model.predict_proba(known)[::-1])

    def test_new_edges_alone_matter(self):
        known = induced(named(WHOLE), KNOWN)
        model = quick(blend=False).fit(known, split(known, seed=0))
        more = replace(known, edges=np.concatenate([known.edges, [[0, 1, 2], [200, 201, 202]]], axis=1))
        assert not np.array_equal(model.predict_proba(more), model.predict_proba(known))

    def test_the_structure_encoder_takes_new_nodes_too(self):
        model = quick(encoder="structure", epochs=15).fit(GRAPH, SPLIT)
        assert model.settings_.goal.architecture.trunk == "features+neighbours"
        assert model.score(WHOLE, np.arange(KNOWN, 300)) > 0.8

    def test_a_graph_without_labels_is_predicted(self, by_id):
        model, graph = by_id
        unlabelled = Graph(edges=graph.edges, x=graph.x, ids=graph.ids)
        assert np.array_equal(model.predict(unlabelled), model.predict(graph))
        with pytest.raises(InputError, match="none of the nodes to score has a label"):
            model.score(unlabelled)
