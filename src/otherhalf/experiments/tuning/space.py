"""What a search may choose: the settings of every model, each with the values that it may have.

A model has one or more ways to be fitted; GOAL has two. The settings of a way are its dimensions, and each
has its default among its values. A point of the space is the values that are not the defaults, so that the
defaults themselves are the empty point, whose fit is the one that ``otherhalf fit`` or ``compare`` makes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from otherhalf.complement.settings import AUTO, WITHOUT_NORM
from otherhalf.errors import InputError
from otherhalf.estimators.presets import BEST, EMBEDDING
from otherhalf.estimators.settings import HALVES
from otherhalf.estimators.simple_rows import SIMPLE
from otherhalf.estimators.trees import KINDS as TREE_KINDS
from otherhalf.estimators.trees import TreesSettings
from otherhalf.experiments.runner.models import (
    GOAL,
    GOAL_DEFAULT,
    GOAL_EMBEDDING,
    TREES,
    model_name,
    title_of,
)
from otherhalf.graph import Graph
from otherhalf.nn.backbone import NORMS, Architecture
from otherhalf.nn.inputs import SCALINGS, check_scaling
from otherhalf.nn.models.registry import MODELS, Option
from otherhalf.training.loop import TrainingSettings

Point = Mapping[str, Any]
"""A point of a way: the values that are not the defaults, by the names of their dimensions."""


@dataclass(frozen=True)
class Dimension:
    """A setting that is searched.

    Attributes:
        name: Argument of the model; ``ensemble.trees`` is the entry ``trees`` of the argument ``ensemble``.
        values: What it may be, in order if they have one.
        default: What it is if nobody says anything; one of the values.
        ordered: Whether values side by side are alike.
        when: Name of a switch; where that is off, this setting decides nothing and is left out.
    """

    name: str
    values: tuple[Any, ...]
    default: Any
    ordered: bool = True
    when: str = ""

    def __post_init__(self) -> None:
        if self.default not in self.values:
            raise ValueError(f"{self.name}: the default {self.default!r} is not among the values")


@dataclass(frozen=True)
class Way:
    """One way to fit a model, with what may be chosen for it.

    Attributes:
        name: Its name, by which ``compare`` knows it too.
        base: Arguments that all its fits have.
        dimensions: Its settings.
    """

    name: str
    base: Mapping[str, Any]
    dimensions: tuple[Dimension, ...]

    @property
    def model(self) -> str:
        """Name of the model in jobs and records."""
        return model_name(self.name)

    @property
    def title(self) -> str:
        """Its name as papers write it."""
        return title_of(self.name)

    @cached_property
    def by_name(self) -> dict[str, Dimension]:
        """Its dimensions by name."""
        return {each.name: each for each in self.dimensions}

    @property
    def size(self) -> int:
        """Number of points, those of settings that decide nothing counted too."""
        return prod(len(each.values) for each in self.dimensions)

    def decides(self, dimension: Dimension, values: Point) -> bool:
        """Whether a dimension decides anything beside these values of the others."""
        return not dimension.when or bool(values.get(dimension.when, self.by_name[dimension.when].default))

    def point(self, values: Point) -> dict[str, Any]:
        """Return the point with these values: without defaults, and without what decides nothing."""
        return {
            each.name: values[each.name]
            for each in self.dimensions
            if each.name in values and values[each.name] != each.default and self.decides(each, values)
        }

    def params(self, point: Point) -> dict[str, Any]:
        """Return the arguments of the model at a point."""
        params = dict(self.base)
        for name, value in point.items():
            argument, _, entry = name.partition(".")
            params[argument] = {**params.get(argument, {}), entry: value} if entry else value
        if "encoder" in params:  # a dictionary of its settings has to name it
            params["encoder"] = {"kind": EMBEDDING.complement.encoder.kind, **params["encoder"]}
        return params

    def without(self, name: str, values: Iterable[Any]) -> "Way":
        """Return this way, with these values of a dimension left out."""
        out = list(values)
        kept = tuple(
            replace(each, values=tuple(value for value in each.values if value not in out))
            if each.name == name
            else each
            for each in self.dimensions
        )
        return replace(self, dimensions=kept)


# ---------------------------------------------------------------------- dimensions that models share

SWITCH = (False, True)
COEFFICIENTS = ((1.0, 1.0, 0.5, 0.5), (1.0, 1.0, 0.1, 0.1), (1.0, 1.0, 1.0, 1.0), (0.0, 2.0, 2.0, 0.0))

OWN_VALUES = {
    "steps": (1, 2, 3, 5, 10),
    "teleport": (0.05, 0.1, 0.2, 0.5, 0.9),
    "walk_dropout": (0.0, 0.2, 0.5, 0.7),
}
"""Values of the options that some models have of their own (:data:`~otherhalf.nn.models.registry.MODELS`)."""


def _architecture(
    chosen: Architecture, *, prefix: str = "", when: str = "", layers: tuple[int, ...] = (1, 2, 3, 4)
) -> tuple[Dimension, ...]:
    def made(name: str, values: tuple[Any, ...], *, ordered: bool = True) -> Dimension:
        return Dimension(f"{prefix}{name}", values, getattr(chosen, name), ordered, when)

    return (
        made("hidden", (16, 32, 64, 128, 256)),
        made("layers", layers),
        made("dropout", (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8)),
        made("norm", tuple(NORMS), ordered=False),
        made("residual", SWITCH),
    )


def _training(chosen: TrainingSettings, *, prefix: str = "", when: str = "") -> tuple[Dimension, ...]:
    return (
        Dimension(f"{prefix}lr", (0.001, 0.003, 0.01, 0.03, 0.1), chosen.lr, when=when),
        Dimension(f"{prefix}weight_decay", (0.0, 5e-6, 5e-5, 5e-4, 5e-3), chosen.weight_decay, when=when),
    )


def _scaling(default: str = "auto") -> Dimension:
    return Dimension("scaling", SCALINGS, default, ordered=False)


def _coefficients(default: tuple[float, ...], when: str = "") -> Dimension:
    return Dimension("coefficients", COEFFICIENTS, default, ordered=False, when=when)


# ---------------------------------------------------------------------- the ways


def _goal() -> Way:
    """Return GOAL by leave-one-out: its half, the members of its ensemble, and the classifier among them."""
    chosen, members, kernel = BEST.goal, BEST.ensemble, BEST.kernel
    classifier = "ensemble.classifier"
    switches = ("trees", "propagation", "classifier", "magnitudes", "messages")
    return Way(
        GOAL,
        GOAL_DEFAULT,
        (
            _scaling(BEST.scaling),
            Dimension("k", (5, 10, 20, 40), kernel.k),
            Dimension("kernel.nodes", (750, 1_500, 3_000), kernel.nodes),
            Dimension("kernel.steps", (10, 25, 50), kernel.steps),
            Dimension(
                "ensemble.half", tuple(h for h in HALVES if h != "random"), members.half, ordered=False
            ),
            Dimension("ensemble.plain", (0, 1, 2, 3, 4), members.plain),
            *(Dimension(f"ensemble.{name}", SWITCH, getattr(members, name)) for name in switches),
            *_architecture(chosen.architecture, when=classifier, layers=(1, 2, 3)),
            *_training(chosen.training, when=classifier),
            _coefficients(chosen.coefficients, classifier),
            Dimension("learn_coefficients", SWITCH, chosen.learn_coefficients, when=classifier),
        ),
    )


def _goal_embedding() -> Way:
    """Return GOAL as in the paper: its encoder, its half and its classifier.

    The norm and the residual of the classifier are those of the encoder.
    """
    chosen, encoder = EMBEDDING.goal, EMBEDDING.complement.encoder
    shape = [each for each in _architecture(chosen.architecture) if each.name not in ("norm", "residual")]
    kinds = (AUTO, WITHOUT_NORM, *MODELS)
    return Way(
        GOAL_EMBEDDING,
        {"method": "embedding"},
        (
            _scaling(EMBEDDING.scaling),
            Dimension("encoder.kind", kinds, encoder.kind, ordered=False),
            *_architecture(encoder.architecture, prefix="encoder.", layers=(2, 3)),
            *_training(encoder.training, prefix="encoder."),
            Dimension("k", (5, 10, 20, 50, 100), EMBEDDING.complement.k_homophily),
            *shape,
            *_training(chosen.training),
            _coefficients(chosen.coefficients),
            Dimension("learn_coefficients", SWITCH, chosen.learn_coefficients),
            Dimension("blend", SWITCH, chosen.blend),
        ),
    )


def _trees() -> Way:
    chosen = TreesSettings()
    return Way(
        TREES,
        {},
        (
            _scaling(chosen.scaling),
            Dimension("kind", TREE_KINDS, chosen.kind, ordered=False),
            Dimension("leaf", (1, 2, 3, 5, 10, 20), chosen.leaf),
            Dimension("trees", (100, 300, 600), chosen.trees),
        ),
    )


def _baseline(name: str) -> Way:
    """Return a model of the registry: the backbone's settings, and its own options that are known here."""
    encoder, spec = BEST.complement.encoder, MODELS[name]
    shape = [each for each in _architecture(encoder.architecture) if each.name not in spec.fixed]
    own = [_own(key, option) for key, option in spec.own_options.items() if key in OWN_VALUES]
    return Way(name, {}, (_scaling(), *shape, *_training(encoder.training), *own))


