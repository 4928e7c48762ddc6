"""Values that many calls need, in the store of shared objects of a Ray."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shared:
    """A value in the store of shared objects, which each machine fetches once.

    Attributes:
        key: What it is, by content.
        box: Ray's reference in a list: Ray would fetch a bare one for every call.
    """

    key: Hashable
    box: list[Any]
