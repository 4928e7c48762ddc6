"""Values that many calls need, in the store of shared objects of a Ray."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shared:
    """A value in the store, which each machine fetches once. A call has the value itself.

    Attributes:
        key: What it is; no other value has the same.
        box: Ray's reference in a list: Ray would fetch a bare one for every call.
    """

    key: Hashable
    box: list[Any]


@dataclass(frozen=True)
class Parts:
    """Values in the store that need not fit into a worker together. A call iterates over them."""

    values: tuple[Shared, ...]


def boxes_of(arguments: tuple[Any, ...]) -> list[Any]:
    """Return the boxes of the shared values among the arguments, in order."""
    boxes = []
    for each in arguments:
        boxes += [each.box] if isinstance(each, Shared) else []
        boxes += [one.box for one in each.values] if isinstance(each, Parts) else []
    return boxes


def without_boxes(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments without Ray's references, which must reach Ray as they are."""
    return tuple(map(_without_box, arguments))


def _without_box(value: Any) -> Any:
    if isinstance(value, Shared):
        return Shared(value.key, [])
    return Parts(tuple(Shared(one.key, []) for one in value.values)) if isinstance(value, Parts) else value
