"""The readers of the sources' own formats, on files small enough to check by hand, and on the originals."""

import gzip
import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from otherhalf.data.download import known_hashes
from otherhalf.data.entries import DATASETS
from otherhalf.data.formats import ogb
from otherhalf.data.formats.geom_gcn import read_geom_gcn, split_file
from otherhalf.data.formats.gnn_benchmark import read_gnn_benchmark
from otherhalf.data.formats.heterophilous import read_heterophilous
from otherhalf.data.formats.musae import read_musae
from otherhalf.data.sources import SOURCES
from otherhalf.errors import InputError

REENCODED = {
    "amazon_computers": "Amazon/Computers/raw/amazon_electronics_computers.npz",
    "amazon_photo": "Amazon/Photo/raw/amazon_electronics_photo.npz",
    "coauthor_cs": "Coauthor/CS/raw/ms_academic_cs.npz",
    "coauthor_physics": "Coauthor/Physics/raw/ms_academic_phy.npz",
}


def test_every_data_set_but_debian_has_a_source() -> None:
    assert set(DATASETS) - set(SOURCES) == {"debian_bookworm"}
    assert set(SOURCES) <= set(DATASETS)
    for source in SOURCES.values():
        files = [address.rsplit("/", 1)[1] for address in source.addresses]
        assert len(set(files)) == len(files)  # they are put into one folder


def test_every_known_hash_belongs_to_a_source() -> None:
    addresses = {address for source in SOURCES.values() for address in source.addresses}
    hashes = known_hashes()
    assert set(hashes) <= addresses
    assert all(len(digest) == 64 for digest in hashes.values())


def test_the_known_hashes_are_those_of_the_original_files(data_dir: Path) -> None:
    raw = data_dir / "raw"
    if not raw.is_dir():
        pytest.skip("raw files absent: set OTHERHALF_DATA to a folder with raw/")
    originals = {hashlib.sha256(path.read_bytes()).hexdigest() for path in raw.rglob("*") if path.is_file()}
    assert set(known_hashes().values()) <= originals


def _geom_gcn(folder: Path, features: list[str]) -> None:
    lines = [
        f"{node}\t{text}\t{label}" for node, text, label in zip([2, 0, 1], features, [1, 0, 1], strict=True)
    ]
    (folder / "out1_node_feature_label.txt").write_text("\n".join(["node_id\tfeature\tlabel", *lines, ""]))
    (folder / "out1_graph_edges.txt").write_text("node_id\tnode_id\n0\t1\n1\t0\n2\t2\n2\t1\n")
    for i in range(10):
        masks = {f"{part}_mask": np.arange(3) == k for k, part in enumerate(("train", "val", "test"))}
        np.savez(folder / split_file("tiny", i), **masks)


@pytest.mark.parametrize(
    ("features", "indices"), [(["0,0,1", "1,0,0", "0,1,1"], None), (["2", "0", "1,2,2"], 3)]
)
def test_geom_gcn_in_rows_or_in_indices(tmp_path: Path, features: list[str], indices: int | None) -> None:
    _geom_gcn(tmp_path, features)
    graph = read_geom_gcn(tmp_path, "tiny", "tiny", indices)
    assert graph.x.toarray().tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    assert graph.y.tolist() == [0, 1, 1]
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]
    assert graph.dropped_self_loops == 1
    assert len(graph.fixed_splits) == 10
    assert graph.fixed_splits[9].val.tolist() == [1]


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


def test_musae(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as archive:
        archive.writestr("pages/m_edges.csv", "id_1,id_2\n0,1\n2,2\n2,0\n")
        archive.writestr("pages/m_target.csv", "id,page,kind\n1,b,tv\n0,a,company\n2,c,tv\n")
        archive.writestr("pages/m_features.json", json.dumps({"0": [3, 1, 3], "2": []}))
    graph = read_musae(tmp_path / "pages.zip", "pages", "m", "kind")
    assert graph.edges.T.tolist() == [[0, 1], [0, 2]]
    assert graph.y.tolist() == [0, 1, 1]
    assert graph.x.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]


def _arxiv_files() -> dict[str, str]:
    return {
        "raw/edge.csv.gz": "0,1\n2,1\n1,0\n",
        "raw/node-feat.csv.gz": "0.5,1\n-1,0\n0,0\n",
        "raw/node-label.csv.gz": "3\n0\n3\n",
        "split/time/train.csv.gz": "2\n",
        "split/time/valid.csv.gz": "0\n",
        "split/time/test.csv.gz": "1\n",
    }


def _unpacked(folder: Path) -> None:
    for name, text in _arxiv_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))


def _zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in _arxiv_files().items():
            archive.writestr(f"arxiv/{name}", gzip.compress(text.encode()))


@pytest.mark.parametrize("layout", ["arxiv", "ogbn_arxiv", "arxiv.zip"])
def test_official_arxiv_files_in_each_layout(tmp_path: Path, layout: str) -> None:
    assert ogb.official_files(tmp_path) is None
    (_zipped if layout.endswith(".zip") else _unpacked)(tmp_path / layout)
    official = ogb.official_files(tmp_path)
    assert official is not None
    graph = ogb.read_arxiv(official)
    assert graph.directed
    assert graph.edges.T.tolist() == [[0, 1], [1, 0], [2, 1]]
    assert graph.x.tolist() == [[0.5, 1], [-1, 0], [0, 0]]
    assert graph.y.tolist() == [1, 0, 1]
    split = graph.fixed_splits[0]
    assert [split.train.tolist(), split.val.tolist(), split.test.tolist()] == [[2], [0], [1]]


def test_tape_scores_its_guesses_from_five_down(tmp_path: Path) -> None:
    _zipped(tmp_path / "arxiv.zip")
    (tmp_path / "ogbn-arxiv.csv").write_text("24,4,10\n\n0\n")
    graph = ogb.read_arxiv_tape(tmp_path)
    assert graph.num_features == 40
    assert graph.x[0].toarray().ravel().nonzero()[0].tolist() == [4, 10, 24]
    assert [graph.x[0, 24], graph.x[0, 4], graph.x[0, 10], graph.x[2, 0]] == [5, 4, 3, 5]
    assert graph.x[1].nnz == 0


def test_damaged_official_arxiv_files(tmp_path: Path) -> None:
    (tmp_path / "arxiv.zip").write_bytes(b"PK")
    _unpacked(tmp_path / "arxiv")
    whole = tmp_path / "arxiv" / "raw" / "edge.csv.gz"
    whole.write_bytes(whole.read_bytes()[:20])
    _unpacked(tmp_path / "ogbn_arxiv")
    (tmp_path / "ogbn_arxiv" / "split" / "time" / "test.csv.gz").unlink()
    for name in ("arxiv.zip", "arxiv", "ogbn_arxiv"):
        with pytest.raises(InputError, match=f"{name} does not hold OGB's official files whole"):
            ogb.read_arxiv(tmp_path / name)
