"""The memory of a training: parts worked out by hand, and more of everything needs more."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from otherhalf import Graph
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.nn import memory
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.memory import Footprint, Sizes, count_parameters, graph_bytes, input_parts, model_parts
from otherhalf.nn.models.registry import MODELS, build, parameter_count, resolve_options, training_stage

GRAPH = contextual_sbm(num_nodes=200, num_features=8, num_classes=3, average_degree=4, seed=0)
SIZES = Sizes(nodes=100, edges=300, features=10, classes=4, train=50)


def sizes_of(parts):
    return {part.name: part.size for part in parts}


def test_sizes_of_a_graph():
    assert Sizes.of(GRAPH, 50) == Sizes(200, 400, 8, 3, 50)
    x = sp.csr_matrix((np.ones(200), (np.arange(200), np.arange(200) % 50)), shape=(200, 50))
    assert Sizes.of(Graph(edges=GRAPH.edges, x=x), 50).entries == 200
    half_full = sp.csr_matrix(np.tile([1.0, 0.0], (200, 25)))  # models read these as dense ones
    assert Sizes.of(Graph(edges=GRAPH.edges, x=half_full), 50).entries is None


def test_the_inputs():
    found = sizes_of(input_parts(SIZES))
    assert found["the features"] == 100 * 10 * 4 * memory.DENSE_COPIES
    assert found["the edges"] == 600 * memory.EDGE_ENTRY
    assert sizes_of(input_parts(replace(SIZES, entries=7)))["the features"] == 7 * memory.FEATURE_ENTRY
    assert sizes_of(input_parts(SIZES, ("mean",)))["the edges"] == 600 * (memory.EDGE_ENTRY + 25)


def test_the_parts_of_a_model():
    footprint = Footprint(2, 3, logits=5, maps=1, edge_values=8, each_step=1, maps_step=1, logits_step=2)
    found = sizes_of(model_parts(SIZES, footprint, Architecture(hidden=16, layers=3), {"steps": 2}))
    # Two hidden states before the prediction layer, each with 3 + 2 · 1 matrices, and 2 on top.
    assert found["the hidden states"] == 100 * 16 * 4 * (2 + 2 * 5)
    assert found["the logits"] == 100 * 4 * 4 * (5 + 2 * 2)
    assert found["the attention"] == 600 * 8 * 4 * 4
    # Three maps: of 10 features in the first layer, of 16 in the two others.
    assert found["the parameters"] == 3 * (10 + 16 + 16) * 16 * 4 * memory.COPIES


def test_a_trunk_is_one_more_state_and_reads_the_features_once():
    plain, footprint = Architecture(hidden=16, layers=2), Footprint(0, 1)
    trunk = replace(plain, trunk="features+neighbours")
    states = [
        sizes_of(model_parts(SIZES, footprint, each, {}))["the hidden states"] for each in (plain, trunk)
    ]
    assert states == [100 * 16 * 4, 2 * 100 * 16 * 4]
    assert count_parameters(SIZES, footprint, trunk, {}, row_maps=1) == (2 * 16 + 10 + 100) * 16


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("residual", [False, True])
def test_parameters_are_about_those_of_the_module(name, residual):
    architecture = Architecture(hidden=64, layers=4, norm="layer", residual=residual)
    options = resolve_options(name, {})
    sizes = Sizes(nodes=2000, edges=1, features=500, classes=5, train=1)
    module = build(name, 500, 5, 2000, architecture, options)
    count = sum(each.numel() for each in module.parameters())
    # A residual map of a layer that reads no features, and narrow prediction layers, are counted in full.
    assert count == pytest.approx(parameter_count(name, sizes, architecture, options), rel=0.3)


def test_the_bytes_of_a_graph():
    assert graph_bytes(GRAPH) == 200 * 8 * 4 + GRAPH.edges.nbytes + GRAPH.undirected_edges.nbytes


growths = st.sampled_from(
    ["nodes", "edges", "features", "classes", "entries", "hidden", "layers", "steps", "none"]
)


@given(
    name=st.sampled_from(sorted(MODELS)),
    start=st.tuples(*(st.integers(1, 10**6) for _ in range(4))),
    sparse=st.booleans(),
    hidden=st.integers(1, 512),
    layers=st.integers(2, 10),
    what=growths,
    more=st.integers(1, 1000),
)
def test_more_of_anything_needs_at_least_as_much(name, start, sparse, hidden, layers, what, more):
    nodes, edges, features, classes = start
    sizes = Sizes(nodes, edges, features, classes, 1, nodes if sparse else None)
    architecture, options = Architecture(hidden=hidden, layers=layers), resolve_options(name, {})

    def size(sizes, architecture, options):
        return training_stage(name, sizes, architecture, options).size

    before = size(sizes, architecture, options)
    if what in ("hidden", "layers"):
        architecture = replace(architecture, **{what: getattr(architecture, what) + more})
    elif what == "steps" and "steps" in options:
        options = {**options, "steps": options["steps"] + more}
    elif hasattr(sizes, what) and getattr(sizes, what) is not None:
        sizes = replace(sizes, **{what: getattr(sizes, what) + more})
    after = size(sizes, architecture, options)
    assert after >= before
    if what in ("nodes", "edges", "hidden", "layers"):
        assert after > before
