"""Folders of Geom-GCN's files, as the user may have them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.data.formats.geom_gcn import EDGES, NODES, NUM_SPLITS, read_geom_gcn, split_file
from otherhalf.data.source import Columns, open_data
from otherhalf.errors import InputError

LABELS = [0, 1, 0, 1, 0]


@pytest.fixture
def folder(tmp_path):
    """Five nodes, out of order, and four links, two of them one pair in both directions."""
    rows = {0: "1,0,0", 1: "0,1,0", 2: "0,0,1", 3: "1,1,0", 4: "0,0,0"}
    lines = [f"{node}\t{rows[node]}\t{LABELS[node]}" for node in (3, 0, 4, 2, 1)]
    (tmp_path / NODES).write_text("node_id\tfeature\tlabel\n" + "\n".join(lines) + "\n")
    (tmp_path / EDGES).write_text("node_id\tnode_id\n0\t1\n1\t0\n3\t2\n4\t2\n")
    return tmp_path


def test_rows_and_edges(folder):
    graph = open_data(str(folder))
    assert graph.name == folder.name
    assert graph.x.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0]]
    assert graph.y.tolist() == LABELS
    assert graph.edges.T.tolist() == [[0, 1], [2, 3], [2, 4]]
    assert graph.fixed_splits == ()


def test_direction_is_kept_where_it_is_asked_for(folder):
    graph = open_data(str(folder), Columns(directed=True))
    assert graph.directed
    assert sorted(graph.edges.T.tolist()) == [[0, 1], [1, 0], [3, 2], [4, 2]]


def test_the_reader_keeps_direction_and_drops_self_loops(folder):
    with (folder / EDGES).open("a") as file:
        file.write("2\t2\n3\t2\n")  # a self loop, and a link that is there already
    graph = read_geom_gcn(folder, "tiny", "", directed=True)
    assert graph.directed
    assert graph.edges.T.tolist() == [[0, 1], [1, 0], [3, 2], [4, 2]]
    assert graph.dropped_self_loops == 1
    undirected = read_geom_gcn(folder, "tiny", "")
    assert not undirected.directed
    assert graph.fingerprint != undirected.fingerprint


def test_actor_has_columns_instead_of_rows_and_a_given_number_of_them(folder):
    (folder / NODES).write_text("node_id\tfeature\tlabel\n2\t2\t1\n0\t0\t0\n1\t1,2,2\t1\n")
    (folder / EDGES).write_text("node_id\tnode_id\n0\t1\n1\t0\n2\t2\n2\t1\n")
    graph = read_geom_gcn(folder, "tiny", "", indices=4)
    assert graph.x.toarray().tolist() == [[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    assert graph.y.tolist() == [0, 1, 1]
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]
    assert graph.dropped_self_loops == 1


def test_columns_instead_of_rows(folder):
    text = (folder / NODES).read_text().replace("1,0,0", "0").replace("0,1,0", "4,1").replace("1,1,0", "2,2")
    (folder / NODES).write_text(text.replace("0,0,1", "3").replace("0,0,0", "1"))
    assert open_data(str(folder)).x.toarray().tolist() == [
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 1],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0],
        [0, 1, 0, 0, 0],
    ]


def test_splits_and_the_name_in_them(folder):
    masks = {"train_mask": [1, 1, 0, 0, 0], "val_mask": [0, 0, 1, 0, 0], "test_mask": [0, 0, 0, 1, 1]}
    for number in range(NUM_SPLITS):
        np.savez(folder / split_file("pond", number), **{k: np.array(v) for k, v in masks.items()})
    graph = open_data(str(folder))
    assert graph.name == "pond"
    assert len(graph.fixed_splits) == NUM_SPLITS
    assert graph.fixed_splits[3].test.tolist() == [3, 4]
    (folder / split_file("pond", 9)).unlink()
    with pytest.raises(InputError, match=r"cannot be read as Geom-GCN.s files.*pond_split_0\.6_0\.2_9"):
        open_data(str(folder))


def test_other_ids_are_ids_and_keep_labels_and_edges_together(folder):
    (folder / NODES).write_text("node_id\tfeature\tlabel\n30\t1,0\t2\n10\t0,1\t0\n20\t1,1\t1\n")
    (folder / EDGES).write_text("node_id\tnode_id\n10\t20\n20\t30\n")
    graph = open_data(str(folder))
    assert graph.ids.tolist() == [10, 20, 30]
    assert graph.y.tolist() == [0, 1, 2]
    assert graph.x.toarray().tolist() == [[0, 1], [1, 1], [1, 0]]
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]


@given(
    st.permutations(range(5)), st.lists(st.integers(-(10**17), 10**17), min_size=5, max_size=5, unique=True)
)
def test_any_numbering_in_any_order_is_the_same_graph(tmp_path_factory, order, ids):
    folder = tmp_path_factory.mktemp("renumbered")
    ids = sorted(ids)
    lines = [f"{ids[node]}\t{node},1\t{LABELS[node]}\n" for node in order]
    (folder / NODES).write_text("node_id\tfeature\tlabel\n" + "".join(lines))
    pairs = [[0, 1], [0, 4], [2, 3]]
    (folder / EDGES).write_text("a\tb\n" + "".join(f"{ids[a]}\t{ids[b]}\n" for a, b in pairs))
    graph = open_data(str(folder))
    assert graph.node_names().tolist() == ids
    assert graph.y.tolist() == LABELS
    assert graph.x.toarray()[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert graph.edges.T.tolist() == pairs


def test_splits_name_the_nodes_0_to_n(folder):
    np.savez(folder / split_file("pond", 0), train_mask=[True], val_mask=[True], test_mask=[True])
    (folder / NODES).write_text("node_id\tfeature\tlabel\n1\t1,0\t2\n2\t0,1\t0\n")
    (folder / EDGES).write_text("node_id\tnode_id\n1\t2\n")
    with pytest.raises(InputError, match="are not 0 … 1, by which the splits name the nodes"):
        open_data(str(folder))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (NODES, "3\t1,1,0", "0\t1,1,0", "the id '0' in the column 'id' occurs more than once"),
        (NODES, "4\t0,0,0", "4\t", "the features '' in line 4 of out1_node_feature_label.txt"),
        (NODES, "4\t0,0,0", "4\t0,,0", "the features '0,,0' in line 4"),
        (NODES, "4\t0,0,0", f"4\t{'9' * 30},0,0", "the features '9+,0,0' in line 4"),
        (NODES, "4\t0,0,0", "4\t9999999999999", "10,000,000,000,000 columns"),
        (NODES, "4\t0,0,0", "4\t-1", "negative"),
        (NODES, "0,0,0\t0", f"0,0,0\t{'9' * 30}", "the label '9+' in line 4"),
        (NODES, "0,0,0\t0", "0,0,0\t", "the label '' in line 4"),
        (NODES, "0,0,0\t0", "0,0,0\t0\t7", "Expected 3 fields in line 4, saw 4"),
        (NODES, "node_id\tfeature\tlabel\n", "", "the first line of out1_node_feature_label.txt has numbers"),
        (EDGES, "node_id\tnode_id\n", "", "the first line of out1_graph_edges.txt has numbers"),
        (EDGES, "3\t2", "3\t", "the column 'target' is empty in row 3"),
        (EDGES, "3\t2", f"3\t{'9' * 30}", "'9+' in the column 'target', row 3, is not among the node ids"),
        (EDGES, "3\t2", "3\t2\t1", "Expected 2 fields in line 4, saw 3"),
    ],
)
def test_a_wrong_cell_is_said_with_its_place(folder, file, old, new, message):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        open_data(str(folder))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", [EDGES, NODES])
def test_what_is_missing_or_wrong_is_said_in_one_sentence(folder, file):
    (folder / file).write_text("node_id\tnode_id\nzero\tone\n")
    with pytest.raises(InputError, match="cannot be read as Geom-GCN's files") as caught:
        open_data(str(folder))
    assert "\n" not in str(caught.value)
    (folder / file).unlink()
    with pytest.raises(InputError, match=f"is a folder without {file}: give an .npz file"):
        open_data(str(folder))


def test_columns_are_for_tables(folder):
    with pytest.raises(InputError, match="columns can be named for tables only"):
        open_data(str(folder), Columns(label="field"))


def test_a_folder_does_not_hide_a_data_set(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "cora").mkdir()
    monkeypatch.setattr("otherhalf.data.source.load", lambda name: f"the data set {name}")
    assert open_data("cora") == "the data set cora"
