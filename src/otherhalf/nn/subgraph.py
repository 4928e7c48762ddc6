r"""The inputs and operators of a model on sampled neighbourhoods.

With d_i the number of neighbours of node i in the whole graph and k_i that in the sample, entry (i, j) of a
normalised matrix is that of the whole graph times d_i / k_i: degrees and weights are those of the whole
graph, and a row times a matrix is, on average over the samples, what it is without sampling. Self loops are
always there, as they are. Attention is over the sampled neighbours and the node itself. With all neighbours
everything is what it is on the whole graph. Rows of the adjacency matrix as inputs are not sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from otherhalf.errors import InputError
from otherhalf.nn.backbone import Backbone
from otherhalf.nn.inputs import NodeInputs
from otherhalf.nn.ops.attention import Neighbourhoods
from otherhalf.nn.ops.sparse import Features, SparseOperator
from otherhalf.nn.prepared import ADJACENCY_ROWS, PreparedGraph
from otherhalf.nn.sampling import NeighbourSampling, Sample
from otherhalf.system.arrays import FloatArray, IntArray

WITH_LOOPS = ("normalized_with_loops", "mean_with_loops", "neighbourhoods")


class Batch(NamedTuple):
    """What :meth:`Backbone.on_sample` is called with."""

    inputs: NodeInputs
    layers: list[tuple[int, tuple[Any, ...]]]
    seeds: int


class Subgraphs:
    """Makes batches of a prepared graph for one model.

    Args:
        prepared: The graph.
        operators: Names of the operators of the model.
        fanout: Number of neighbours at each hop; as many hops as the layers take steps, or none if the model
            reads no neighbours' states.
        layers: Number of layers.
    """

    def __init__(
        self, prepared: PreparedGraph, operators: Sequence[str], fanout: Sequence[int], layers: int
    ) -> None:
        self._names, self._layers = tuple(operators), layers
        self._steps = len(fanout) // layers
        self._sampling: NeighbourSampling | None = None
        self._features = _rows_of(prepared.inputs.features)
        self._rows = None if prepared.inputs.neighbours is None else _rows_of(prepared.inputs.neighbours)
        if fanout:
            self._adjacency = prepared.graph.adjacency
            self._sampling = NeighbourSampling(self._adjacency, fanout)
            self._degree = np.diff(self._adjacency.indptr)
            self._scales = {n: _scales(n, self._adjacency) for n in self._names if n != ADJACENCY_ROWS}

    def batch(self, seeds: IntArray, seed: int) -> Batch:
        """Return the batch of different nodes; it depends on these, their order and the seed alone."""
        nodes, layers = self.around(seeds, seed)
        return Batch(self.inputs(nodes), layers, len(seeds))

    def around(self, seeds: IntArray, seed: int) -> tuple[IntArray, list[tuple[int, tuple[Any, ...]]]]:
        """Return the nodes of a batch, and what its layers read."""
        if self._sampling is None:
            own = tuple(self._rows_operator(seeds) for _ in self._names)
            return seeds, [(len(seeds), own)] * self._layers
        sample = self._sampling.sample(seeds, seed)
        parts = {name: self._entries(sample, name) for name in self._scales}
        layers = []
        for index in range(self._layers):
            hops = (self._layers - index) * self._steps
            rows, count = sample.within[hops - 1], sample.within[hops]
            operators = (
                self._rows_operator(sample.nodes[:count])
                if name == ADJACENCY_ROWS
                else _operator(name, *parts[name], rows, count)
                for name in self._names
            )
            layers.append((count, tuple(operators)))
        return sample.nodes, layers

    def inputs(self, nodes: IntArray) -> NodeInputs:
        """Return the inputs of these nodes."""
        rows = None if self._rows is None else self._rows_operator(nodes)
        return NodeInputs(_taken(self._features, nodes), rows)

    def _rows_operator(self, nodes: IntArray) -> SparseOperator:
        return _sliced(self._rows, nodes)

    def _entries(self, sample: Sample, name: str) -> tuple[Any, Any, FloatArray]:
        """Return row ends, columns and values of the sampled rows, with the loops that the operator has."""
        rows = len(sample.crow) - 1
        sampled = np.diff(sample.crow)
        row = np.repeat(np.arange(rows), sampled)
        left, right, loop = self._scales[name]
        nodes, here = sample.nodes, sample.nodes[:rows]
        kept = (self._degree[here] / np.maximum(sampled, 1)).astype(np.float32)
        values = left[here][row] * self._adjacency.data[sample.entry] * right[nodes[sample.col]] * kept[row]
        if name not in WITH_LOOPS:
            return sample.crow, sample.col, values
        crow = (sample.crow + np.arange(rows + 1)).astype(np.int32)
        col, all_values = np.empty(crow[-1], dtype=np.int32), np.empty(crow[-1], dtype=np.float32)
        place = np.arange(len(row)) + row + 1
        col[place], all_values[place] = sample.col, values
        col[crow[:-1]] = np.arange(rows)
        all_values[crow[:-1]] = (left * loop * right)[here]
        return crow, col, all_values


def _scales(name: str, adjacency: sp.csr_matrix) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return l, r and o of diag(l) (A + diag(o)) diag(r), the operator of the whole graph."""
    count = np.diff(adjacency.indptr)
    sums = np.asarray(adjacency.sum(axis=1), dtype=np.float32).ravel()
    ones = np.ones_like(sums)
    loop = np.divide(sums, count, out=ones.copy(), where=count > 0)
    degree = sums + loop if name in WITH_LOOPS else sums
    if name.startswith("normalized"):
        degree = np.sqrt(degree)
    reciprocal = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0).astype(np.float32)
    return reciprocal, reciprocal if name.startswith("normalized") else ones, loop


