"""Graphs from and to PyG: by hand, and there and back again."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from tests.data.small_graphs import graphs, refusal
from torch_geometric.data import Data, HeteroData

from otherhalf.data import convert_pyg as convert
from otherhalf.data.convert_pyg import from_pyg, to_pyg
from otherhalf.graph import Graph, Split


class TestToPyG:
    def test_undirected_edges_both_ways_and_masks(self):
        graph = Graph(
            edges=[[0, 1], [1, 2]],
            x=[[1.0], [2.0], [3.0]],
            y=["b", None, "a"],
            fixed_splits=[Split([0], [], [2]), Split([2], [0], [])],
        )
        data = to_pyg(graph)
        assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
        assert data.x.tolist() == [[1.0], [2.0], [3.0]]
        assert data.y.tolist() == [1, -1, 0]
        assert data.class_names == ["a", "b"]
        assert data.train_mask.tolist() == [[True, False], [False, False], [False, True]]
        assert data.val_mask.tolist() == [[False, True], [False, False], [False, False]]
        assert data.test_mask.tolist() == [[False, False], [False, False], [True, False]]
        assert data.validate()

    def test_directed_edges_stay_as_they_are(self):
        graph = Graph(edges=[[2, 1], [0, 2]], x=np.eye(3), directed=True)
        assert graph.to_pyg().edge_index.tolist() == [[1, 2], [2, 0]]
        assert graph.to_pyg().y is None

    def test_the_tensors_are_the_receivers_own(self):
        graph = Graph(edges=[[0], [1]], x=np.eye(2), y=[0, 1])
        data = to_pyg(graph)
        data.x += 1
        data.y += 1
        assert graph.x.tolist() == [[1, 0], [0, 1]]
        assert graph.y.tolist() == [0, 1]

    def test_large_sparse_features_stay_sparse(self, monkeypatch):
        graph = Graph(edges=[[0], [1]], x=sp.csr_matrix([[0, 1, 0], [2, 0, 3]]))
        assert to_pyg(graph).x.layout == torch.strided
        monkeypatch.setattr(convert, "DENSE_CELLS", 5)
        data = to_pyg(graph)
        assert data.x.layout == torch.sparse_csr
        assert data.x.to_dense().tolist() == [[0, 1, 0], [2, 0, 3]]
        back = from_pyg(data)
        assert sp.issparse(back.x)
        assert back.fingerprint == graph.fingerprint

    def test_weights_of_both_directions(self):
        edges, x = [[0, 1], [1, 2]], np.eye(3)
        data = to_pyg(Graph(edges=edges, x=x, weights=[0.5, 2.0]))
        assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
        assert data.edge_weight.tolist() == [0.5, 0.5, 2, 2]
        one_way = to_pyg(Graph(edges=edges, x=x, weights=[0.5, 2.0], directed=True))
        assert one_way.edge_weight.tolist() == [0.5, 2]
        assert "edge_weight" not in to_pyg(Graph(edges=edges, x=x))

    def test_an_edge_is_there_once_for_each_relation(self):
        graph = Graph(
            edges=[[0, 0, 1, 0], [1, 1, 2, 2]],
            x=np.eye(3),
            directed=True,
            relations=["likes", "cites", None, "likes"],
            weights=[1, 2, 3, 4],
        )
        data = to_pyg(graph)
        assert data.relation_names == ["cites", "likes"]
        found = [*data.edge_index.tolist(), data.edge_type.tolist(), data.edge_weight.tolist()]
        expected = [(0, 1, 0, 2), (0, 1, 1, 1), (0, 2, 1, 4), (1, 2, -1, 3)]
        assert sorted(zip(*found, strict=True)) == expected


class TestFromPyG:
    def data(self, **changes):
        given = {
            "x": torch.eye(3),
            "edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
            "y": torch.tensor([1, 0, -1]),
        }
        return Data(**(given | changes))

    @pytest.mark.parametrize("shape", [(4,), (4, 1)])
    def test_edge_weight(self, shape):
        weights = torch.tensor([0.5, 0.5, 3.0, 3.0]).reshape(shape)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = from_pyg(self.data(edge_weight=weights))
            assert from_pyg(self.data(edge_weight=weights), weight=False).weights is None
        assert (graph.directed, graph.num_edges, graph.weights.tolist()) == (False, 2, [0.5, 3])
        with pytest.warns(UserWarning, match="edge_attr has one column and was taken as the weights"):
            assert from_pyg(self.data(edge_attr=weights)).weights.tolist() == [0.5, 3]

    @pytest.mark.parametrize("kinds", [[0, 0, 1, 1], [0.5, 0.5, -1, -1], [1.0, 1.0, np.nan, np.nan]])
    def test_an_edge_attr_that_cannot_be_weights(self, kinds):
        with pytest.warns(UserWarning, match="edge_attr is not used: weights of edges are positive floats"):
            assert from_pyg(self.data(edge_attr=torch.tensor(kinds))).weights is None

    def test_an_edge_attr_of_several_columns(self, recwarn):
        assert from_pyg(self.data(edge_attr=torch.ones(4, 2))).weights is None
        assert len(recwarn) == 0

    def test_entries_of_a_sparse_matrix(self):
        matrix = torch.tensor([[0, 0.5, 0], [0.5, 0, 3], [0, 3, 0]]).to_sparse_csr()
        graph = from_pyg(self.data(edge_index=None, adj_t=matrix))
        assert graph.weights.tolist() == [0.5, 3]

    def test_weights_that_do_not_fit(self):
        wrong = self.data(edge_weight=torch.ones(3))
        assert "edge_weight has the shape (3,) for 4 edges: give [E]" in refusal(from_pyg, wrong)
        wrong = self.data(edge_weight=torch.tensor([1, 1, -1.0, -1]))
        assert "the weight of edge 1 is -1" in refusal(from_pyg, wrong)

    def test_edge_type(self):
        graph = from_pyg(self.data(edge_type=torch.tensor([0, 0, 2, 2])))
        assert (graph.directed, graph.relations.names) == (False, ("0", "2"))
        assert graph.relations.edges.toarray().tolist() == [[1, 0], [0, 1]]
        assert from_pyg(self.data(edge_type=torch.tensor([0, 0, 2, 2])), relation=False).relations is None
        other_way = from_pyg(self.data(edge_type=torch.tensor([0, 1, 0, 1])))
        assert (other_way.directed, other_way.num_edges) == (True, 4)

    def test_names_of_a_heterogeneous_graph(self):
        hetero = HeteroData()
        hetero["paper"].x = torch.eye(3)
        hetero["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1], [1, 2]])
        hetero["paper", "likes", "paper"].edge_index = torch.tensor([[0], [2]])
        graph = from_pyg(hetero.to_homogeneous())
        assert graph.relations.counts() == {"paper cites paper": 2, "paper likes paper": 1}

    @pytest.mark.parametrize("wrong", [torch.zeros(3, dtype=torch.long), torch.zeros(4)])
    def test_wrong_edge_types(self, wrong):
        assert "for 4 edges: give [E] integers" in refusal(from_pyg, self.data(edge_type=wrong))

    def test_symmetric_edges_are_undirected_and_not_repeats(self):
        graph = from_pyg(self.data(), name="g")
        assert (graph.directed, graph.edges.tolist(), graph.dropped_repeats) == (False, [[0, 1], [1, 2]], 0)
        assert (graph.y.tolist(), graph.name) == ([1, 0, -1], "g")

    def test_real_repeats_and_loops_are_counted(self):
        graph = from_pyg(self.data(edge_index=torch.tensor([[0, 1, 0, 1, 2], [1, 0, 1, 0, 2]])))
        assert (graph.num_edges, graph.dropped_repeats, graph.dropped_self_loops) == (1, 1, 1)

    def test_direction_is_kept_where_an_edge_has_no_reverse(self):
        edge_index = torch.tensor([[0, 1, 2], [1, 0, 1]])
        assert from_pyg(self.data(edge_index=edge_index)).edges.tolist() == [[0, 1, 2], [1, 0, 1]]
        assert from_pyg(self.data(edge_index=edge_index)).directed
        undirected = from_pyg(self.data(edge_index=edge_index), directed=False)
        assert (undirected.directed, undirected.edges.tolist()) == (False, [[0, 1], [1, 2]])

    def test_direction_can_be_asked_for(self):
        assert from_pyg(self.data(), directed=True).num_edges == 4

    @pytest.mark.parametrize("layout", ["to_sparse_coo", "to_sparse_csr", "to_sparse_csc"])
    def test_sparse_features_and_transposed_adjacency(self, layout):
        dense = torch.tensor([[0.0, 0, 0], [1, 0, 0], [1, 0, 0]])  # adj_t: edges 0 → 1 and 0 → 2
        data = Data(x=getattr(torch.eye(3), layout)(), adj_t=getattr(dense, layout)())
        graph = Graph.from_pyg(data)
        assert (graph.directed, graph.edges.tolist()) == (True, [[0, 0], [1, 2]])
        assert sp.issparse(graph.x)
        assert graph.x.toarray().tolist() == np.eye(3).tolist()

    @pytest.mark.parametrize(
        "y",
        [torch.tensor([[1], [0], [-1]]), torch.tensor([1.0, 0.0, float("nan")]), torch.tensor([7, 3, -1])],
    )
    def test_kinds_of_labels(self, y):
        assert from_pyg(self.data(y=y)).y.tolist() == [1, 0, -1]

    def test_features_of_a_model_in_training(self):
        x = torch.eye(3, dtype=torch.bfloat16, requires_grad=True)
        assert from_pyg(self.data(x=x)).x.tolist() == np.eye(3).tolist()

    def test_masks_lose_unlabelled_nodes(self):
        masks = [torch.tensor([i == part for i in range(3)]) for part in range(3)]
        (split,) = from_pyg(
            self.data(train_mask=masks[0], val_mask=masks[1], test_mask=masks[2])
        ).fixed_splits
        assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0], [1], [])
        assert (split.kind, split.seed) == ("fixed", 0)

    def test_one_test_mask_for_many_splits(self):
        data = self.data(
            y=torch.tensor([0, 1, 0]),
            train_mask=torch.tensor([[1, 0], [0, 1], [0, 0]], dtype=torch.uint8),
            val_mask=torch.tensor([[0, 1], [1, 0], [0, 0]], dtype=torch.uint8),
            test_mask=torch.tensor([False, False, True]),
        )
        first, second = from_pyg(data).fixed_splits
        assert (first.train.tolist(), first.val.tolist(), first.test.tolist()) == ([0], [1], [2])
        assert (second.train.tolist(), second.val.tolist(), second.test.tolist()) == ([1], [0], [2])

    def test_incomplete_masks_are_left_out_with_a_warning(self):
        data = self.data(train_mask=torch.tensor([True, False, False]))
        with pytest.warns(
            UserWarning, match="the PyG data has no val_mask, test_mask, so its masks are not used"
        ):
            assert from_pyg(data).fixed_splits == ()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"x": torch.ones(3)}, "x has the shape (3,): give one row per node"),
            ({"edge_index": None}, "the PyG data has neither edge_index nor adj_t"),
            ({"edge_index": torch.tensor([[0, 1]])}, "edge_index has the shape (1, 2): give [2, E]"),
            ({"edge_index": torch.tensor([[0.0], [1.0]])}, "the edges are float32: give integers 0 … N−1"),
            ({"edge_index": torch.tensor([[0], [3]])}, "an edge ends at node 3, but the nodes are 0 … 2"),
            ({"edge_index": torch.tensor([[0, -1], [-1, 0]])}, "an edge ends at node -1"),
            ({"y": torch.eye(3)}, "the labels have the shape (3, 3): give one class per node"),
            ({"y": torch.tensor([0, 1])}, "there are 2 labels for 3 nodes"),
            ({"x": torch.tensor([[1.0], [float("nan")], [0.0]])}, "the first at node 1, column 0"),
            ({"train_mask": torch.ones(2)}, "train_mask has the shape (2,) for 3 nodes: give [N] or [N, S]"),
            (
                {"val_mask": torch.ones(3, 2), "test_mask": torch.ones(3, 3)},
                "val_mask holds 2 splits and another",
            ),
            ({"train_mask": torch.ones(3)}, "a node is in more than one of train, val and test"),
        ],
    )
    def test_refusals(self, changes, message):
        masks = {f"{part}_mask": torch.ones(3) * (part == "test") for part in ("train", "val", "test")}
        assert message in refusal(from_pyg, self.data(**(masks | changes)))

    @pytest.mark.parametrize("other", [HeteroData(), [Data()], None])
    def test_other_objects(self, other):
        assert "from_pyg takes a torch_geometric Data" in refusal(from_pyg, other)

    def test_names_of_features(self):
        graph = Graph(edges=[[0], [1]], x=np.ones((2, 2)), feature_names=["a", "b"])
        assert to_pyg(graph).feature_names == ["a", "b"]
        assert from_pyg(to_pyg(graph)).feature_names == ("a", "b")

    @settings(max_examples=100, deadline=None)
    @given(graphs())
    def test_there_and_back(self, graph):
        back = from_pyg(to_pyg(graph))
        assert back.fingerprint == graph.fingerprint
        assert back.classes.tolist() == graph.classes.tolist()
        assert back.node_names().tolist() == graph.node_names().tolist()
        assert back.feature_names == graph.feature_names
        assert graph.relations is not None or back.dropped_repeats == 0
        assert [[s.train.tolist(), s.val.tolist(), s.test.tolist()] for s in back.fixed_splits] == [
            [s.train.tolist(), s.val.tolist(), s.test.tolist()] for s in graph.fixed_splits
        ]
