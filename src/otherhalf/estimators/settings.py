"""Settings of the estimators, put together from those of the packages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otherhalf.complement.missing_half import METHODS
from otherhalf.complement.settings import ComplementSettings, KernelSettings, check_complement
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.conv import COEFFICIENT_LIMIT
from otherhalf.nn.inputs import SCALINGS
from otherhalf.nn.models.registry import model_spec, resolve_options
from otherhalf.nn.sampling import ALL
from otherhalf.system.fields import Rule, check, flag, integer, numbers, one_of, setting
from otherhalf.training.class_weights import CLASS_WEIGHT
from otherhalf.training.loop import TrainingSettings


@dataclass(frozen=True)
class GOALSettings:
    """The classifier over both halves: its architecture, and α, β, γ, δ, fixed or learned (GOAL_at).

    With ``blend``, the final probabilities are a weighted mean of the classifier's and the encoder's; the
    validation nodes choose the weight.
    """

    architecture: Architecture = setting(factory=Architecture, name="shape")
    coefficients: tuple[float, ...] = setting((1.0, 1.0, 1.0, 1.0), numbers(4, 0, COEFFICIENT_LIMIT))
    learn_coefficients: bool = setting(False, flag())
    bias: bool = setting(False, flag())
    blend: bool = setting(False, flag())
    training: TrainingSettings = setting(factory=TrainingSettings)


HALVES = ("found", "random", "none")
TRAININGS = ("auto", "full", "rows")


@dataclass(frozen=True)
class EnsembleSettings:
    """Which members the ensemble of the method ``kernel`` has.

    Attributes:
        half: The missing half: ``found``, ``random`` (as many pairs, at random) or ``none``; the last two
            tell what the found half is worth.
        plain: Number of plain models that finish the race; on graphs that are not small, two at most.
        candidates: Names of the models that start; empty for all.
        folds: Number of trainings of a member on a small graph, each without a fold of the training nodes;
            three at most on a larger one, and one on a large one with many validation nodes.
        magnitudes: Whether the number of features and of neighbours are among the inputs.
        messages: Whether label messages are.
        trees: Whether trees on the graph as a table, randomised and boosted, are members.
        propagation: Whether label propagation is.
        classifier: Whether the classifier over both halves is.
        refit: Whether the chosen members are fitted once more, to training and validation nodes together.
        training: ``full`` batches, or mini-batches of precomputed ``rows``; ``auto`` decides by the size of
            the graph (:func:`~otherhalf.estimators.by_rows.goes_over_rows`).
    """

    half: str = setting("found", one_of(*HALVES))
    plain: int = setting(3, integer(0))
    candidates: tuple[str, ...] = setting((), None)
    folds: int = setting(5, integer(1))
    magnitudes: bool = setting(True, flag())
    messages: bool = setting(True, flag())
    trees: bool = setting(True, flag())
    propagation: bool = setting(True, flag())
    classifier: bool = setting(True, flag())
    refit: bool = setting(False, flag())
    training: str = setting("auto", one_of(*TRAININGS), late=True)


@dataclass(frozen=True)
class Settings:
    """All settings of a GOALClassifier.

    ``method`` is ``embedding``, the paper's: ``complement`` and ``goal`` are its settings. With ``kernel``
    they are ``kernel``, ``ensemble`` and ``goal``.
    """

    scaling: str = setting("auto", one_of(*SCALINGS))
    complement: ComplementSettings = setting(factory=ComplementSettings)
    goal: GOALSettings = setting(factory=GOALSettings)
    method: str = setting("embedding", one_of(*METHODS), late=True)
    kernel: KernelSettings = setting(factory=KernelSettings, late=True)
    ensemble: EnsembleSettings = setting(factory=EnsembleSettings, late=True)
    class_weight: Mapping[str, float] | str | None = setting(None, CLASS_WEIGHT, late=True)


FANOUT = Rule(
    lambda v: isinstance(v, tuple) and all(integer(1).allows(each) or each == ALL for each in v),
    "a sequence of integers ≥ 1, or −1 for all neighbours",
)


@dataclass(frozen=True)
class BaselineSettings:
    """All settings of a BaselineClassifier; ``own_options`` are options of its model.

    With a ``fanout``, it is trained on batches of ``batch_size`` nodes with so many neighbours at each hop.
    """

    kind: str
    scaling: str = setting("auto", one_of(*SCALINGS))
    architecture: Architecture = setting(factory=Architecture, name="shape")
    training: TrainingSettings = setting(factory=TrainingSettings)
    own_options: Mapping[str, Any] = setting(factory=dict, name="walks")
    class_weight: Mapping[str, float] | str | None = setting(None, CLASS_WEIGHT, late=True)
    fanout: tuple[int, ...] = setting((), FANOUT, late=True)
    batch_size: int = setting(1024, integer(1), late=True)


def check_settings(settings: Any) -> None:
    """Raise InputError if nothing can be trained with these settings, those of any estimator."""
    check(settings)
    if isinstance(settings, Settings):
        check_complement(settings.complement)
    elif isinstance(settings, BaselineSettings):
        model_spec(settings.kind)
        resolve_options(settings.kind, settings.own_options)
