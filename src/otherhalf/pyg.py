"""The missing half as a PyG transform."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from otherhalf.complement.missing_half import find_missing_half
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split


class AddMissingHalf(BaseTransform):  # type: ignore[misc]  # PyG's class has no types
    """Add the missing half of a graph to a PyG ``Data``.

    ``data.missing_edge_index`` holds the found edges, both ways, and ``data.missing_kind`` says which half
    they are: ``homophily`` or ``heterophily``. A
    :class:`~otherhalf.nn.ComplementedGraphConv` takes the homophilic half first.

    Args:
        seed: Of everything random.
        fixed: Which of the data's own masks to learn from, where it has several.
        **options: What :func:`~otherhalf.find_missing_half` takes: ``follow``, ``preset``, ``settings``.

    Only the labels of the training and validation nodes are read. They are those of ``data.train_mask`` and
    ``data.val_mask``, or of a uniform split where the data has no masks.
    """

    def __init__(self, seed: int = 0, fixed: int = 0, **options: Any) -> None:
        self.seed = seed
        self.fixed = fixed
        self.options = options

    def forward(self, data: Data) -> Data:
        """Find the half and add it to ``data``, which PyG has copied before."""
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
                f"the data has {len(graph.fixed_splits)} column(s) of masks and no number {self.fixed}: "
                f"give fixed from 0 to {len(graph.fixed_splits) - 1}"
            )
        return graph.fixed_splits[self.fixed]
