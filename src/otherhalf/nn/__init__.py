"""Layers and models; :class:`ComplementedGraphConv` can be used in any PyG model."""

from otherhalf.nn.conv import ComplementedGraphConv
from otherhalf.nn.goal import GOAL
from otherhalf.nn.ops.sparse import SparseOperator, normalized_adjacency

__all__ = ["GOAL", "ComplementedGraphConv", "SparseOperator", "normalized_adjacency"]
