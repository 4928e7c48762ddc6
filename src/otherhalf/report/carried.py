"""The columns that carried the predictions of some nodes, with what was in their cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from otherhalf.complement.search import top_k
from otherhalf.report.cells import UserColumns
from otherhalf.report.linear import Reading, dense, nodes_to_read, read_linearly
from otherhalf.report.reported import Reported
from otherhalf.report.values import numbers
from otherhalf.system.arrays import FloatArray, IntArray

BLOCK_ENTRIES = 8_000_000
"""Effects in memory at a time (32 MB)."""

DIGITS = 3


@dataclass(frozen=True, eq=False)
class CarriedColumns:
    """The largest effects on the predicted class of each of some nodes.

    Attributes:
        reading: The linear reading that they are of.
        names: Names of the columns that occur.
        listed: For each node, a list of place in ``names``, cell and effect, the largest effect first; None
            where the reading explains too little of the predicted class.
    """

    reading: Reading
    names: list[str]
    listed: list[list[list[Any]] | None]

    @classmethod
    def of(cls, fit: Reported, nodes: IntArray, most: int) -> CarriedColumns | None:
        """Read the model linearly, and find the largest effects; None where no column varies.

        Args:
            fit: The fit.
            nodes: The nodes.
            most: Number of columns that are listed for each.
        """
        # Only the rows that are needed are scaled: all of them may fill the memory.
        x, scale = fit.graph.x, fit.prepared.scaling.apply
        sample = nodes_to_read(fit.graph.num_nodes, fit.seed)
        reading = read_linearly(scale(x[sample]), fit.probabilities[sample])
        if reading is None:
            return None
        columns, classes = UserColumns.of(fit.graph), fit.predicted[nodes]
        explained = reading.explains(classes)
        place: dict[int, int] = {}
        listed: list[list[list[Any]] | None] = []
        step = max(1, BLOCK_ENTRIES // x.shape[1])
        for start in range(0, len(nodes), step):
            part = slice(start, start + step)
            effects = columns.summed(reading.effects(scale(x[nodes[part]]), classes[part]))
            cells = dense(x[nodes[part]])
            for row, (found, sizes) in enumerate(zip(*_largest(effects, most), strict=True)):
                told = [
                    [place.setdefault(column, len(place)), columns.cell(cells[row], column), effect]
                    for column, effect in zip(found, sizes, strict=True)
                    if explained[start + row] and column >= 0 and effect
                ]
                listed.append(told if explained[start + row] else None)
        return cls(reading, [columns.names[column] for column in place], listed)


def _largest(effects: FloatArray, most: int) -> tuple[list[list[int]], list[list[float]]]:
    """Return the columns with the largest absolute effects of each row, and the effects."""
    sizes = torch.from_numpy(np.abs(effects))
    rows = torch.arange(len(effects))
    places, _ = top_k(lambda queries: sizes[queries], rows, effects.shape[1], most, largest=True)
    found = places.numpy()
    return found.tolist(), numbers(np.take_along_axis(effects, np.maximum(found, 0), axis=1), DIGITS)
