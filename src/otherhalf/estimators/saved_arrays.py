"""Numbers of nodes and classes in a model's folder, checked before anything uses them."""

from collections.abc import Mapping

import numpy as np
from torch import Tensor

from otherhalf.system.arrays import IntArray


def saved_indices(tensors: Mapping[str, Tensor], name: str, below: int) -> IntArray:
    """Return saved numbers of nodes or classes; raise ValueError if one is out of range.

    Compiled code does not look at where it reads, so a wrong number must not reach it.
    """
    values = tensors[name].numpy()
    if values.dtype.kind != "i" or (values.size and not 0 <= values.min() <= values.max() < below):
        raise ValueError(f"{name} has numbers that are not from 0 to {below - 1}")
    return values.astype(np.int64)


def saved_labels(tensors: Mapping[str, Tensor], known: int, classes: int) -> tuple[IntArray, IntArray]:
    """Return the training nodes and their class codes; raise ValueError if they do not fit together."""
    nodes, codes = (
        saved_indices(tensors, "labels/nodes", known),
        saved_indices(tensors, "labels/codes", classes),
    )
    if len(nodes) != len(codes) or len(np.unique(nodes)) < len(nodes):
        raise ValueError("its training nodes do not fit their labels")
    return nodes, codes
