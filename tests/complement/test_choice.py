"""The choice of kernels: its gradient, what it finds where one description has the labels, and odd graphs."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from otherhalf.complement import choice as module
from otherhalf.complement.basis import Basis
from otherhalf.complement.choice import LEAST_RIDGE, LEAST_WEIGHT, PRIOR, KernelLearner, choose_kernels
from otherhalf.complement.descriptions import Descriptions
from otherhalf.complement.kernels import Kernel, mixture_block
from otherhalf.complement.settings import KernelSettings
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Graph, Split
from otherhalf.nn.inputs import Scaling
from otherhalf.training.loop import Monitor
from otherhalf.training.supervised import Supervision

SETTINGS = KernelSettings(steps=8)
FACTORS = ("sharpness", "features", "neighbours")


def described(graph: Graph, kind: str = "auto") -> Descriptions:
    return Descriptions(graph, Basis.of(graph, Scaling.fit(graph.x, kind)))


def small_graph(seed: int = 0, nodes: int = 16, classes: int = 3) -> Graph:
    """A random graph with sparse features; node 1 has no features, the last node no neighbours."""
    rng = np.random.default_rng(seed)
    x = (rng.random((nodes, 6)) < 0.4) * rng.integers(1, 4, (nodes, 6))
    x[1] = 0
    edges = np.concatenate([[[0], [1]], rng.integers(0, nodes - 1, (2, 2 * nodes))], axis=1)
    return Graph(edges=edges, x=sp.csr_matrix(x), y=np.arange(nodes) % classes)


def moved(learner: KernelLearner, seed: int = 0) -> KernelLearner:
    """Move all parameters away from their start values."""
    generator = torch.Generator().manual_seed(seed)
    for name, value in learner.parameters.items():
        learner.parameters[name] = value + 0.5 * torch.randn(value.shape, generator=generator)
    return learner


def learner_of(graph: Graph, names=None, nodes=None) -> KernelLearner:
    descriptions = described(graph)
    nodes = np.arange(graph.num_nodes) if nodes is None else nodes
    return KernelLearner(descriptions, descriptions.names if names is None else names, nodes)


# ---------------------------------------------------------------------- loss and gradient


def literal_loss(
    graph: Graph, learner: KernelLearner, nodes: np.ndarray, values: dict[str, Tensor]
) -> Tensor:
    """The loss in double precision, with one regression for each node that is left out."""
    descriptions = described(graph)
    n = len(nodes)
    shares = torch.softmax(values["weights"], dim=0)
    kernel = torch.zeros(n, n, dtype=torch.float64)
    for index, name in enumerate(learner.names):
        rows = descriptions.rows(name)
        rows = torch.from_numpy((rows.toarray() if sp.issparse(rows) else rows)[nodes]).double()
        s, f, d = values["factors"][:, index].exp()
        exponent = s * (rows @ rows.T - 1)
        for factor, magnitude in ((f, "features"), (d, "neighbours")):
            m = torch.from_numpy(descriptions.magnitudes[magnitude][nodes]).double()
            exponent = exponent - factor * (m[:, None] - m[None]) ** 2
        kernel = kernel + shares[index] * exponent.exp()
    codes = torch.from_numpy(graph.y[nodes])
    targets = F.one_hot(codes, graph.num_classes).double() - 1 / graph.num_classes
    scores = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        among = kernel[others][:, others] + values["ridge"].exp() * torch.eye(n - 1, dtype=torch.float64)
        scores.append(kernel[i, others] @ torch.linalg.solve(among, targets[others]))
    loss = F.cross_entropy(values["temperature"].exp() * torch.stack(scores), codes)
    for name in ("factors", "weights"):
        away = values[name] - learner.start[name].double()
        loss = loss + PRIOR / n * away.square().sum()
    return loss


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10_000), nodes=st.integers(3, 16))
def test_loss_and_gradients_equal_those_of_literal_refits(seed, nodes):
    graph, chosen = small_graph(seed), np.arange(16)[:nodes]
    learner = moved(learner_of(graph, nodes=chosen), seed)
    values = {n: p.double().requires_grad_() for n, p in learner.parameters.items()}
    expected = literal_loss(graph, learner, chosen, values)
    expected.backward()
    loss, gradients = learner.loss_and_gradients()
    assert loss == pytest.approx(expected.item(), abs=1e-4)
    assert set(gradients) == set(values)
    for name, value in values.items():
        torch.testing.assert_close(gradients[name].double(), value.grad, rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize("name", ["factors", "weights", "ridge", "temperature"])
def test_gradients_equal_central_differences(name):
    learner = moved(learner_of(small_graph(), ["features", "contrast", "neighbours", "two_steps"]))
    start = learner.parameters[name].clone()
    _, gradients = learner.loss_and_gradients()
    # The loss has about seven digits: a step of 0.02 has the error 0.02²/6 of the third derivative, and
    # 1e-7/0.02 of rounding.
    step, found = 0.02, torch.empty(start.numel())
    for index in range(start.numel()):
        losses = []
        for sign in (1, -1):
            learner.parameters[name] = start.clone()
            learner.parameters[name].view(-1)[index] += sign * step
            losses.append(learner.loss_and_gradients()[0])
        found[index] = (losses[0] - losses[1]) / (2 * step)
    assert float(gradients[name].abs().max()) > 1e-3
    torch.testing.assert_close(gradients[name].reshape(-1), found, rtol=5e-3, atol=5e-5)


def test_the_learners_kernel_is_the_one_that_is_fitted_later(monkeypatch):
    # Nodes without features or neighbours once had 1 on the diagonal here and exp(−s) in the regression.
    graph = small_graph()
    learner = moved(learner_of(graph))
    shares = torch.softmax(learner.parameters["weights"], dim=0).tolist()
    factors = learner.parameters["factors"].exp().T.tolist()
    kernels = [Kernel(name, w, *f) for name, w, f in zip(learner.names, shares, factors, strict=True)]
    seen, real = [], module.inverse_of
    monkeypatch.setattr(module, "inverse_of", lambda k, ridge: seen.append(k.clone()) or real(k, ridge))
    learner.loss_and_gradients()
    expected = mixture_block(kernels, described(graph), np.arange(16), np.arange(16))
    torch.testing.assert_close(seen[0], expected, rtol=1e-5, atol=1e-6)
    assert float(expected.diagonal().min()) < 0.99


def test_a_pull_to_the_start_values():
    learner = learner_of(small_graph())
    at_start, _ = learner.loss_and_gradients()
    shifted = learner.parameters["weights"] + 1.0  # the same shares
    learner.parameters["weights"] = shifted
    loss, gradients = learner.loss_and_gradients()
    count = len(learner.names)
    assert loss - at_start == pytest.approx(PRIOR / 16 * count, rel=1e-3)
    assert float(gradients["weights"].sum()) == pytest.approx(2 * PRIOR / 16 * count, rel=1e-3)


# ---------------------------------------------------------------------- learning


def test_the_loss_falls():
    graph = contextual_sbm(120, num_classes=3, homophily=0.7, signal=1.5)
    learner = learner_of(graph)
    losses = learner.learn(15)
    assert len(losses) == 15
    assert losses[-1] < 0.8 * losses[0]
    assert np.diff(losses).max() < 0.05


def test_learning_equals_torchs_adam():
    graph, names = small_graph(), ["features", "neighbours", "smoothed_1"]
    learner, other = learner_of(graph, names), learner_of(graph, names)
    learner.learn(5)
    parameters = {n: torch.nn.Parameter(p.clone()) for n, p in other.parameters.items()}
    optimizer = torch.optim.Adam(parameters.values(), lr=module.LEARNING_RATE)
    for _ in range(5):
        other.parameters = {n: p.detach().clone() for n, p in parameters.items()}
        for name, gradient in other.loss_and_gradients()[1].items():
            parameters[name].grad = gradient
        optimizer.step()
        with torch.no_grad():
            parameters["ridge"].clamp_(min=float(np.log(LEAST_RIDGE)))
    for name, value in parameters.items():
        torch.testing.assert_close(learner.parameters[name], value.detach(), rtol=1e-4, atol=1e-4)


def test_the_ridge_has_a_least_value():
    learner = learner_of(small_graph())
    learner.parameters["ridge"] = torch.tensor(LEAST_RIDGE / 10).log()
    learner.learn(1)  # one step multiplies by exp(0.2) at most
    assert learner.choice().ridge == pytest.approx(LEAST_RIDGE)


def test_progress_is_reported():
    seen = []
    learner_of(small_graph()).learn(3, Monitor(on_step=lambda *step: seen.append(step)))
    assert seen == [("kernels", 1, 3), ("kernels", 2, 3), ("kernels", 3, 3)]


def test_a_learner_starts_from_the_parameters_of_another():
    graph = small_graph()
    first = moved(learner_of(graph))
    second = learner_of(graph, ["two_steps", "features"])
    second.start_from(first)
    places = [first.names.index("two_steps"), first.names.index("features")]
    torch.testing.assert_close(second.parameters["weights"], first.parameters["weights"][places])
    torch.testing.assert_close(second.parameters["factors"], first.parameters["factors"][:, places])
    for name in ("ridge", "temperature"):
        assert torch.equal(second.parameters[name], first.parameters[name])
    before = {name: value.clone() for name, value in first.parameters.items()}
    second.learn(2)
    assert all(torch.equal(first.parameters[name], value) for name, value in before.items())
    assert not second.start["weights"].any()  # the pull stays that to the start values


def test_the_choice_leaves_light_kernels_out():
    learner = learner_of(small_graph(), ["features", "neighbours", "two_steps", "contrast"])
    shares = torch.tensor([0.3, 0.595, LEAST_WEIGHT / 4, 0.1])
    learner.parameters["weights"] = shares.log()
    learner.parameters["factors"] = torch.arange(12.0).reshape(3, 4).log1p()
    learner.parameters["ridge"] = torch.tensor(0.7).log()
    choice = learner.choice()
    assert [kernel.description for kernel in choice.kernels] == ["neighbours", "features", "contrast"]
    assert [kernel.weight for kernel in choice.kernels] == pytest.approx(
        [0.595 / 0.995, 0.3 / 0.995, 0.1 / 0.995], rel=1e-5
    )
    # Sharpness, features, neighbours of the second kernel: 1 + 1, 1 + 5, 1 + 9.
    assert [getattr(choice.kernels[0], name) for name in FACTORS] == pytest.approx([2, 6, 10], rel=1e-5)
    assert choice.ridge == pytest.approx(0.7)
    assert learner.heaviest(2) == ["neighbours", "features"]


def test_equal_weights_are_ordered_as_given():
    assert learner_of(small_graph(), ["two_steps", "features"]).heaviest(5) == ["two_steps", "features"]


# ---------------------------------------------------------------------- what is found


def equal_neighbours(seed: int = 1) -> Graph:
    """The neighbours carry the label, the features are noise.

    Each of 240 nodes is joined to 4 of 30 others: to 2 of the 10 of its class, and to 2 of all of them.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(240) % 3
    others = 240 + 10 * y[:, None] + np.argsort(rng.random((240, 10)), axis=1)[:, :4]
    others[:, 2:] = rng.integers(240, 270, (240, 2))
    edges = np.stack([np.repeat(np.arange(240), 4), others.ravel()])
    x = rng.standard_normal((270, 8), dtype=np.float32)
    return Graph(edges=edges, x=x, y=np.concatenate([y, np.full(30, -1)]))


