"""Graphs in one file, as networkx, D3 and old collections write them."""

import gzip
import json

import networkx as nx
import pytest

from otherhalf.data import graph_files
from otherhalf.data.graph_files import is_graph_file, read_graph_file
from otherhalf.data.reading import Columns
from otherhalf.data.source import open_data
from otherhalf.errors import InputError


def people(kind=nx.Graph):
    graph = kind()
    for node, team, age in (("ann", "a", 30), ("bob", "b", 40), ("cy", "a", 50)):
        graph.add_node(node, team=team, age=age)
    graph.add_edge("cy", "bob", weight=2.0)
    graph.add_edge("ann", "bob", weight=1.0)
    return graph


def check(graph, ids=("ann", "bob", "cy")):
    assert graph.ids.tolist() == list(ids)
    assert graph.x.tolist() == [[30], [40], [50]]
    assert graph.classes[graph.y].tolist() == ["a", "b", "a"]
    assert graph.undirected_edges.T.tolist() == [[0, 1], [1, 2]]


TEAM = Columns(label="team", encode=False)


class TestGraphML:
    def test_attributes_are_columns(self, tmp_path):
        path = tmp_path / "people.graphml"
        nx.write_graphml(people(), path)
        notes = []
        graph = read_graph_file(path, TEAM, notes=notes)
        check(graph)
        assert (graph.directed, graph.name) == (False, "people")
        assert [note.split(": ")[1] for note in notes] == [
            "the column 'weight' was taken as the weights of the edges; weight=False (--no-weight) ignores "
            "it."
        ]

    def test_direction_and_packing(self, tmp_path):
        path = tmp_path / "people.graphml.gz"
        nx.write_graphml(people(nx.DiGraph), path)
        with pytest.warns(UserWarning, match="says that its edges are directed"):
            graph = open_data(str(path), TEAM)
        check(graph)
        assert graph.edges.T.tolist() == [[0, 1], [2, 1]]

    @pytest.mark.parametrize(
        "declaration",
        [
            '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
            '<!ENTITY a SYSTEM "file:///etc/hostname">',
            '<!ENTITY % a SYSTEM "http://localhost/a">',
        ],
    )
    def test_entities_are_refused(self, tmp_path, declaration):
        path = tmp_path / "bomb.graphml"
        path.write_text(f"<?xml version='1.0'?><!DOCTYPE graphml [{declaration}]><graphml>&a;</graphml>")
        with pytest.raises(InputError, match="declares XML entities, which are not read"):
            read_graph_file(path)

    def test_damaged(self, tmp_path):
        path = tmp_path / "people.graphml"
        nx.write_graphml(people(), path)
        path.write_bytes(path.read_bytes()[:400])
        with pytest.raises(InputError, match=r"people.graphml is not GraphML, or it is damaged \("):
            read_graph_file(path)

    def test_other_xml(self, tmp_path):
        path = tmp_path / "page.graphml"
        path.write_text("<html></html>")
        with pytest.raises(InputError, match="is not GraphML, or it is damaged"):
            read_graph_file(path)


class TestGML:
    def test_the_key_label_is_the_name_of_a_node(self, tmp_path):
        path = tmp_path / "people.gml"
        nx.write_gml(people(), path)
        notes = []
        check(read_graph_file(path, TEAM, notes=notes), ids=(0, 1, 2))
        assert any("the columns name are not numeric" in note for note in notes)

    def test_repeated_edges_of_old_files(self, tmp_path):
        path = tmp_path / "old.gml"
        nodes = "".join(
            f'  node [\n    id {i}\n    label "n{i}"\n    value {i % 2}\n    a {i}.5\n  ]\n' for i in range(3)
        )
        edge = "  edge [\n    source 0\n    target 1\n  ]\n"
        path.write_text(f'Creator "x"\ngraph [\n  directed 1\n{nodes}{edge}{edge}]\n')
        notes = []
        graph = read_graph_file(path, Columns(label="value"), notes=notes)
        assert (graph.num_edges, graph.dropped_repeats, graph.directed) == (1, 1, True)
        assert any("1 repeated edge" in note for note in notes)

    @pytest.mark.parametrize("text", ["graph [", "hello", "graph [ node [ id 1 ] ] ]", "[" * 50_000])
    def test_damaged(self, tmp_path, text):
        path = tmp_path / "x.gml"
        path.write_text(text)
        with pytest.raises(InputError, match=r"x.gml is not GML, or it is damaged"):
            read_graph_file(path)

    def test_another_encoding(self, tmp_path):
        path = tmp_path / "x.gml"
        text = 'graph [ node [ id 0 label "é" a 1 ] node [ id 1 label "b" a 2 ] edge [ source 0 target 1 ] ]'
        path.write_bytes(text.replace(" node", "\n node").replace("[ ", "[\n").encode("latin-1"))
        notes = []
        read_graph_file(path, notes=notes)
        assert "is not UTF-8 and was read as latin-1" in notes[0]


class TestNodeLink:
    @pytest.mark.parametrize("edges", ["links", "edges"])
    def test_as_networkx_writes_it(self, tmp_path, edges):
        path = tmp_path / "people.json"
        path.write_text(json.dumps(nx.node_link_data(people(), edges=edges)))
        check(read_graph_file(path, TEAM, notes=[]))

    def test_places_in_the_list_as_ids(self, tmp_path):
        path = tmp_path / "d3.json.gz"
        value = {
            "nodes": [{"name": name, "group": g, "a": g} for name, g in (("p", 1), ("q", 2), ("r", 1))],
            "links": [{"source": 0, "target": 2, "value": 1}],
        }
        path.write_bytes(gzip.compress(json.dumps(value).encode()))
        notes = []
        graph = read_graph_file(path, Columns(label="group"), notes=notes)
        assert (graph.ids.tolist(), graph.edges.tolist()) == ([0, 1, 2], [[0], [2]])
        assert "have no id, so their ids are their places 0 … 2" in notes[0]

    def test_lists_as_ids(self, tmp_path):
        path = tmp_path / "grid.json"
        graph = nx.grid_2d_graph(2, 2)
        nx.set_node_attributes(graph, 1.0, "a")
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
        assert read_graph_file(path).ids.tolist() == ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "x.json is not JSON, or it is damaged"),
            ("[" * 100_000, "x.json is not JSON, or it is damaged"),
            ("[1, 2]", "x.json is not node-link JSON: give"),
            ('{"nodes": [1], "links": []}', "is not node-link JSON"),
            ('{"nodes": [], "links": []}', "has 0 nodes and 0 edges"),
            ('{"nodes": [{"id": 1}, {}], "links": []}', "1 of 2 nodes have no id"),
            ('{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "link 1 has no source or no target"),
        ],
    )
    def test_refusals(self, tmp_path, text, message):
        path = tmp_path / "x.json"
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_graph_file(path)


def test_ids_and_ends_are_those_of_the_file(tmp_path):
    with pytest.raises(InputError, match="leave out id, source and target"):
        read_graph_file(tmp_path / "x.gml", Columns(id="name"))


def test_without_networkx(tmp_path, monkeypatch):
    path = tmp_path / "x.gml"
    path.write_text("graph [ ]")
    monkeypatch.setattr(graph_files, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs networkx: run `pip install otherhalf\[io\]`, or give two"):
        read_graph_file(path)


def test_endings():
    names = ["a.graphml", "a.GML", "a.json.xz", "a.csv", "a.jsonl", "cora"]
    assert [is_graph_file(name) for name in names] == [True, True, True, False, False, False]
