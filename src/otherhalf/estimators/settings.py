"""Settings of the estimators, put together from those of the packages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otherhalf.complement.settings import ComplementSettings, check_complement
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.conv import COEFFICIENT_LIMIT
from otherhalf.nn.inputs import SCALINGS
from otherhalf.nn.models.registry import model_spec, resolve_options
from otherhalf.system.fields import check, flag, numbers, one_of, setting
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


@dataclass(frozen=True)
class Settings:
    """All settings of a GOALClassifier."""

    scaling: str = setting("auto", one_of(*SCALINGS))
    complement: ComplementSettings = setting(factory=ComplementSettings)
    goal: GOALSettings = setting(factory=GOALSettings)


@dataclass(frozen=True)
class BaselineSettings:
    """All settings of a BaselineClassifier; ``own_options`` are options of its model."""

    kind: str
    scaling: str = setting("auto", one_of(*SCALINGS))
    architecture: Architecture = setting(factory=Architecture, name="shape")
    training: TrainingSettings = setting(factory=TrainingSettings)
    own_options: Mapping[str, Any] = setting(factory=dict, name="walks")


def check_settings(settings: Settings | BaselineSettings) -> None:
    """Raise InputError if nothing can be trained with these settings."""
    check(settings)
    if isinstance(settings, Settings):
        check_complement(settings.complement)
    else:
        model_spec(settings.kind)
        resolve_options(settings.kind, settings.own_options)
