"""Every model by name: its architecture, the operators that it reads, and its own options."""

import inspect

import pytest
import scipy.sparse as sp
import torch

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.models.mlp import MLP
from otherhalf.nn.models.registry import MODELS, ModelSpec, Option, build, model_spec, resolve_options
from otherhalf.nn.ops.attention import Neighbourhoods
from otherhalf.nn.ops.sparse import SparseOperator
from otherhalf.system.fields import integer

ARCHITECTURE = Architecture(hidden=6, dropout=0.0)
HALF, THIRD, S, Q = 1 / 2, 1 / 3, 2**-0.5, 6**-0.5
WITH_LOOPS = [[HALF, Q, 0], [Q, THIRD, Q], [0, Q, HALF]]
OPERATORS = {  # of the path 0 – 1 – 2
    "mlp": [],
    "gcn": [WITH_LOOPS],
    "appnp": [WITH_LOOPS],
    "gprgnn": [WITH_LOOPS],
    "jknet": [WITH_LOOPS],
    "sage": [[[0, 1, 0], [HALF, 0, HALF], [0, 1, 0]]],
    "chebynet": [[[0, S, 0], [S, 0, S], [0, S, 0]]],
    "linkx": [],
    "acmgcn": [[[HALF, HALF, 0], [THIRD, THIRD, THIRD], [0, HALF, HALF]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]],
    "structure": [],
}


@pytest.mark.parametrize("kind", OPERATORS)
def test_operators_of_a_path_by_hand(path, kind, operators):
    for operator, expected in zip(operators(kind, path), OPERATORS[kind], strict=True):
        torch.testing.assert_close(operator.matrix.to_dense(), torch.tensor(expected, dtype=torch.float32))


def test_gat_is_the_one_with_neighbourhoods(path, operators):
    (around,) = operators("gat", path)
    assert isinstance(around, Neighbourhoods)
    assert set(OPERATORS) | {"gat"} == set(MODELS)


@pytest.mark.parametrize("kind", MODELS)
def test_sparse_features_give_what_dense_ones_give(graph, inputs, kind, operators):
    torch.manual_seed(0)
    model = build(kind, 4, 3, graph.num_nodes, ARCHITECTURE)
    x = inputs.features * (inputs.features > 0)
    sparse = NodeInputs(SparseOperator.from_scipy(sp.csr_matrix(x.numpy())), inputs.neighbours)
    given = operators(kind, graph)
    out = model(sparse, *given)
    assert out.shape == (graph.num_nodes, 3)
    torch.testing.assert_close(out, model(NodeInputs(x, inputs.neighbours), *given))


@pytest.mark.parametrize("kind", MODELS)
def test_which_models_read_edges(graph, inputs, kind, operators):
    torch.manual_seed(0)
    model = build(kind, 4, 3, graph.num_nodes, ARCHITECTURE)
    fewer = Graph(edges=graph.edges[:, 1:], x=graph.x)
    without = NodeInputs(inputs.features, SparseOperator.from_scipy(fewer.adjacency))
    one, two = model(inputs, *operators(kind, graph)), model(without, *operators(kind, fewer))
    assert torch.equal(one, two) == (kind == "mlp")


