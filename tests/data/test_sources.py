"""Every data set has public files, and every known hash belongs to one of them."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from otherhalf.data.download import known_hashes
from otherhalf.data.entries import DATASETS, splits_fingerprint
from otherhalf.data.npz import read_npz
from otherhalf.data.sources import HETEROPHILOUS, SOURCES


def test_every_data_set_but_debian_has_a_source() -> None:
    assert set(DATASETS) - set(SOURCES) == {"debian_bookworm"}
    assert set(SOURCES) <= set(DATASETS)
    for source in SOURCES.values():
        files = [address.rsplit("/", 1)[1] for address in source.addresses]
        assert len(set(files)) == len(files)  # they are downloaded to one folder


def test_every_known_hash_belongs_to_a_source() -> None:
    addresses = {address for source in SOURCES.values() for address in source.addresses}
    hashes = known_hashes()
    assert set(hashes) <= addresses
    assert all(len(digest) == 64 for digest in hashes.values())


@pytest.mark.parametrize("name", ["chameleon", "squirrel"])
def test_direction_needs_no_other_files_of_geom_gcn_and_another_one_of_platonov(name: str) -> None:
    assert SOURCES[f"{name}_directed"].addresses == SOURCES[name].addresses
    assert set(SOURCES[name].addresses) <= set(known_hashes())
    filtered = f"{name}_filtered_directed"
    assert SOURCES[filtered].addresses == (f"{HETEROPHILOUS}/{filtered}.npz",)


@pytest.mark.parametrize("name", ["chameleon", "squirrel"])
def test_the_original_files_give_the_directed_data_set(data_dir: Path, name: str) -> None:
    raw, directed = data_dir / "raw" / "WikipediaNetwork" / name / "geom_gcn" / "raw", f"{name}_directed"
    if not raw.is_dir():
        pytest.skip("raw files absent: set OTHERHALF_DATA to a folder with raw/")
    graph = SOURCES[directed].parse(raw)
    assert (graph.name, graph.directed) == (directed, True)
    assert DATASETS[directed].mismatch(graph) == ""
    if not (data_dir / f"{directed}.npz").is_file():
        pytest.skip(f"real data absent: no {directed}.npz in OTHERHALF_DATA")
    file = read_npz(data_dir / f"{directed}.npz")
    assert (graph.fingerprint, splits_fingerprint(graph)) == (file.fingerprint, splits_fingerprint(file))


@pytest.mark.parametrize("name", ["chameleon_filtered", "squirrel_filtered"])
@pytest.mark.parametrize("direction", ["", "_directed"])
def test_platonov_files_keep_their_direction_where_the_name_says_so(
    tmp_path: Path, name: str, direction: str
) -> None:
    masks = {f"{part}_masks": np.eye(3, dtype=bool)[[k]] for k, part in enumerate(("train", "val", "test"))}
    edges = np.array([[0, 1], [1, 0], [2, 1]])
    features, labels = np.eye(3), np.array([0, 1, 1])
    source = SOURCES[name + direction]
    path = tmp_path / source.addresses[0].rsplit("/", 1)[1]
    np.savez(path, node_features=features, node_labels=labels, edges=edges, **masks)
    graph = source.parse(tmp_path)
    assert (graph.name, graph.directed) == (name + direction, direction != "")
    assert graph.edges.T.tolist() == (edges.tolist() if direction else [[0, 1], [1, 2]])


def test_the_known_hashes_are_those_of_the_original_files(data_dir: Path) -> None:
    raw = data_dir / "raw"
    if not raw.is_dir():
        pytest.skip("raw files absent: set OTHERHALF_DATA to a folder with raw/")
    originals = {hashlib.sha256(path.read_bytes()).hexdigest() for path in raw.rglob("*") if path.is_file()}
    assert set(known_hashes().values()) <= originals
