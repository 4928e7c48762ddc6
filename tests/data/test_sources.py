"""Every data set has public files, and every known hash belongs to one of them."""

import hashlib
from pathlib import Path

import pytest

from otherhalf.data.download import known_hashes
from otherhalf.data.entries import DATASETS
from otherhalf.data.sources import SOURCES


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


def test_the_known_hashes_are_those_of_the_original_files(data_dir: Path) -> None:
    raw = data_dir / "raw"
    if not raw.is_dir():
        pytest.skip("raw files absent: set OTHERHALF_DATA to a folder with raw/")
    originals = {hashlib.sha256(path.read_bytes()).hexdigest() for path in raw.rglob("*") if path.is_file()}
    assert set(known_hashes().values()) <= originals
