import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from otherhalf.data.npz import read_npz, write_npz
from otherhalf.data.splits import split
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split


def _arrays(**changes: Any) -> dict[str, Any]:
    """A path 0-1-2-3 whose node 3 has no label, in the oldest form of the format."""
    arrays = {
        "edge_index": np.array([[0, 1, 2], [1, 2, 3]], dtype=np.int32),
        "directed": np.array(False),
        "x_data": np.array([1, 2, 1], dtype=np.uint8),
        "x_indices": np.array([0, 1, 0], dtype=np.int32),
        "x_indptr": np.array([0, 1, 2, 3, 3]),
        "x_shape": np.array([4, 2]),
        "y": np.array([0, 1, 0, -1]),
        "train_masks": np.array([[1, 0, 0, 0], [0, 1, 0, 1]], dtype=bool),
        "val_masks": np.array([[0, 1, 0, 0], [0, 0, 1, 0]], dtype=bool),
        "test_masks": np.array([[0, 0, 1, 1], [1, 0, 0, 0]], dtype=bool),
    }
    arrays.update(changes)
    return {key: value for key, value in arrays.items() if value is not None}


def _write(path: Path, **changes: Any) -> Path:
    np.savez_compressed(path, **_arrays(**changes))
    return path


def test_an_old_file_without_ids_classes_and_name(tmp_path: Path) -> None:
    graph = read_npz(_write(tmp_path / "path.npz"))
    assert graph.name == "path"
    assert sp.issparse(graph.x)
    assert graph.x.dtype == np.float32
    assert graph.x.toarray().tolist() == [[1, 0], [0, 2], [1, 0], [0, 0]]
    assert graph.edges.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert graph.ids is None
    assert graph.classes.tolist() == [0, 1]


def test_unlabelled_nodes_are_taken_out_of_the_splits(tmp_path: Path) -> None:
    first, second = read_npz(_write(tmp_path / "g.npz")).fixed_splits
    assert (first.kind, first.seed, second.seed) == ("fixed", 0, 1)
    assert first.test.tolist() == [2]
    assert second.train.tolist() == [1]


def test_the_public_split_comes_last(tmp_path: Path) -> None:
    public = {
        "public_train_mask": np.array([0, 0, 1, 0], dtype=bool),
        "public_val_mask": np.array([0, 1, 0, 0], dtype=bool),
        "public_test_mask": np.array([1, 0, 0, 1], dtype=bool),
    }
    splits = read_npz(_write(tmp_path / "g.npz", **public)).fixed_splits
    assert [split.kind for split in splits] == ["fixed", "fixed", "public"]
    assert [splits[2].train.tolist(), splits[2].val.tolist(), splits[2].test.tolist()] == [[2], [1], [0]]


@pytest.mark.parametrize("sparse", [True, False])
def test_what_is_written_is_read_back(tmp_path: Path, sparse: bool) -> None:
    x = np.array([[0.5, 0], [0, 300], [0, 1]], dtype=np.float32)
    graph = Graph(
        edges=np.array([[2, 0], [0, 1]]),
        x=sp.csr_matrix(x) if sparse else x,
        y=["cat", "dog", ""],
        directed=True,
        ids=["a", "b", "ü"],
        fixed_splits=(
            Split(np.array([0]), np.array([1]), np.array([], dtype=int), kind="fixed", seed=0),
            Split(np.array([1]), np.array([], dtype=int), np.array([0]), kind="public"),
        ),
        name="pets",
    )
    graph.to_npz(tmp_path / "file.npz")
    again = read_npz(tmp_path / "file.npz")
    assert again.fingerprint == graph.fingerprint
    assert sp.issparse(again.x) == sparse
    assert again.directed
    assert again.name == "pets"
    assert again.ids is not None
    assert again.ids.tolist() == ["a", "b", "ü"]
    assert again.classes.tolist() == ["cat", "dog"]
    assert [(s.kind, s.train.tolist(), s.test.tolist()) for s in again.fixed_splits] == [
        ("fixed", [0], []),
        ("public", [1], [0]),
    ]
    assert read_npz(tmp_path / "file.npz", name="other").name == "other"