def equal_features(seed: int = 0) -> Graph:
    """The features carry the label, the edges are noise."""
    return contextual_sbm(150, num_classes=3, num_features=8, homophily=0.34, signal=1.5, seed=seed)


def unlike_neighbours(seed: int = 0) -> Graph:
    """Nothing but the difference from the neighbours' features carries the label."""
    rng = np.random.default_rng(seed)
    # Groups of ten nodes that are joined among themselves share a large random vector.
    group, y = np.arange(160) // 10, np.arange(160) % 2
    edges = np.array([(i, j) for i in range(160) for j in range(i) if group[i] == group[j]]).T
    x = 10 * rng.standard_normal((16, 8))[group] + np.where(y[:, None], 0.7, -0.7) * np.ones(8)
    return Graph(edges=edges, x=x + rng.standard_normal((160, 8)), y=y)


@pytest.mark.parametrize(
    ("make", "carrier"), [(equal_neighbours, "neighbours"), (equal_features, "features")]
)
def test_the_description_that_carries_the_label_is_the_heaviest(make, carrier):
    graph = make()
    learner = learner_of(graph, ["features", "contrast", "neighbours"], np.array(graph.labelled))
    learner.learn(25)
    assert learner.heaviest(1) == [carrier]
    first, second, _ = torch.softmax(learner.parameters["weights"], dim=0).sort(descending=True).values
    assert first > 2 * second


