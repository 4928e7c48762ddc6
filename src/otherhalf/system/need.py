"""The memory that a fit or a prediction needs, in named parts, and the sentence where it is too much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from otherhalf.errors import NotEnoughMemory
from otherhalf.system.memory import in_bytes, room
from otherhalf.system.process import give_back_freed_memory


class Part(NamedTuple):
    """A part of the memory of a stage.

    Attributes:
        name: What it holds, in the plural: "hidden states".
        size: Bytes.
        fix: What makes it smaller, as a request to the user.
    """

    name: str
    size: float
    fix: str


@dataclass(frozen=True)
class Stage:
    """What one stage of a fit holds at the same time, in addition to the graph."""

    name: str
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return int(sum(part.size for part in self.parts))

    @property
    def largest(self) -> Part:
        """The largest part."""
        return max(self.parts, key=lambda part: part.size)

    def beside(self, *parts: Part) -> Stage:
        """Return the stage where these parts are held too."""
        return Stage(self.name, (*self.parts, *parts))


@dataclass(frozen=True)
class Need:
    """What a fit needs in addition to the graph. Its stages follow each other: the largest decides.

    Attributes:
        stages: The stages.
        work: What needs it: a fit, or a prediction.
    """

    stages: tuple[Stage, ...]
    work: str = "the fit"

    @property
    def largest(self) -> Stage:
        """The largest stage."""
        return max(self.stages, key=lambda stage: stage.size)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.largest.size

    def check(self) -> None:
        """Raise NotEnoughMemory if this process can no longer allocate as much."""
        stage = self.largest
        if stage.size > room().free:
            give_back_freed_memory()  # what an earlier fit left in this process is free too
        left, part = room(), stage.largest
        if stage.size > left.free:
            raise NotEnoughMemory(
                f"{self.work} needs about {in_bytes(stage.size)} and {in_bytes(left.free)} are free, by "
                f"{left.limit}; most, {in_bytes(part.size)}, is for {part.name} in {stage.name}: {part.fix}"
            )