@pytest.mark.parametrize("kind", MODELS)
def test_the_order_of_the_nodes_does_not_matter(graph, inputs, kind, operators):
    # Reverse the nodes, and with them the parameters that belong to nodes.
    torch.manual_seed(0)
    model = build(kind, 4, 3, graph.num_nodes, ARCHITECTURE)
    before = model(inputs, *operators(kind, graph)).detach()
    turned = Graph(edges=graph.num_nodes - 1 - graph.edges, x=graph.x[::-1].copy())
    rows = SparseOperator.from_scipy(turned.adjacency)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("trunk.neighbours.weight", "structure.weight")):
                parameter.copy_(parameter.flip(0))
    given = NodeInputs(inputs.features.flip(0), rows)
    after = model(given, *operators(kind, turned))
    torch.testing.assert_close(after.flip(0), before, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", MODELS)
def test_the_parts_that_are_fixed_override_the_architecture(kind):
    built = build(kind, 4, 3, 6, Architecture(hidden=6, norm="layer")).architecture
    assert (built.hidden, built.norm) == (6, "layer")
    assert all(getattr(built, name) == value for name, value in MODELS[kind].fixed.items())


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_that_reads_adjacency_rows_has_parameters_for_every_known_node(kind):
    shapes = [
        {
            name: parameter.shape
            for name, parameter in build(kind, 4, 3, nodes, ARCHITECTURE).named_parameters()
        }
        for nodes in (6, 7)
    ]
    assert (shapes[0] != shapes[1]) == MODELS[kind].reads_adjacency_rows


def test_an_unknown_model_is_one_clear_sentence():
    with pytest.raises(InputError, match="there is no model 'gcnn': choose one of mlp, gcn, gat"):
        model_spec("gcnn")
    with pytest.raises(InputError, match="there is no model 'gcnn'"):
        build("gcnn", 4, 3, 6, ARCHITECTURE)


# ---------------------------------------------------------------------- own options


def test_own_options_reach_their_models():
    appnp = build("appnp", 4, 3, 6, ARCHITECTURE, {"steps": 3, "teleport": 0.5})
    assert (appnp.steps, appnp.teleport) == (3, 0.5)
    gprgnn = build("gprgnn", 4, 3, 6, ARCHITECTURE, {"steps": 3, "teleport": 0.5, "walk_dropout": 0.25})
    assert (len(gprgnn.theta), gprgnn.walk_dropout) == (4, 0.25)
    assert len(build("chebynet", 4, 3, 6, ARCHITECTURE, {"steps": 3}).layers[0].linears) == 4


@pytest.mark.parametrize("kind", MODELS)
def test_without_options_every_model_has_its_defaults(kind):
    defaults = resolve_options(kind, {})
    assert defaults == {name: option.default for name, option in MODELS[kind].own_options.items()}
    for name, option in MODELS[kind].own_options.items():
        option.rule.check(name, option.default)
    build(kind, 4, 3, 6, ARCHITECTURE, defaults)


@pytest.mark.parametrize("kind", ["appnp", "gprgnn", "chebynet"])
def test_the_defaults_are_those_of_the_modules(kind):
    # A module that is built directly, without the registry, must be the same model.
    module = MODELS[kind].module
    layer = module.layer if kind == "chebynet" else module
    signature = inspect.signature(layer.__init__).parameters
    assert resolve_options(kind, {}) == {name: signature[name].default for name in MODELS[kind].own_options}


def test_none_means_the_default():
    assert resolve_options("appnp", {"steps": None, "teleport": 0.3}) == {"steps": 10, "teleport": 0.3}
    assert resolve_options("gcn", {"steps": None}) == {}


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("appnp", {"steps": 0}, "steps must be an integer ≥ 1 and ≤ 1000, not 0"),
        ("appnp", {"steps": 2.5}, "steps must be an integer ≥ 1 and ≤ 1000, not 2.5"),
        ("appnp", {"steps": True}, "steps must be an integer ≥ 1 and ≤ 1000, not True"),
        ("appnp", {"teleport": 1.5}, "teleport must be a number ≥ 0 and ≤ 1, not 1.5"),
        ("gprgnn", {"teleport": float("nan")}, "teleport must be a number ≥ 0 and ≤ 1, not nan"),
        ("gprgnn", {"walk_dropout": 1.0}, "walk_dropout must be a number ≥ 0 and < 1, not 1.0"),
        ("chebynet", {"steps": -1}, "steps must be an integer ≥ 1 and ≤ 1000, not -1"),
        (
            "chebynet",
            {"teleport": 0.1},
            "chebynet has no option 'teleport': leave it out (chebynet has steps)",
        ),
        ("gcn", {"steps": 3}, "gcn has no option 'steps': leave it out (gcn has no options of its own)"),
        ("mlp", {"hops": 3}, "mlp has no option 'hops': leave it out (mlp has no options of its own)"),
    ],
)
def test_wrong_options_are_one_clear_sentence(kind, options, sentence):
    with pytest.raises(InputError) as caught:
        resolve_options(kind, options)
    assert str(caught.value) == sentence


def test_a_new_model_declares_its_own_options(monkeypatch):
    monkeypatch.setitem(MODELS, "mine", ModelSpec("Mine", MLP, own_options={"hops": Option(2, integer(1))}))
    assert resolve_options("mine", {}) == {"hops": 2}
    assert resolve_options("mine", {"hops": 5}) == {"hops": 5}
    with pytest.raises(InputError, match="hops must be an integer ≥ 1, not 0"):
        resolve_options("mine", {"hops": 0})


def test_a_model_that_reads_an_unknown_operator_cannot_be_registered():
    with pytest.raises(InputError, match="Mine reads the unknown operator 'laplacian': add it to OPERATORS"):
        ModelSpec("Mine", MLP, ("normalized", "laplacian"))


@pytest.mark.parametrize("kind", [kind for kind, spec in MODELS.items() if spec.trials])
def test_the_trials_of_a_model_give_options_that_it_has(kind):
    for trial in MODELS[kind].trials:
        own = {name: value for name, value in trial.items() if name in MODELS[kind].own_options}
        assert own
        resolve_options(kind, own)