@pytest.mark.parametrize("gain", [1000.0, -1000.0], ids=["mixture", "single"])
def test_the_whole_choice_finds_what_carries_the_label(gain, monkeypatch):
    monkeypatch.setattr(module, "GAIN", gain)
    graph = equal_neighbours()
    choice = choose_kernels(described(graph), KernelSettings(), Supervision(split(graph, "uniform")))
    carriers = ("neighbours", "rare_neighbours", "two_steps", "four_steps", "pagerank")
    assert choice.kernels[0].description in carriers
    assert (len(choice.kernels) == 1) == (gain < 0)
    assert sum(kernel.weight for kernel in choice.kernels) == pytest.approx(1, abs=1e-5)
    assert choice.quality > 70


def test_the_best_single_kernel_is_the_one_that_carries_the_label(monkeypatch):
    monkeypatch.setattr(module, "GAIN", -1000.0)
    graph = unlike_neighbours()
    choice = choose_kernels(described(graph), SETTINGS, Supervision(split(graph, "uniform")))
    assert [kernel.description for kernel in choice.kernels] == ["contrast"]
    assert choice.quality > 90


def test_a_single_kernel_is_chosen_only_if_it_gains(monkeypatch):
    graph = equal_features()
    arguments = described(graph), SETTINGS, Supervision(split(graph, "uniform"))
    monkeypatch.setattr(module, "GAIN", -1000.0)
    single = choose_kernels(*arguments)
    assert len(single.kernels) == 1
    assert single.kernels[0] == Kernel(single.kernels[0].description)
    assert single.ridge in module.SINGLE_RIDGES
    monkeypatch.setattr(module, "GAIN", 1000.0)
    mixture = choose_kernels(*arguments)
    assert 1 < len(mixture.kernels) <= module.KEPT_KERNELS