def _own(name: str, option: Option) -> Dimension:
    allowed = {value for value in OWN_VALUES[name] if option.rule.allows(value)} | {option.default}
    return Dimension(name, tuple(sorted(allowed)), option.default)


def ways_of(models: Sequence[str]) -> list[Way]:
    """Return the ways of these models, each once; GOAL, whose default is that of ``fit``, comes first."""
    if not models:
        raise InputError("no model is named: give one or more, such as goal,gcn")
    found: dict[str, Way] = {}
    for name in sorted(models, key=lambda name: name != GOAL):
        title_of(name)  # raises InputError if there is no such model
        if name in SIMPLE:
            raise InputError(f"{name} chooses by itself and has nothing to search: leave it out")
        if name in (GOAL, GOAL_EMBEDDING):
            made = [_goal(), _goal_embedding()] if name == GOAL else [_goal_embedding()]
        else:
            made = [_trees() if name == TREES else _baseline(name)]
        found |= {way.name: way for way in made if way.name not in found}
    return list(found.values())


def ways_for(graph: Graph, models: Sequence[str]) -> list[Way]:
    """Return the ways of these models without values that this graph cannot have."""
    impossible = []
    for kind in SCALINGS:
        try:
            check_scaling(graph.x, kind)
        except InputError:
            impossible.append(kind)
    return [way.without("scaling", impossible) for way in ways_of(models)]
