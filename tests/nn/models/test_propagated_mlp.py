"""The common base of APPNP and GPR-GNN: an MLP, and a propagation that subclasses define."""

import pytest
import torch

from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.mlp import MLP
from otherhalf.nn.models.propagated_mlp import PropagatedMLP

ARCHITECTURE = Architecture(hidden=6, dropout=0.0)


class Neighbours(PropagatedMLP):
    def propagate(self, start, adjacency):
        return adjacency @ start


def test_the_base_cannot_be_instantiated():
    with pytest.raises(TypeError, match="abstract"):
        PropagatedMLP(4, 3, 5)


def test_a_subclass_without_a_propagation_cannot_be_instantiated():
    class Nothing(PropagatedMLP):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Nothing(4, 3, 5)


def test_predictions_and_embedding_of_the_mlp_are_propagated(graph, inputs, operators):
    torch.manual_seed(0)
    ours = Neighbours(4, 3, graph.num_nodes, ARCHITECTURE)
    mlp = MLP(4, 3, graph.num_nodes, ARCHITECTURE)
    mlp.load_state_dict(ours.state_dict())
    (adjacency,) = operators("appnp", graph)
    torch.testing.assert_close(ours(inputs, adjacency), adjacency @ mlp(inputs))
    torch.testing.assert_close(ours.embed(inputs, adjacency), adjacency @ mlp.embed(inputs))
