from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.data.entries import DATASETS
from otherhalf.data.formats.gnn_benchmark import read_gnn_benchmark
from otherhalf.errors import InputError

REENCODED = {
    "amazon_computers": "Amazon/Computers/raw/amazon_electronics_computers.npz",
    "amazon_photo": "Amazon/Photo/raw/amazon_electronics_photo.npz",
    "coauthor_cs": "Coauthor/CS/raw/ms_academic_cs.npz",
    "coauthor_physics": "Coauthor/Physics/raw/ms_academic_phy.npz",
}


def _csr(prefix: str, matrix: sp.csr_matrix) -> dict[str, object]:
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"{prefix}_{key}": value for key, value in parts.items()}


def test_gnn_benchmark_leaves_pickled_arrays_alone(tmp_path: Path) -> None:
    adjacency = sp.csr_matrix(np.array([[0, 1, 0], [1, 1, 0], [0, 1, 0]]))
    arrays = _csr("adj", adjacency) | _csr("attr", sp.csr_matrix(np.array([[3, 0], [0, 1], [0, 0]])))
    np.savez(
        tmp_path / "a.npz",
        labels=np.array([1, 0, 1]),
        names=np.array([None, "x", 2], dtype=object),
        **arrays,  # type: ignore[arg-type]
    )
    np.savez(tmp_path / "s.npz", train=np.array([2]), valid=np.array([0]), test=np.array([1]))
    graph = read_gnn_benchmark(tmp_path / "a.npz", "a", tmp_path / "s.npz")
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]
    assert graph.x.toarray().tolist() == [[3, 0], [0, 1], [0, 0]]
    assert graph.fixed_splits[0].train.tolist() == [2]
    np.savez(tmp_path / "b.npz", labels=np.array([1, 0, 1]), **_csr("adj", adjacency))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"lacks the array\(s\) attr_data, attr_indices"):
        read_gnn_benchmark(tmp_path / "b.npz", "b")


@pytest.mark.parametrize("name", REENCODED)
def test_gnn_benchmark_on_the_reencoded_files(data_dir: Path, name: str) -> None:
    path = data_dir / "raw_reencoded" / REENCODED[name]
    if not path.is_file():
        pytest.skip("raw files absent: set OTHERHALF_DATA to a folder with raw_reencoded/")
    assert read_gnn_benchmark(path, name).fingerprint == DATASETS[name].fingerprint
