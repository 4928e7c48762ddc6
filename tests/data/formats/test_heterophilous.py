from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.data.formats.heterophilous import read_heterophilous
from otherhalf.errors import InputError


@pytest.mark.parametrize("sparse", [True, False])
def test_heterophilous(tmp_path: Path, sparse: bool) -> None:
    masks = {f"{part}_masks": np.eye(3, dtype=bool)[[k]] for k, part in enumerate(("train", "val", "test"))}
    np.savez(
        tmp_path / "a.npz",
        node_features=np.array([[1.0, 0], [0, 2], [0, 0]]),
        node_labels=np.array([0, 1, 1]),
        edges=np.array([[0, 1], [1, 2]]),
        **masks,
    )
    graph = read_heterophilous(tmp_path / "a.npz", "a", sparse)
    assert sp.issparse(graph.x) == sparse
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]
    assert graph.fixed_splits[0].test.tolist() == [2]


def test_direction_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    masks = {f"{part}_masks": np.eye(3, dtype=bool)[[k]] for k, part in enumerate(("train", "val", "test"))}
    edges = np.array([[2, 1], [0, 1], [1, 0], [2, 2], [0, 1]])  # one pair both ways, a self loop, a repeat
    np.savez(tmp_path / "a.npz", node_features=np.eye(3), node_labels=np.arange(3), edges=edges, **masks)
    graph = read_heterophilous(tmp_path / "a.npz", "a", sparse=True, directed=True)
    assert graph.directed
    assert graph.edges.T.tolist() == [[0, 1], [1, 0], [2, 1]]
    undirected = read_heterophilous(tmp_path / "a.npz", "a", sparse=True)
    assert not undirected.directed
    assert undirected.edges.T.tolist() == [[0, 1], [1, 2]]


def test_a_file_without_masks(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", node_features=np.eye(2), node_labels=np.arange(2), edges=np.array([[0, 1]]))
    with pytest.raises(InputError, match=r"a\.npz lacks the array\(s\) train_masks, val_masks, test_masks"):
        read_heterophilous(tmp_path / "a.npz", "a", sparse=True)
