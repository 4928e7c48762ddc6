"""The range of the features of nodes: what overflows in the arithmetic of a model is refused by name."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.data.notes import counted
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.inputs import Scaling

LARGEST = float(np.finfo(np.float32).max)


def check_range(graph: Graph, scaling: Scaling, num_known: int = 0) -> None:
    """Raise InputError with the name of a node whose features overflow.

    Models are computed in float32. There the sum of a node's features, by which a scaling may divide, has to
    be finite, and the squared length of its scaled features, which cosines and products are made of.

    Args:
        graph: The graph, known nodes first.
        scaling: The scaling of the fit.
        num_known: Number of known nodes, which are not looked at; 0 before a fit.
    """
    new: Any = graph.x[num_known:] if num_known else graph.x
    if new.shape[0] == 0 or _surely_small(new, scaling):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scaling.apply(new)
    wrong = ~((_sums(abs(new)) <= LARGEST) & (_sums(_squares(scaled)) <= LARGEST))
    if wrong.any():
        row = int(np.argmax(wrong))
        values = new[[row]].toarray()[0] if sp.issparse(new) else new[row]
        column = int(np.argmax(np.abs(values)))
        name = f"number {column}" if graph.feature_names is None else repr(graph.feature_names[column])
        node = f"{'new ' if num_known else ''}node {str(graph.node_names()[num_known + row])!r}"
        raise InputError(
            f"the feature {name} of the {node} is {values[column]:g}, which overflows in the model "
            f"({counted(int(wrong.sum()), 'such node')} in all): correct it, or leave the node out"
        )


def _surely_small(x: Any, scaling: Scaling) -> bool:
    """Whether the largest number shows that no node overflows: then nothing as large as x is computed."""
    largest = max(float(x.max()), -float(x.min()))
    scaled = largest
    if scaling.mean is not None and scaling.deviation is not None:
        scaled = (largest + float(np.abs(scaling.mean).max())) / float(scaling.deviation.min())
    return bool(x.shape[1] * max(largest, scaled * scaled) <= LARGEST)


def _sums(values: Any) -> npt.NDArray[np.float64]:
    return np.asarray(values.astype(np.float64).sum(axis=1)).ravel()


def _squares(values: Any) -> Any:
    exact = values.astype(np.float64)
    return exact.multiply(exact) if sp.issparse(exact) else exact**2