# ---------------------------------------------------------------------- quality


def test_quality_by_literal_refits():
    graph, train, val = small_graph(3, nodes=16), np.arange(10), np.arange(10, 15)
    kernels = (Kernel("features", 0.7), Kernel("neighbours", 0.3, 4.0, 0.5, 0.1))
    nodes = np.concatenate([train, val])
    kernel = mixture_block(kernels, described(graph), nodes, nodes).double()
    targets = F.one_hot(torch.from_numpy(graph.y[nodes]), 3).double() - 1 / 3
    best = None
    for ridge in (0.2, 2.0):
        scores = []
        for i in range(15):
            others = [j for j in range(10) if j != i]
            among = kernel[others][:, others] + ridge * torch.eye(len(others), dtype=torch.float64)
            scores.append(kernel[i, others] @ torch.linalg.solve(among, targets[others]))
        found = torch.stack(scores)
        # Accuracy over all 15 is the mean of the two parts, weighted by their sizes.
        right = (found.argmax(dim=1).numpy() == graph.y[nodes]).mean()
        error = float((found - targets).square().sum(dim=1).mean())
        quality = 100 * right - 20 * error
        if best is None or quality > best[1]:
            best = ridge, quality
    choice = module._Judge(described(graph), train, val, "accuracy").best(kernels, (0.2, 2.0))
    assert choice.kernels == kernels
    assert choice.ridge == best[0]
    assert choice.quality == pytest.approx(best[1], abs=1e-3)


def test_a_part_for_which_the_metric_is_undefined_does_not_count():
    graph = contextual_sbm(60, num_classes=2)
    train = np.arange(40)
    one_class = np.flatnonzero((graph.y == 1) & (np.arange(60) >= 40))
    kernels = (Kernel("features"),)
    judged = module._Judge(described(graph), train, one_class, "roc_auc").best(kernels, (0.1,))
    alone = module._Judge(described(graph), train, one_class[:0], "roc_auc").best(kernels, (0.1,))
    assert np.isfinite(judged.quality)
    # They differ by their squared errors only.
    assert abs(judged.quality - alone.quality) < 20
    nothing = module._Judge(described(graph), one_class, one_class[:0], "roc_auc").best(kernels, (0.1,))
    assert nothing.quality <= 0


# ---------------------------------------------------------------------- determinism and hidden labels


def test_the_choice_is_deterministic_and_depends_on_the_seed_by_its_samples(monkeypatch):
    graph = contextual_sbm(150, num_classes=3, homophily=0.5, signal=1.5)
    supervision = Supervision(split(graph, "uniform"))
    first = choose_kernels(described(graph), SETTINGS, supervision)
    torch.manual_seed(123)
    assert choose_kernels(described(graph), SETTINGS, supervision) == first
    # All nodes fit in the samples, so that another seed changes nothing.
    assert choose_kernels(described(graph), SETTINGS, replace(supervision, seed=5)) == first
    monkeypatch.setattr(module, "FIRST_NODES", 30)
    sampled = [
        choose_kernels(described(graph), replace(SETTINGS, nodes=40), replace(supervision, seed=seed))
        for seed in (0, 0, 1)
    ]
    assert sampled[0] == sampled[1]
    assert sampled[0] != sampled[2]


