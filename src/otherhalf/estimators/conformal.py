r"""Prediction sets that hold the true class with a given probability: split conformal prediction.

The score of a node is :math:`s_i = 1 - p_i(y_i)`, one less the probability of its true class. Let q be the
k-th smallest score of n nodes with known labels, the calibration nodes, with
:math:`k = \lceil (n + 1)(1 - a) \rceil` for the coverage 1 − a; with k > n it is infinite. The set of another
node is

.. math:: \{c : 1 - p(c) \le q\}

and its most probable class, which is always in the set, so that no set is empty.

If the scores of the calibration nodes and of the other node are exchangeable (no order of them is more
probable than another), the set holds the true class with probability at least 1 − a
(https://arxiv.org/abs/1609.00451). This is a mean over nodes, not a promise for each class or region, and it
holds for any model, also for a bad one: that one has larger sets.

By default the calibration nodes are the validation nodes. Those have also chosen the best epoch, the members
and their weights, so their scores are a little too small, and the coverage of other nodes can be a little
lower than asked for. Labelled nodes that neither taught nor selected have no such fault. Nodes that were
added after the fit, or that come from another part of the graph, need not be exchangeable with either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.fields import number

SEPARATOR = "|"
"""Between the classes of a set where it is written as text."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """The ``[n]`` scores of the calibration nodes, in rising order."""

    scores: npt.NDArray[np.float64]

    @classmethod
    def of(cls, probabilities: FloatArray, y: IntArray) -> Calibration:
        """Return the scores of calibration nodes.

        Args:
            probabilities: ``[n, C]`` class probabilities of nodes that the model was not trained on.
            y: Their ``[n]`` class codes.
        """
        if len(y) == 0:
            raise InputError("there is no labelled node to calibrate on: give some")
        return cls(np.sort(1.0 - probabilities[np.arange(len(y)), y].astype(np.float64)))

    def limit(self, coverage: float) -> float:
        """Return q, the largest score of a class in a set; infinite where the nodes are too few."""
        number(0, 1, above=True, below=True).check("coverage", coverage)
        n = len(self.scores)
        rank = math.ceil((n + 1) * coverage - 1e-9)  # 0.9 · 10 is 9, whatever floats make of it
        return float(self.scores[rank - 1]) if rank <= n else math.inf

    def sets(self, probabilities: FloatArray, coverage: float) -> npt.NDArray[np.bool_]:
        """Return ``[n, C]``: whether each class is in the set of each node."""
        inside: npt.NDArray[np.bool_] = 1.0 - probabilities.astype(np.float64) <= self.limit(coverage)
        inside[np.arange(len(inside)), probabilities.argmax(axis=1)] = True
        return inside


def as_text(sets: npt.NDArray[np.bool_], classes: npt.NDArray[np.generic]) -> list[str]:
    """Return each set as its classes with ``|`` between them, in the order of ``classes``."""
    names = [str(name) for name in classes.tolist()]
    patterns, place = np.unique(sets, axis=0, return_inverse=True)
    texts = [SEPARATOR.join(names[c] for c in np.flatnonzero(row)) for row in patterns]
    return [texts[index] for index in place.reshape(-1)]
