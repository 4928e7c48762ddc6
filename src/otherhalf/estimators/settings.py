"""Everything that can be set, in one tree of plain values that can be written to JSON and read back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, TypeVar, get_type_hints

import numpy as np

from otherhalf.errors import InputError
from otherhalf.nn.backbone import NORMS, OUTPUTS, TRUNKS, Architecture
from otherhalf.nn.conv import COEFFICIENT_LIMIT
from otherhalf.nn.models.registry import KINDS, walks_of
from otherhalf.training.loop import TrainingSettings

SCALINGS = ("none", "row", "standard", "auto")
ENCODERS = ("auto", "gcn-plain", *KINDS)


@dataclass(frozen=True)
class EncoderSettings:
    """The pretrained encoder, Z_gnn = GNN(G) (Section 4.2).

    ``kind`` is any of the plain models, ``gcn-plain`` (a GCN without norm and residual), or ``auto``:
    ``mlp``, ``gcn``, ``gcn-plain`` and ``structure`` (an MLP over features and adjacency rows) are trained,
    and the best on the validation nodes is kept. ``steps``, ``teleport`` and ``walk_dropout`` are for the
    kinds that walk; None takes their defaults.
    """

    kind: str = "auto"
    shape: Architecture = field(default_factory=Architecture)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    steps: int | None = None
    teleport: float | None = None
    walk_dropout: float | None = None


@dataclass(frozen=True)
class HeadSettings:
    """The MLP head, Z_gc = MLP(Z_gnn), trained by grouping and ranking loss.

    ``ranking_k`` is the K of the ranking lists; ``max_candidates`` bounds how many training nodes may stand
    in them (Section 6.4). ``mean_ranking_loss`` divides the ranking loss, a sum over targets in the paper,
    by their number.
    """

    width: int = 64
    layers: int = 2
    dropout: float = 0.0
    ranking_k: int = 10
    max_candidates: int = 20_000
    mean_ranking_loss: bool = True
    training: TrainingSettings = field(default_factory=TrainingSettings)


@dataclass(frozen=True)
class ComplementSettings:
    """How the missing half is found: encoder, head, and the K nearest or farthest of every node.

    ``max_candidates`` bounds the nodes searched for each node; above it they are sampled and the result
    says so (Section 6.4).
    """

    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    head: HeadSettings = field(default_factory=HeadSettings)
    k_homophily: int = 10
    k_heterophily: int = 10
    max_candidates: int = 200_000


@dataclass(frozen=True)
class GOALSettings:
    """The classifier over both halves: its frame, and α, β, γ, δ, fixed or learned (GOAL_at).

    With ``blend``, the encoder has a say in the final probabilities, as large as suits the validation nodes.
    """

    shape: Architecture = field(default_factory=Architecture)
    coefficients: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    learn_coefficients: bool = False
    bias: bool = False
    blend: bool = False
    training: TrainingSettings = field(default_factory=TrainingSettings)


@dataclass(frozen=True)
class Settings:
    """A whole run."""

    scaling: str = "auto"
    complement: ComplementSettings = field(default_factory=ComplementSettings)
    goal: GOALSettings = field(default_factory=GOALSettings)


def check_settings(settings: Settings) -> None:
    """Refuse, before anything is done, settings that nothing could be trained with."""
    encoder, goal = settings.complement.encoder, settings.goal
    _check_choice("encoder", encoder.kind, ENCODERS)
    check_scaling(settings.scaling)
    walks_of(encoder.kind, encoder)
    _check_count("the encoder's layers", encoder.shape.layers, 2)  # one of them before the prediction layer
    head = settings.complement.head
    for name in ("width", "layers", "ranking_k", "max_candidates"):
        _check_count(f"the head's {name}", getattr(head, name))
    _check_count("k", settings.complement.k_homophily)
    _check_count("k", settings.complement.k_heterophily)
    _check_count("max_candidates", settings.complement.max_candidates)
    if len(goal.coefficients) != 4 or not all(
        isinstance(c, Real) and 0 <= c <= COEFFICIENT_LIMIT for c in goal.coefficients
    ):
        raise InputError(
            f"the coefficients {tuple(goal.coefficients)} are not four numbers from 0 to "
            f"{COEFFICIENT_LIMIT:g}: give alpha, beta, gamma and delta"
        )
    check_frame(encoder.shape, encoder.training)
    check_frame(goal.shape, goal.training)


def check_scaling(scaling: str) -> None:
    """Refuse a scaling that is not known."""
    _check_choice("scaling", scaling, SCALINGS)


def check_frame(shape: Architecture, training: TrainingSettings) -> None:
    """Refuse a frame or a training that no model could be trained with."""
    _check_choice("norm", shape.norm, tuple(NORMS))
    _check_choice("trunk", shape.trunk, TRUNKS)
    _check_choice("output", shape.output, OUTPUTS)
    _check_count("hidden", shape.hidden)
    _check_count("layers", shape.layers)
    if not isinstance(shape.residual, bool | np.bool_):
        raise InputError(f"residual={shape.residual!r} is neither true nor false: give one of them")
    if not isinstance(shape.dropout, Real) or not 0 <= shape.dropout < 1:
        raise InputError(f"the dropout {shape.dropout} is not a share below 1: give 0 to 0.9, say")
    if not isinstance(training.lr, Real) or not 0 < training.lr < float("inf"):
        raise InputError(f"the step size lr={training.lr} is not above 0: give 0.01, say")
    if not isinstance(training.weight_decay, Real) or not training.weight_decay >= 0:
        raise InputError(f"weight_decay={training.weight_decay} is too small: give 0 or more")
    _check_count("epochs", training.epochs)
    _check_count("patience", training.patience)


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"there is no {name} {value!r}: choose one of {', '.join(choices)}")


def _check_count(name: str, value: Any, least: int = 1) -> None:
    if not isinstance(value, Integral):
        raise InputError(f"{name}={value!r} is no whole number: give {least} or more")
    if value < least:
        raise InputError(f"{name}={value} is too small: give {least} or more")


T = TypeVar("T")


def to_dict(settings: Any) -> dict[str, Any]:
    """Plain nested dictionaries."""
    return asdict(settings)


def plain_number(value: Any) -> Any:
    """What json makes of numpy's numbers, which searches over settings like to give."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written to JSON")


def from_dict(kind: type[T], values: dict[str, Any]) -> T:
    """The settings that :func:`to_dict` was given."""
    hints = get_type_hints(kind)
    built = {}
    for item in fields(kind):  # type: ignore[arg-type]
        if item.name not in values:  # written before there was such a setting: its default
            continue
        value = values[item.name]
        hint = hints[item.name]
        if is_dataclass(hint):
            value = from_dict(hint, value)  # type: ignore[arg-type]
        elif isinstance(value, list):
            value = tuple(value)
        built[item.name] = value
    return kind(**built)
