"""Every plain model by name: how it is built, and what its layers are called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.backbone import Architecture, Backbone, NodeInputs
from otherhalf.nn.models.acmgcn import ACMGCN
from otherhalf.nn.models.appnp import APPNP
from otherhalf.nn.models.chebynet import ChebyNet
from otherhalf.nn.models.gat import GAT, Neighbourhoods
from otherhalf.nn.models.gcn import GCN
from otherhalf.nn.models.gprgnn import GPRGNN
from otherhalf.nn.models.jknet import JKNet
from otherhalf.nn.models.linkx import LINKX
from otherhalf.nn.models.mlp import MLP
from otherhalf.nn.models.sage import GraphSAGE
from otherhalf.nn.ops.sparse import SparseOperator, mean_adjacency, normalized_adjacency

Operators = tuple[Any, ...]


def _none(graph: Graph, inputs: NodeInputs) -> Operators:
    return ()


def _with_loops(graph: Graph, inputs: NodeInputs) -> Operators:
    return (normalized_adjacency(graph.adjacency, self_loops=True).to(inputs.device),)


def _without_loops(graph: Graph, inputs: NodeInputs) -> Operators:
    return (normalized_adjacency(graph.adjacency).to(inputs.device),)


def _mean(graph: Graph, inputs: NodeInputs) -> Operators:
    return (mean_adjacency(graph.adjacency).to(inputs.device),)


def _neighbourhoods(graph: Graph, inputs: NodeInputs) -> Operators:
    return (Neighbourhoods.from_scipy(graph.adjacency).to(inputs.device),)


def _mean_and_rows(graph: Graph, inputs: NodeInputs) -> Operators:
    mean: SparseOperator = mean_adjacency(graph.adjacency, self_loops=True).to(inputs.device)
    return mean, inputs.neighbours


@dataclass(frozen=True)
class Kind:
    """One kind of model.

    Attributes:
        title: Its name as papers write it.
        module: The class on the skeleton.
        operators: Makes what its layers are called with besides the hidden state.
        walks: Which of :data:`WALKS` it takes, and their defaults.
        trunk: A trunk it always has.
    """

    title: str
    module: Callable[..., Backbone]
    operators: Callable[[Graph, NodeInputs], Operators]
    walks: dict[str, float] | None = None
    trunk: str | None = None


KINDS = {
    "mlp": Kind("MLP", MLP, _none),
    "gcn": Kind("GCN", GCN, _with_loops),
    "gat": Kind("GAT", GAT, _neighbourhoods),
    "appnp": Kind("APPNP", APPNP, _with_loops, {"steps": 10, "teleport": 0.1}),
    "sage": Kind("GraphSAGE", GraphSAGE, _mean),
    "chebynet": Kind("ChebyNet", ChebyNet, _without_loops, {"steps": 2}),
    "gprgnn": Kind("GPR-GNN", GPRGNN, _with_loops, {"steps": 10, "teleport": 0.1, "walk_dropout": 0.0}),
    "jknet": Kind("JKNet", JKNet, _with_loops),
    "linkx": Kind("LINKX", LINKX, _none),
    "acmgcn": Kind("ACM-GCN+", ACMGCN, _mean_and_rows),
    "structure": Kind("MLP over adjacency rows", MLP, _none, trunk="features+neighbours"),
}
"""The paper's eight, two stronger rivals on heterophilous graphs, and the encoder of our own."""


WALKS = ("steps", "teleport", "walk_dropout")
"""What the kinds that walk over the graph have of their own."""


def walks_of(kind: str, said: object) -> dict[str, Any]:
    """How a kind walks: the :data:`WALKS` that ``said`` has as attributes, defaults where one is None.

    Refuses what the kind does not take.
    """
    defaults = (KINDS[kind].walks or {}) if kind in KINDS else {}
    given: dict[str, Any] = {name: getattr(said, name) for name in WALKS}
    unused = [name for name, value in given.items() if value is not None and name not in defaults]
    if unused:
        raise InputError(f"{kind} has no {unused[0]}: leave it out")
    for name, value in given.items():
        if value is not None and not isinstance(value, Real):
            raise InputError(f"{name}={value!r} is no number: give one")
    walks = {name: usual if given[name] is None else given[name] for name, usual in defaults.items()}
    if "steps" in walks:
        if not walks["steps"] >= 1 or walks["steps"] % 1:
            raise InputError(f"steps={walks['steps']} is not a number of steps: give 1 or more")
        walks["steps"] = int(walks["steps"])
    if not 0 <= walks.get("teleport", 0) <= 1:
        raise InputError(f"teleport={walks['teleport']} is no probability: give 0.1, say")
    if not 0 <= walks.get("walk_dropout", 0) < 1:
        raise InputError(f"walk_dropout={walks['walk_dropout']} is not a share below 1: give 0.5, say")
    return walks


def build(
    kind: str, num_features: int, num_classes: int, num_known: int, shape: Architecture, **walks: float
) -> Backbone:
    """An untrained model; ``walks`` are those of :data:`WALKS` that the kind takes."""
    chosen = KINDS[kind]
    if chosen.trunk is not None:
        shape = replace(shape, trunk=chosen.trunk)
    return chosen.module(num_features, num_classes, num_known, shape, **walks)


def operators(kind: str, graph: Graph, inputs: NodeInputs) -> Operators:
    """What the model's layers are called with besides the hidden state."""
    return KINDS[kind].operators(graph, inputs)