def _operator(name: str, crow: Any, col: Any, values: FloatArray, rows: int, count: int) -> Any:
    """Return the operator of the first ``count`` nodes, of which the first ``rows`` have neighbours."""
    ends = np.full(count + 1, crow[rows], dtype=np.int32)
    ends[: rows + 1] = crow[: rows + 1]
    columns, values = col[: crow[rows]], values[: crow[rows]]
    operator = _with_transpose(ends, columns, values, count)
    if name != "neighbourhoods":
        return operator
    back: Any = operator.transpose
    pattern = torch.from_numpy(ends), torch.from_numpy(columns)
    return Neighbourhoods(*pattern, operator.transpose_order, (back.crow_indices(), back.col_indices()))


def _with_transpose(crow: Any, col: Any, values: FloatArray, columns: int) -> SparseOperator:
    from otherhalf.nn.ops.sampling_kernels import transpose  # compiled at its first use

    size = len(crow) - 1, columns
    if not torch.is_grad_enabled():  # only a backward pass reads the transpose
        alone = _csr(crow, col, values, size)
        return SparseOperator(alone, alone, torch.empty(0, dtype=torch.int64))
    ends, rows = np.zeros(columns + 1, dtype=np.int32), np.empty(len(col), dtype=np.int32)
    back, order = np.empty(len(col), dtype=np.float32), np.empty(len(col), dtype=np.int64)
    transpose(crow, col, values, ends, rows, back, order)
    matrix, transposed = _csr(crow, col, values, size), _csr(ends, rows, back, size[::-1])
    return SparseOperator(matrix, transposed, torch.from_numpy(order))


def _csr(crow: Any, col: Any, values: Any, size: tuple[int, int]) -> torch.Tensor:
    ends, columns, entries = (torch.from_numpy(np.ascontiguousarray(part)) for part in (crow, col, values))
    return torch.sparse_csr_tensor(ends, columns, entries, size=size, check_invariants=False)


def _rows_of(features: Features) -> Any:
    """Return the features as numpy or scipy take rows of them, without a copy."""
    if not isinstance(features, SparseOperator):
        return features.numpy()
    matrix: Any = features.matrix
    parts = matrix.values().numpy(), matrix.col_indices().numpy(), matrix.crow_indices().numpy()
    return sp.csr_matrix(parts, shape=features.shape)


def _taken(rows: Any, nodes: IntArray) -> Features:
    return _sliced(rows, nodes) if sp.issparse(rows) else torch.from_numpy(rows[nodes])


def _sliced(rows: sp.csr_matrix, nodes: IntArray) -> SparseOperator:
    part = rows[nodes]
    return _with_transpose(part.indptr, part.indices, part.data, part.shape[1])


def needed_hops(model: Backbone, operators: Sequence[str], options: Any) -> int:
    """Return how many hops of neighbours the layers of a model read together.

    Raise InputError if it cannot be trained on sampled neighbours.
    """
    name = type(model).__name__
    if type(model).forward is not Backbone.forward:
        raise InputError(
            f"{name} propagates its predictions over the whole graph, so its neighbours cannot be sampled: "
            "leave out fanout"
        )
    if model.architecture.norm == "batch":
        raise InputError(
            "norm='batch' takes its mean over all nodes of a step, so it cannot be trained on samples: "
            "choose layer or none, or leave out fanout"
        )
    if all(each == ADJACENCY_ROWS for each in operators):
        return 0
    return len(model.layers) * int(options.get("steps", 1))


def blocks_of(count: int, size: int) -> list[npt.NDArray[np.int64]]:
    """Return 0 … count − 1 in blocks of at most ``size``."""
    return [np.arange(start, min(start + size, count)) for start in range(0, count, size)]