def test_test_labels_are_out_of_reach():
    graph = contextual_sbm(150, num_classes=3, homophily=0.5, signal=1.5)
    parts = split(graph, "uniform")
    first = choose_kernels(described(graph), SETTINGS, Supervision(parts))
    y = graph.y.copy()
    y[parts.test] = np.roll(y[parts.test], 1)
    assert (y != graph.y).any()
    other = Graph(edges=graph.edges, x=graph.x, y=y, classes=graph.classes)
    assert choose_kernels(described(other), SETTINGS, Supervision(parts)) == first


# ---------------------------------------------------------------------- odd graphs


def chosen_for(graph: Graph, parts: Split, kind: str = "auto") -> module.Choice:
    choice = choose_kernels(described(graph, kind), SETTINGS, Supervision(parts))
    numbers = [getattr(kernel, name) for kernel in choice.kernels for name in ("weight", *FACTORS)]
    assert np.isfinite([*numbers, choice.ridge, choice.quality]).all()
    assert choice.ridge >= LEAST_RIDGE * (1 - 1e-6)
    return choice


@pytest.mark.parametrize("train", [2, 3])
def test_few_training_nodes(train):
    graph = contextual_sbm(40, num_classes=2)
    by_class = np.argsort(graph.y, kind="stable")
    nodes = np.concatenate([by_class[[0, -1]], by_class[1:-1]])
    assert len(set(graph.y[nodes[:train]])) == 2
    chosen_for(graph, Split(nodes[:train], nodes[train : train + 10], nodes[train + 10 :]))


def test_a_class_with_one_training_node():
    graph = contextual_sbm(60, num_classes=3)
    nodes = np.arange(60)
    rare = nodes[graph.y == 2]
    common = nodes[graph.y != 2]
    train = np.sort(np.append(common[:25], rare[0]))
    val = np.concatenate([common[25:30], rare[1:4]])
    chosen_for(graph, Split(train, val, np.setdiff1d(nodes, np.concatenate([train, val]))))


@pytest.mark.parametrize("kind", ["none", "auto", "row"])
@pytest.mark.parametrize("value", [0.0, 1.0, 1e-30, 1e15])
def test_constant_features(value, kind):
    graph = contextual_sbm(40, num_classes=2)
    graph = Graph(edges=graph.edges, x=np.full((40, 3), value), y=graph.y)
    chosen_for(graph, split(graph, "uniform"), kind)


def test_sixty_classes():
    graph = contextual_sbm(240, num_classes=60, average_degree=3, homophily=0.5, signal=6.0)
    assert chosen_for(graph, split(graph, "stratified")).quality > 0


@pytest.mark.parametrize("sparse", [False, True])
def test_a_directed_graph(sparse):
    # The targets alone carry the label: each node points to 3 of the 8 of its class; edges back are noise.
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    targets = 120 + 8 * y[:, None] + np.argsort(rng.random((120, 8)), axis=1)[:, :3]
    edges = np.stack([np.repeat(np.arange(120), 3), targets.ravel()])
    noise = np.stack([rng.integers(120, 136, 360), rng.integers(0, 120, 360)])
    x = rng.standard_normal((136, 6)) * (rng.random((136, 6)) < 0.5)
    graph = Graph(
        edges=np.concatenate([edges, noise], axis=1),
        x=sp.csr_matrix(x) if sparse else x,
        y=np.append(y, np.full(16, -1)),
        directed=True,
    )
    choice = chosen_for(graph, split(graph, "uniform"))
    assert choice.kernels[0].description in ("targets", "rare_targets")
    assert choice.quality > 80


def test_a_graph_with_one_edge():
    graph = contextual_sbm(60, num_classes=2, signal=4.0)
    graph = Graph(edges=graph.edges[:, :1], x=graph.x, y=graph.y)
    assert chosen_for(graph, split(graph, "uniform")).quality > 60


def test_no_steps():
    graph = contextual_sbm(60, num_classes=2)
    arguments = described(graph), KernelSettings(steps=0), Supervision(split(graph, "uniform"))
    assert choose_kernels(*arguments).kernels
