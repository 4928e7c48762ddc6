"""Graphs from networkx: attributes become features and labels, names become ids."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from otherhalf.data.columns.encoding import ColumnEncoding
from otherhalf.data.convert_networkx import from_networkx
from otherhalf.data.reading import Reading
from otherhalf.errors import InputError
from otherhalf.graph import Graph


def refusal(*arguments, **options):
    with pytest.raises(InputError) as caught:
        from_networkx(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def triangle(kind=nx.Graph):
    graph = kind()
    graph.add_node("u", size=1, old=True, label="red")
    graph.add_node("v", size=2.5, old=False, label="blue")
    graph.add_node("w", size=np.float32(3), old=np.bool_(True))
    graph.add_edges_from([("w", "u"), ("u", "v"), ("v", "w")])
    return graph


def test_attributes_become_features_and_labels():
    graph = from_networkx(triangle(), name="g")
    assert graph.x.tolist() == [[1, 1], [2.5, 0], [3, 1]]
    assert (graph.y.tolist(), graph.classes.tolist()) == ([1, 0, -1], ["blue", "red"])
    assert (graph.ids.tolist(), graph.name, graph.directed) == (["u", "v", "w"], "g", False)
    assert graph.edges.tolist() == [[0, 0, 1], [1, 2, 2]]


def test_directed():
    graph = Graph.from_networkx(triangle(nx.DiGraph))
    assert (graph.directed, graph.edges.tolist()) == (True, [[0, 1, 2], [1, 2, 0]])


def test_repeats_of_a_multigraph_are_counted():
    source = triangle(nx.MultiGraph)
    source.add_edges_from([("u", "v"), ("v", "u"), ("u", "u")])
    graph = from_networkx(source)
    assert (graph.num_edges, graph.dropped_repeats, graph.dropped_self_loops) == (3, 2, 1)


class TestWeights:
    def graph(self, kind=nx.MultiGraph, **attributes):
        source = triangle(kind)
        source.add_edge("u", "v", **attributes)
        return source

    def test_those_of_repeats_are_summed_and_edges_without_one_count_1(self):
        graph = from_networkx(self.graph(weight=2.5))
        assert graph.edges.T.tolist() == [[0, 1], [0, 2], [1, 2]]
        assert graph.weights.tolist() == [3.5, 1, 1]

    def test_another_attribute_or_none(self):
        source = self.graph(nx.Graph, weight=2.5, trips=4)
        assert from_networkx(source, weight="trips").weights.tolist() == [4, 1, 1]
        assert from_networkx(source, weight=False).weights is None
        assert from_networkx(triangle()).weights is None

    def test_an_edge_of_weight_0_is_none(self):
        with pytest.warns(UserWarning, match="the reader dropped 1 edge whose 'weight' is 0"):
            graph = from_networkx(self.graph(nx.Graph, weight=0))
        assert (graph.edges.T.tolist(), graph.weights.tolist()) == ([[0, 2], [1, 2]], [1, 1])

    @pytest.mark.parametrize("wrong", ["heavy", -1, float("nan"), float("inf"), None])
    def test_wrong_weights(self, wrong):
        message = refusal(self.graph(weight=wrong))
        assert f"the attribute 'weight' of the edge from 'u' to 'v' is {wrong!r}: give positive" in message

    def test_an_attribute_that_no_edge_has(self):
        assert refusal(triangle(), weight="trips").startswith("no edge has the attribute 'trips'")


class TestRelations:
    def test_an_attribute_names_them(self):
        source = triangle(nx.MultiDiGraph)
        source.add_edge("u", "v", kind="cites", weight=0)
        source.add_edge("u", "v", kind="likes", weight=2)
        source.add_edge("v", "w", kind="cites", weight=3)
        with pytest.warns(UserWarning, match="dropped 1 edge"):
            graph = from_networkx(source, relation="kind")
        assert graph.relations.names == ("cites", "likes")
        assert graph.edges.T.tolist() == [[0, 1], [1, 2], [2, 0]]
        assert graph.relations.edges.toarray().tolist() == [[0, 3, 0], [2, 0, 0]]

    def test_an_attribute_that_no_edge_has(self):
        assert refusal(triangle(), relation="kind").startswith("no edge has the attribute 'kind' for its rel")


def test_a_list_names_the_features_and_their_order():
    assert from_networkx(triangle(), features=["old", "size"]).x.tolist() == [
        [1, 1],
        [0, 2.5],
        [1, 3],
    ]


def test_vectors():
    source = nx.path_graph(3)
    nx.set_node_attributes(source, {i: {"x": [i, 1.0], "v": torch.tensor([5.0])} for i in source})
    assert from_networkx(source).x.tolist() == [[0, 1], [1, 1], [2, 1]]
    assert from_networkx(source, features="v").x.tolist() == [[5], [5], [5]]
    assert from_networkx(source).ids.tolist() == [0, 1, 2]


def test_a_number_called_x_is_one_feature_of_several():
    source = nx.path_graph(2)
    nx.set_node_attributes(source, {i: {"x": i, "z": 5} for i in source})
    assert from_networkx(source).x.tolist() == [[0, 5], [1, 5]]


def test_whatever_names_a_node_becomes_its_id():
    source = nx.grid_2d_graph(1, 2)
    nx.set_node_attributes(source, 1.0, "a")
    assert from_networkx(source).ids.tolist() == ["(0, 0)", "(0, 1)"]


def test_label_may_be_named_or_declined():
    assert from_networkx(triangle(), label="old", features="size").classes.tolist() == ["False", "True"]
    assert from_networkx(triangle(), label=None, features="size").num_classes == 0


def test_minus_one_among_two_labels_is_a_class_as_in_tables():
    graph = triangle()
    nx.set_node_attributes(graph, {"u": -1, "v": 1, "w": -1}, "label")
    notes = []
    made = from_networkx(graph, notes=notes)
    assert (made.y.tolist(), made.classes.tolist()) == ([0, 1, 0], [-1, 1])
    assert "−1 is a class" in notes[0]


class TestNumbersAgain:
    def test_the_order_of_attributes_is_that_of_the_fit(self):
        first = from_networkx(triangle())
        other = nx.Graph()
        for node, values in triangle().nodes(data=True):
            other.add_node(node, **dict(reversed(values.items())))
        other.add_edges_from(triangle().edges)
        kept = Reading.from_parts(json.loads(json.dumps(first.reading.to_dict())), {})
        again = from_networkx(other, reading=kept)
        assert again.x.tolist() == first.x.tolist()
        assert from_networkx(other).x.tolist() != first.x.tolist()

    def test_a_gap_is_refused_by_the_name_of_the_node(self):
        first = from_networkx(triangle())
        other = triangle()
        del other.nodes["v"]["size"]
        with pytest.raises(InputError, match="the node 'v' has no attribute 'size'"):
            from_networkx(other, reading=first.reading)

    def test_names_that_were_said_for_the_fit_need_not_be_said_again(self):
        graph = triangle()
        nx.set_edge_attributes(graph, {("w", "u"): 5}, "weight")
        first = from_networkx(graph, label="old", features="size", weight=False)
        again = from_networkx(graph, reading=first.reading)
        assert (again.classes.tolist(), again.x.tolist(), again.weights) == (
            ["False", "True"],
            first.x.tolist(),
            None,
        )


class TestAttributesOfEveryKind:
    def people(self, *others):
        graph = nx.path_graph(["ann", "bob", "cy", *others])
        values = {"city": "Bonn", "age": 30.0, "label": "a"}
        nx.set_node_attributes(graph, {node: dict(values) for node in graph})
        graph.nodes["bob"].update(city="Rome", age=None, label="b")
        graph.nodes["cy"]["age"] = 50.0
        return graph

    def test_they_become_features_like_columns_of_a_table(self):
        notes = []
        graph = from_networkx(self.people(), notes=notes)
        cells = pd.DataFrame({"city": ["Bonn", "Rome", "Bonn"], "age": [30, None, 50]})
        assert graph.reading.encoding == ColumnEncoding.learn(cells)
        assert np.array_equal(graph.x, graph.reading.encoding.apply(cells).x)
        assert (graph.ids.tolist(), notes) == (["ann", "bob", "cy"], [])

    def test_the_same_reading_for_another_graph(self):
        first = from_networkx(self.people(), notes=[])
        grown = from_networkx(self.people("dee"), notes=[], reading=first.reading)
        assert np.array_equal(grown.x[:3], first.x)

    def test_decisions_are_warnings_of_the_users_line(self):
        graph = self.people()
        nx.set_node_attributes(graph, "Earth", "planet")
        with pytest.warns(UserWarning, match="column 'planet': left out: all its values") as caught:
            from_networkx(graph)
        assert caught[0].filename == __file__

    def test_nodes_without_attributes_have_a_column_of_ones(self):
        with pytest.warns(UserWarning, match="the networkx graph has no column for the features"):
            assert from_networkx(nx.path_graph(3)).x.tolist() == [[1], [1], [1]]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            {},
            {"label": "kind"},
            "no node has the attribute 'kind' for its label: the attributes are size, old",
        ),
        (
            {},
            {"features": ["size", "age"]},
            "the node 'u' has no attribute 'age': give every node the same",
        ),
        ({}, {"features": []}, "the list of feature attributes is empty"),
        ({"more": 1}, {"features": ["more"]}, "the node 'u' has no attribute 'more'"),
        ({"size": float("nan")}, {}, "the attribute 'size' of the node 'w' is NaN or infinite"),
        (
            {"size": "big"},
            {"features": "size"},
            "the node 'w' is 'big', which is no number or a vector",
        ),
        (
            {"size": [1, 2]},
            {"features": "size"},
            "has 1 values at the node 'u' and 2 at 'w': give vectors",
        ),
        ({"size": [1, 2]}, {"features": ["size"]}, "has the shape (2,): name it alone, features='size'"),
        ({"size": [[1]]}, {"features": "size"}, "has the shape (1, 1): give one vector per node"),
    ],
)
def test_refusals(change, options, message):
    source = triangle()
    source.nodes["w"].update(change)
    assert message in refusal(source, **options)


def test_nothing_to_learn_from():
    assert "the networkx graph has no nodes" in refusal(nx.Graph())
    assert "from_networkx takes a networkx graph, not list" in refusal([(0, 1)])


def test_two_names_that_read_alike():
    source = nx.Graph([(1, "1")])
    nx.set_node_attributes(source, 1.0, "a")
    assert "the node id '1' occurs more than once" in refusal(source)


@pytest.mark.parametrize("value", [10**400, "9" * 5000, [], -1, float("inf")])
def test_weights_that_are_no_numbers(value):
    graph = nx.path_graph(3)
    graph.add_edge(0, 1, weight=value)
    with pytest.raises(InputError, match="the attribute 'weight' of the edge from 0 to 1 is") as caught:
        from_networkx(graph)
    assert len(str(caught.value)) < 300


def test_a_feature_too_large_for_a_number():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, 10**400, "size")
    with pytest.raises(InputError, match=r"the attribute 'size' of the node 0 is 1000+…, which is no number"):
        from_networkx(graph, features=["size"])
