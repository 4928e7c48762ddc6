"""From a graph to what the models read: scaled features, adjacency rows, normalised adjacency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.nn.backbone import NodeInputs
from otherhalf.nn.ops.sparse import Features, SparseOperator
from otherhalf.system.graph_checks import FloatArray

DENSE_SHARE = 0.2
"""Features fuller than this are kept as a dense matrix. A step on either costs the same at about a third."""

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class Scaling:
    """How features are scaled, learned once on the fitted graph and used on every graph after it.

    Kinds: ``none``; ``row``: each row divided by the sum of its absolute values; ``standard``: each column
    to mean 0 and deviation 1 (dense features only). ``auto`` takes ``standard`` for dense features, whose
    columns may be in any unit, and ``none`` for sparse ones, whose zeros mean something.
    """

    kind: str
    mean: FloatArray | None = None
    deviation: FloatArray | None = None

    @classmethod
    def fit(cls, x: FloatArray | sp.csr_matrix, kind: str) -> Scaling:
        """Learn what the scaling needs from the features of the fitted graph."""
        if kind == "auto":
            kind = "none" if sp.issparse(x) else "standard"
        if kind != "standard" or sp.issparse(x):
            return cls("none" if kind == "standard" else kind)
        deviation = x.std(axis=0, dtype=np.float64)
        deviation[deviation == 0] = 1.0
        mean = x.mean(axis=0, dtype=np.float64)
        return cls(kind, mean.astype(np.float32), deviation.astype(np.float32))

    def apply(self, x: FloatArray | sp.csr_matrix) -> FloatArray | sp.csr_matrix:
        """The scaled features."""
        if self.kind == "row":
            sums = np.asarray(abs(x).sum(axis=1), dtype=np.float32).ravel()
            sums[sums == 0] = 1.0
            return sp.csr_matrix(sp.diags(1 / sums) @ x) if sp.issparse(x) else x / sums[:, None]
        if self.kind == "standard" and self.mean is not None and self.deviation is not None:
            return (x - self.mean) / self.deviation
        return x


def node_inputs(
    graph: Graph, scaling: Scaling, *, num_known: int | None = None, device: torch.device | str = "cpu"
) -> NodeInputs:
    """Scaled features and adjacency rows of a graph.

    Args:
        graph: The graph.
        scaling: From the fitted graph.
        num_known: Rows of the adjacency matrix are cut to so many columns: the nodes of the fitted graph,
            which come first in a graph that has grown.
        device: Where the models are.
    """
    rows = graph.adjacency if num_known is None else graph.adjacency[:, :num_known]
    return NodeInputs(_features(scaling.apply(graph.x)), SparseOperator.from_scipy(rows)).to(device)


def _features(x: FloatArray | sp.csr_matrix) -> Features:
    if not isinstance(x, np.ndarray):
        if x.nnz < DENSE_SHARE * np.prod(x.shape, dtype=float):
            return SparseOperator.from_scipy(x)
        x = x.toarray()
    return torch.from_numpy(np.array(x, dtype=np.float32))


def usable_device(name: str) -> torch.device:
    """The device of that name, if this machine has it."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
        # torch knows devices that make tensors but do not train (meta), or have no sparse products (mps).
        if device.type not in DEVICES:
            raise RuntimeError(f"{device.type} is not supported")
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"the device {name!r} cannot be used here: give cpu, or cuda where there is a GPU"
        ) from error
    return device
