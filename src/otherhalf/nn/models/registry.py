"""Every model by name. A new model is one file with its module and one entry here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from otherhalf.errors import InputError
from otherhalf.nn.backbone import Architecture, Backbone
from otherhalf.nn.memory import NARROWER, Footprint, Sizes, count_parameters, input_parts, model_parts
from otherhalf.nn.models.acmgcn import ACMGCN
from otherhalf.nn.models.appnp import APPNP
from otherhalf.nn.models.chebynet import ChebyNet
from otherhalf.nn.models.gat import GAT
from otherhalf.nn.models.gcn import GCN
from otherhalf.nn.models.gprgnn import GPRGNN
from otherhalf.nn.models.jknet import JKNet
from otherhalf.nn.models.linkx import LINKX
from otherhalf.nn.models.mlp import MLP
from otherhalf.nn.models.sage import GraphSAGE
from otherhalf.nn.ops.compiled import HEADS
from otherhalf.nn.prepared import ADJACENCY_ROWS, OPERATORS
from otherhalf.system.fields import Rule, integer, number
from otherhalf.system.need import Stage

Trials = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Option:
    """An option of one model: its default, and the rule for its value."""

    default: Any
    rule: Rule


@dataclass(frozen=True, eq=False)
class ModelSpec:
    """One model.

    Attributes:
        title: Its name in papers.
        module: Its class on the backbone.
        operators: Names of the arguments of its layers after the hidden state
            (:data:`~otherhalf.nn.prepared.OPERATORS`, or the adjacency rows).
        own_options: Options of this model only.
        fixed: Parts of the architecture that are always the same.
        reads_adjacency_rows: Whether it has parameters for every node of the fitted graph.
        trials: Options and settings of its own in a search over settings: one entry for each of the
            architectures that the search tries with every model; empty if it has none.
        compared: Whether a comparison of all models includes it.
        in_paper: Whether it is in the paper's first table.
        footprint: What it holds in memory while it is trained.
    """

    title: str
    module: Callable[..., Backbone]
    operators: tuple[str, ...] = ()
    own_options: Mapping[str, Option] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    reads_adjacency_rows: bool = False
    trials: Trials = ()
    compared: bool = True
    in_paper: bool = False
    footprint: Footprint = Footprint()

    def __post_init__(self) -> None:
        unknown = [name for name in self.operators if name not in (*OPERATORS, ADJACENCY_ROWS)]
        if unknown:
            raise InputError(f"{self.title} reads the unknown operator {unknown[0]!r}: add it to OPERATORS")


def _each(**columns: tuple[Any, ...]) -> Trials:
    """Return the rows of a table given by its columns."""
    return tuple(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


STEPS, TELEPORT = Option(10, integer(1, 1_000)), Option(0.1, number(0, 1))
WALK_DROPOUT = Option(0.0, number(0, 1, below=True))

# GPR-GNN learns its weights of far distances slowly: two trials have a large learning rate, no decay and many
# epochs, as in the authors' code.
_AUTHORS_GPR = {"epochs": 1000, "norm": "none", "residual": False, "lr": 0.05, "weight_decay": 0.0}

MODELS: dict[str, ModelSpec] = {
    "mlp": ModelSpec("MLP", MLP, in_paper=True),
    "gcn": ModelSpec("GCN", GCN, ("normalized_with_loops",), in_paper=True, footprint=Footprint(7, 8)),
    # The prediction layer has eight heads of the width C each, which are averaged.
    "gat": ModelSpec(
        "GAT",
        GAT,
        ("neighbourhoods",),
        in_paper=True,
        footprint=Footprint(10, 10, logits=8.5 * HEADS, edge_values=HEADS),
    ),
    "appnp": ModelSpec(
        "APPNP",
        APPNP,
        ("normalized_with_loops",),
        {"steps": STEPS, "teleport": TELEPORT},
        trials=_each(steps=(10, 10, 10, 10, 5, 5, 10, 10), teleport=(0.1, 0.1, 0.2, 0.1, 0.5, 0.2, 0.2, 0.5)),
        in_paper=True,
        footprint=Footprint(logits_step=3),
    ),
    "sage": ModelSpec("GraphSAGE", GraphSAGE, ("mean",), in_paper=True, footprint=Footprint(5.5, 8, maps=2)),
    "chebynet": ModelSpec(
        "ChebyNet",
        ChebyNet,
        ("normalized",),
        {"steps": Option(2, integer(1, 1_000))},
        trials=_each(steps=(2, 2, 1, 1, 1, 2, 3, 2)),
        in_paper=True,
        footprint=Footprint(6.5, 7, each_step=3, maps_step=1),
    ),
    "gprgnn": ModelSpec(
        "GPR-GNN",
        GPRGNN,
        ("normalized_with_loops",),
        {"steps": STEPS, "teleport": TELEPORT, "walk_dropout": WALK_DROPOUT},
        trials=(
            {"steps": 10, "teleport": 0.1, "walk_dropout": 0.0},
            {"steps": 10, "teleport": 0.1, "walk_dropout": 0.5},
            {"steps": 10, "teleport": 0.5, "walk_dropout": 0.0},
            {"steps": 10, "teleport": 0.1, "walk_dropout": 0.0},
            {"steps": 10, "teleport": 0.9, "walk_dropout": 0.0},
            {"steps": 10, "teleport": 0.0, "walk_dropout": 0.5, **_AUTHORS_GPR, "patience": 100},
            {"steps": 10, "teleport": 1.0, "walk_dropout": 0.7, **_AUTHORS_GPR, "patience": 200},
            {"steps": 10, "teleport": 0.9, "walk_dropout": 0.5},
        ),
        in_paper=True,
        footprint=Footprint(logits_step=3),
    ),
    "jknet": ModelSpec(
        "JKNet",
        JKNet,
        ("normalized_with_loops",),
        fixed={"output": "linear"},
        in_paper=True,
        footprint=Footprint(12, 9),
    ),
    "linkx": ModelSpec(
        "LINKX",
        LINKX,
        fixed={"trunk": "features+neighbours"},
        reads_adjacency_rows=True,
        footprint=Footprint(11, 6),
    ),
    "acmgcn": ModelSpec(
        "ACM-GCN+",
        ACMGCN,
        ("mean_with_loops", ADJACENCY_ROWS),
        reads_adjacency_rows=True,
        footprint=Footprint(16, 15, maps=3),
    ),
    "structure": ModelSpec(
        "MLP over adjacency rows",
        MLP,
        fixed={"trunk": "features+neighbours"},
        reads_adjacency_rows=True,
        compared=False,
        footprint=Footprint(9, 6),
    ),
}
"""The paper's baselines, APPNP, LINKX and ACM-GCN+, and the encoder that only this package has."""


