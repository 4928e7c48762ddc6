r"""Weights of classes: how much a node of each class counts in everything that learns.

With n training nodes, :math:`n_c` of them in class c, and K classes that have some, ``balanced`` is

.. math:: w_c = \frac{n}{K\,n_c}

Then every class counts the same. Given weights are brought to the same scale: their mean over the training
nodes is 1, so that they move the classes against each other and not the loss against its decay.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.fields import Rule, number

BALANCED = "balanced"
ClassWeight = Mapping[Any, float] | str | None
"""None, ``balanced``, or a dictionary from classes to weights; a class that it does not name has weight 1."""

POSITIVE = number(0, above=True)


def _allowed(given: Any) -> bool:
    if isinstance(given, Mapping):
        return len(given) > 0 and all(map(POSITIVE.allows, given.values()))
    return given is None or (isinstance(given, str) and given == BALANCED)


CLASS_WEIGHT = Rule(_allowed, f"None, {BALANCED!r} or a dictionary from classes to numbers > 0")
"""The allowed values of the setting ``class_weight``."""


def by_name(given: ClassWeight) -> Any:
    """Return the setting with the names of classes as text, as files have them; else as it was given."""
    return {str(name): weight for name, weight in given.items()} if isinstance(given, Mapping) else given


def weights_of(settings: Any, graph: Graph, split: Split) -> FloatArray | None:
    """Return the class weights of a fit; None where all nodes count the same, or nothing is learned."""
    return class_weights(getattr(settings, "class_weight", None), graph.classes, graph.y[split.train])


def class_weights(given: ClassWeight, classes: Any, codes: IntArray) -> FloatArray | None:
    """Return the ``[C]`` weights of the classes; None where all nodes count the same.

    Args:
        given: The setting, an allowed one.
        classes: ``[C]`` class names.
        codes: ``[n]`` class codes of the training nodes.
    """
    if given is None:
        return None
    counts = np.bincount(codes, minlength=len(classes))
    if isinstance(given, str):
        weights = np.divide(1.0, counts, out=np.zeros(len(classes)), where=counts > 0)
        weights[counts == 0] = weights.max()
    else:
        names = [str(name) for name in classes]
        if unknown := by_name(given).keys() - set(names):
            known = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
            raise InputError(
                f"class_weight names the class {min(unknown)!r}, which no node has: the classes are {known}"
            )
        weights = np.array([by_name(given).get(name, 1.0) for name in names], dtype=np.float64)
    if np.ptp(weights) == 0:
        return None
    return np.asarray(weights * counts.sum() / (weights @ counts), dtype=np.float32)


def node_weights(weights: FloatArray | None, codes: IntArray) -> FloatArray:
    """Return the ``[n]`` weights of nodes, with mean 1, from those of their classes."""
    if weights is None or len(codes) == 0:
        return np.ones(len(codes), dtype=np.float32)
    return np.asarray(weights[codes] / weights[codes].mean(dtype=np.float64), dtype=np.float32)
