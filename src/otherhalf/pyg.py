"""The missing half as a PyG transform, and neighbour sampling for PyG's loaders."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.data import Data
from torch_geometric.sampler import BaseSampler, NodeSamplerInput, SamplerOutput
from torch_geometric.transforms import BaseTransform

from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.estimators.find import find_missing_half
from otherhalf.graph import Graph, Split
from otherhalf.nn.sampling import NeighbourSampling


class AddMissingHalf(BaseTransform):  # type: ignore[misc]  # PyG's class has no types
    """Add the missing half of a graph to a PyG ``Data``.

    ``data.missing_edge_index`` holds the edges of the missing half in both directions, and
    ``data.missing_kind`` is ``homophily`` or ``heterophily``. The first argument of a
    :class:`~otherhalf.nn.ComplementedGraphConv` after ``x`` is the homophilic half.

    Args:
        seed: Seed of all random numbers.
        fixed: Number of the split, if the masks of the data have several columns.
        **options: Arguments of :func:`~otherhalf.find_missing_half`: ``follow``, ``preset``, ``settings``.

    Only the labels of the training and validation nodes are read: those of ``data.train_mask`` and
    ``data.val_mask``, or of a uniform split if the data has no masks.
    """

    def __init__(self, seed: int = 0, fixed: int = 0, **options: Any) -> None:
        self.seed = seed
        self.fixed = fixed
        self.options = options

    def forward(self, data: Data) -> Data:
        """Learn the missing half and add it to ``data``, which is a copy made by PyG."""
        graph = Graph.from_pyg(data)
        half = find_missing_half(graph, self._split(graph), self.seed, **self.options)
        both_ways = np.stack(half.adjacency.nonzero()).astype(np.int64)
        data.missing_edge_index = torch.from_numpy(both_ways)
        data.missing_kind = half.kind
        return data

    def _split(self, graph: Graph) -> Split:
        if not graph.fixed_splits:
            return make_split(graph, "uniform", self.seed)
        if self.fixed >= len(graph.fixed_splits):
            raise InputError(
                f"fixed must be from 0 to {len(graph.fixed_splits) - 1}, the columns of the masks, "
                f"not {self.fixed}"
            )
        return graph.fixed_splits[self.fixed]


class NeighbourSampler(BaseSampler):  # type: ignore[misc]  # PyG's class has no types
    """Samples neighbours for PyG's ``NodeLoader``, without pyg-lib or torch-sparse.

    ``NodeLoader(data, NeighbourSampler(data, [10, 10]), input_nodes=data.train_mask, batch_size=1024)`` gives
    the batches of PyG's ``NeighborLoader``: ``batch.x`` and ``batch.edge_index`` of the sampled nodes, the
    first ``batch.batch_size`` of which are the nodes of the batch.

    Args:
        data: A PyG ``Data`` with ``edge_index``. Messages go from source to target, so the neighbours of a
            node are the sources of the edges that end at it.
        fanout: Number of neighbours at the first hop, the second, …, drawn uniformly without replacement;
            −1 for all.

    Draws follow torch's generator: the same ``torch.manual_seed`` gives the same batches.
    """

    def __init__(self, data: Data, fanout: Sequence[int]) -> None:
        source, target = data.edge_index.cpu().numpy()
        n = int(data.num_nodes)
        order = np.argsort(target, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=n))]).astype(np.int32)
        ones = np.ones(len(order), dtype=np.bool_)
        incoming = sp.csr_matrix((ones, source[order].astype(np.int32), ends), shape=(n, n))
        self._edges = torch.from_numpy(order)
        self._sampling = NeighbourSampling(incoming, fanout)

    def sample_from_nodes(self, index: NodeSamplerInput, **_: Any) -> SamplerOutput:
        """Return the nodes and edges around the nodes of a batch; PyG's loader calls this."""
        found = self._sampling.sample(index.node.numpy(), int(torch.randint(2**62, ())))
        target = np.repeat(np.arange(len(found.crow) - 1), np.diff(found.crow))
        edges = found.crow[[0, *found.within[:-1]]]
        return SamplerOutput(
            node=torch.from_numpy(found.nodes),
            row=torch.from_numpy(found.col.astype(np.int64)),
            col=torch.from_numpy(target),
            edge=self._edges[torch.from_numpy(found.entry)],
            num_sampled_nodes=np.diff(found.within, prepend=0).tolist(),
            num_sampled_edges=np.diff(edges).tolist(),
            metadata=(index.input_id, index.time),
        )

    def sample_from_edges(self, index: Any, neg_sampling: Any = None) -> Any:
        """Raise InputError: this sampler is for nodes."""
        raise InputError("NeighbourSampler samples around nodes: use it with NodeLoader")