def model_spec(name: str) -> ModelSpec:
    """Return the entry of a model; raise InputError if the name is unknown."""
    if name not in MODELS:
        raise InputError(f"there is no model {name!r}: choose one of {', '.join(MODELS)}")
    return MODELS[name]


def resolve_options(model: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all own options of a model: the given ones, and defaults for those that are missing or None.

    Raise InputError if the model does not have an option, or if its value is not allowed.
    """
    known = model_spec(model).own_options
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        if name not in known:
            has = f"has {', '.join(known)}" if known else "has no options of its own"
            raise InputError(f"{model} has no option {name!r}: leave it out ({model} {has})")
        known[name].rule.check(name, value)
    return {name: given.get(name, option.default) for name, option in known.items()}


def build(
    model: str,
    num_features: int,
    num_classes: int,
    num_known: int,
    architecture: Architecture,
    own_options: Mapping[str, Any] | None = None,
) -> Backbone:
    """Return an untrained model; ``num_known`` is the number of nodes of the graph that it is fitted on."""
    spec = model_spec(model)
    chosen = replace(architecture, **spec.fixed)
    return spec.module(num_features, num_classes, num_known, chosen, **(own_options or {}))


def training_stage(
    model: str,
    sizes: Sizes,
    architecture: Architecture,
    own_options: Mapping[str, Any] | None = None,
    *,
    fix: str = NARROWER,
) -> Stage:
    """Return the memory of a training of a model; ``fix`` says what makes the model smaller."""
    spec, chosen, row_maps = model_spec(model), *_as_built(model, architecture)
    own = model_parts(sizes, spec.footprint, chosen, own_options or {}, row_maps=row_maps, fix=fix)
    return Stage(f"the training of {spec.title}", (*input_parts(sizes, spec.operators), *own))


def parameter_count(
    model: str, sizes: Sizes, architecture: Architecture, own_options: Mapping[str, Any] | None = None
) -> int:
    """Return about how many parameters a model has."""
    chosen, row_maps = _as_built(model, architecture)
    return count_parameters(sizes, model_spec(model).footprint, chosen, own_options or {}, row_maps=row_maps)


def _as_built(model: str, architecture: Architecture) -> tuple[Architecture, int]:
    """Return the architecture with what the model fixes, and the number of maps that read adjacency rows."""
    spec, row_maps = model_spec(model), 0
    if ADJACENCY_ROWS in spec.operators:
        row_maps = max(1, architecture.layers - 1)  # that of the prediction layer is narrow
    elif spec.reads_adjacency_rows:
        row_maps = 1
    return replace(architecture, **spec.fixed), row_maps
