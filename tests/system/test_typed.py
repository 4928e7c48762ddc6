"""Dataclasses from files: a value of another type than declared is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from otherhalf.system.typed import matches, typed


@dataclass(frozen=True)
class Example:
    count: int
    share: float | None
    names: tuple[str, ...] = ()
    scores: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rows: npt.NDArray[np.float64] | None = None
    anything: Any = None


def test_values_of_the_declared_types():
    made = typed(
        Example, {"count": 1, "share": 1, "names": ["a"], "scores": {"x": [0, 1.5]}, "anything": "y"}
    )
    assert (made.count, made.names, made.scores) == (1, ["a"], {"x": [0, 1.5]})
    assert typed(Example, {"count": 1, "share": None, "rows": np.ones(2)}).rows.sum() == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 1.0},
        {"count": True},
        {"count": "1"},
        {"count": None},
        {"share": "1"},
        {"share": [1.0]},
        {"names": "a"},
        {"names": [1]},
        {"names": {"a": 1}},
        {"scores": []},
        {"scores": {"x": [1]}},
        {"scores": {"x": [1, "2"]}},
        {"scores": {1: [1, 2]}},
        {"rows": [1.0]},
        {"unknown": 1},
    ],
)
def test_values_of_other_types(wrong):
    with pytest.raises(TypeError):
        typed(Example, {"count": 1, "share": 0.5, **wrong})


@pytest.mark.parametrize("values", [{}, [], None, "text", 1])
def test_what_is_no_description_of_it(values):
    with pytest.raises(TypeError):
        typed(Example, values)


def test_the_message_is_short():
    with pytest.raises(TypeError, match=r"^its count is '\w{36}\.\.\.$"):
        typed(Example, {"count": "x" * 1000, "share": None})


def test_lists():
    assert matches([1, 2], list[int])
    assert not matches([1, "2"], list[int])
