"""The missing half as a PyG transform."""

from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.estimators.find import find_missing_half
from otherhalf.graph import Graph, Split


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