def test_small_counts_are_written_as_bytes_and_a_class_nobody_has_survives(tmp_path: Path) -> None:
    x = sp.csr_matrix(np.array([[1, 0], [0, 255]]))
    graph = Graph(edges=np.array([[0], [1]]), x=x, y=[2, 0], classes=["a", "b", "c"])
    write_npz(graph, tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz", allow_pickle=False) as file:
        assert file["x_data"].dtype == np.uint8
    assert read_npz(tmp_path / "g.npz").classes.tolist() == ["a", "b", "c"]


def test_two_writes_give_the_same_bytes(tmp_path: Path) -> None:
    graph = read_npz(_write(tmp_path / "g.npz"))
    write_npz(graph, tmp_path / "a.npz")
    write_npz(graph, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_truncated_file(tmp_path: Path, keep: float) -> None:
    path = _write(tmp_path / "g.npz")
    complete = path.read_bytes()
    path.write_bytes(complete[: keep if isinstance(keep, int) else int(len(complete) * keep)])
    with pytest.raises(InputError, match=r"g\.npz is not a complete \.npz file .*download or write it again"):
        read_npz(path)


def test_a_damaged_byte(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(path, **_arrays())  # uncompressed, so that the damage hits the numbers themselves
    raw = bytearray(path.read_bytes())
    at = raw.index(np.array([[0, 1, 2], [1, 2, 3]], dtype=np.int32).tobytes())
    raw[at] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(InputError, match=r"not a complete \.npz file"):
        read_npz(path)


def test_a_pickled_array_is_not_loaded(tmp_path: Path) -> None:
    path = _write(tmp_path / "g.npz", ids=np.array([1, "a", None, 2], dtype=object))
    with pytest.raises(InputError, match="holds Python objects"):
        read_npz(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY"])
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "g.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"not a complete \.npz file"):
        read_npz(tmp_path / "g.npz")


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.npz does not exist: check the path"):
        read_npz(tmp_path / "nowhere.npz")
    with pytest.raises(InputError, match="is a folder"):
        read_npz(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": None}, r"the array\(s\) y are missing"),
        ({"edge_index": None, "directed": None}, r"edge_index, directed are missing"),
        ({"x_indptr": None}, r"the array\(s\) x_indptr are missing"),
        ({"y": np.array([0.5, 1, 1, 1])}, "y is float64"),
        ({"directed": np.array([True, False])}, r"directed is bool of shape \(2,\): give one true or false"),
        ({"directed": np.array("no")}, "directed is <U2 of shape"),
        ({"directed": np.array(np.nan)}, "directed is float64"),
        ({"directed": np.array(2)}, "give one true or false"),
        ({"y": np.array([0, 1, 0, 2**64 - 1], dtype=np.uint64)}, "18446744073709551615 is too large"),
        ({"name": np.array(["a", "b"])}, r"name is <U1 of shape \(2,\): give one text"),
        ({"edge_index": np.array(1), "relation_names": np.array(["a"])}, r"the edges have the shape \(\)"),
        ({"name": np.array("x" * 1001)}, "name has 1,001 characters: give at most 1,000"),
        ({"reading": np.array("[" * 100_000)}, "reading is damaged"),
        ({"feature_names": np.array([1, 2])}, r"feature_names is int64 of shape \(2,\)"),
        ({"feature_names": np.array(["a"])}, "1 feature names for 2 columns"),
        ({"feature_names": np.array(["a", "a"])}, "two features are called 'a'"),
        ({"reading": np.array('{"version": "1"}')}, "reading is damaged"),
        ({"x_indices": np.array([0, 7, 0], dtype=np.int32)}, "do not fit together"),
        ({"x_indptr": np.array([0, 1])}, "do not fit together"),
        ({"edge_index": np.array([[0], [9]])}, "an edge ends at node 9"),
        ({"val_masks": None}, "the file has only train_masks, test_masks: give all or none"),
        ({"val_masks": np.zeros((2, 3), dtype=bool)}, r"val_masks is bool of shape \(2, 3\)"),
        ({"val_masks": np.zeros((1, 4), dtype=bool)}, "differ in length"),
        ({"val_masks": np.zeros((2, 4))}, "val_masks is float64"),
        ({"val_masks": np.ones((2, 4), dtype=bool)}, "more than one of train, val and test"),
        ({"ids": np.array(["a", "a", "b", "c"])}, "'a' occurs more than once"),
    ],
)
def test_each_wrong_array_gets_one_sentence_with_the_file(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = _write(tmp_path / "g.npz", **changes)
    with pytest.raises(InputError, match=message) as caught:
        read_npz(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_name_without_npz_and_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    graph = read_npz(_write(tmp_path / "g.npz"))
    with pytest.raises(InputError, match=re.escape("does not end in .npz: give a file name such as out.npz")):
        write_npz(graph, tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_npz(graph, tmp_path / "file" / "g.npz")


def test_names_of_features_are_written_and_read(tmp_path):
    graph = Graph(edges=[[0], [1]], x=np.ones((2, 2)), feature_names=["größe", "b"])
    graph.to_npz(tmp_path / "g.npz")
    assert read_npz(tmp_path / "g.npz").feature_names == ("größe", "b")


def test_one_long_name_of_a_feature_does_not_make_all_as_wide(tmp_path, monkeypatch):
    monkeypatch.setattr("otherhalf.system.names.WIDEST", 1000)
    names = ("x" * 1000, *(f"größe {i}" for i in range(9)))
    Graph(edges=[[0], [1]], x=np.ones((2, 10)), feature_names=names).to_npz(tmp_path / "g.npz")
    assert (tmp_path / "g.npz").stat().st_size < 10_000
    with np.load(tmp_path / "g.npz") as arrays:
        assert max(array.nbytes for array in arrays.values()) < 2000
    assert read_npz(tmp_path / "g.npz").feature_names == names


def test_weights_are_written_and_read(tmp_path):
    graph = Graph(edges=np.array([[0, 1], [1, 2]]), x=np.ones((3, 1)), y=[0, 1, 0], weights=[0.5, 2.0])
    graph.to_npz(tmp_path / "g.npz")
    again = read_npz(tmp_path / "g.npz")
    assert again.weights.tolist() == [0.5, 2.0]
    assert again.fingerprint == graph.fingerprint


@pytest.mark.parametrize("options", [{}, {"directed": True, "weights": [0.5, 2.0, 3.0]}])
def test_relations_are_written_and_read(tmp_path, options):
    edges = np.array([[0, 1, 1], [1, 2, 2]])
    names = ["cites", None, "likes"]
    graph = Graph(edges=edges, x=np.ones((3, 1)), y=[0, 1, 0], relations=names, **options)
    graph.to_npz(tmp_path / "g.npz")
    again = read_npz(tmp_path / "g.npz")
    assert again.relations.names == ("cites", "likes")
    assert (again.relations.edges != graph.relations.edges).nnz == 0
    assert again.fingerprint == graph.fingerprint


def test_damaged_relations(tmp_path):
    path = _write(tmp_path / "g.npz", relation_names=np.array(["a"]), relation_data=np.ones(1))
    with pytest.raises(InputError, match=r"the arrays relation_\* do not fit together"):
        read_npz(path)
    matrix = {"relation_indptr": np.array([0, 1]), "relation_indices": np.array([9])}
    path = _write(path, relation_names=np.array(["a"]), relation_data=np.ones(1), **matrix)
    with pytest.raises(InputError, match=r"the arrays relation_\* do not fit together"):
        read_npz(path)
    matrix = {"relation_indptr": np.array([0, 1, 2]), "relation_indices": np.array([0, 0])}
    for names, data in ((["a", "a"], [1, 1]), (["a", "b"], [1, -1]), (["a", "b"], [1, np.nan])):
        path = _write(path, relation_names=np.array(names), relation_data=np.array(data), **matrix)
        with pytest.raises(InputError, match="a name is there twice, or a weight is no number ≥ 0"):
            read_npz(path)


def test_a_split_of_the_users_own_stays_one(tmp_path):
    made = Split([0], [1], [2], kind="time")
    graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), y=[0, 1, 0], fixed_splits=(made,))
    write_npz(graph, tmp_path / "g.npz")
    again = split(read_npz(tmp_path / "g.npz"), "given")
    assert (again.train.tolist(), again.val.tolist(), again.test.tolist()) == ([0], [1], [2])
    arrays = dict(np.load(tmp_path / "g.npz")) | {"split_kinds": np.array(["time", "time"])}
    np.savez(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(InputError, match="split_kinds and train_masks differ in length"):
        read_npz(tmp_path / "wrong.npz")


def test_the_reading_of_tables_is_kept(tmp_path):
    nodes = pd.DataFrame(
        {
            "id": range(60),
            "label": ["a", "b"] * 30,
            "city": ["Bonn", "Rome", "Oslo"] * 20,
            "text": [f"word{i % 7} and word{i % 11} in a sentence" for i in range(60)],
            "size": np.linspace(0, 1, 60),
        }
    )
    graph = Graph.from_frames(nodes, {"source": [0, 1], "target": [1, 2]}, notes=[])
    write_npz(graph, tmp_path / "g.npz")
    again = read_npz(tmp_path / "g.npz")
    assert again.reading.encoding == graph.reading.encoding
    assert again.reading.columns == graph.reading.columns
    arrays = dict(np.load(tmp_path / "g.npz")) | {"reading": np.array("{}")}
    np.savez(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(InputError, match=r"wrong\.npz: reading is damaged"):
        read_npz(tmp_path / "wrong.npz")
