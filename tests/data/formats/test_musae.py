import json
import zipfile
from pathlib import Path

import pytest

from otherhalf.data.formats.musae import read_musae


def test_musae(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as archive:
        archive.writestr("pages/m_edges.csv", "id_1,id_2\n0,1\n2,2\n2,0\n")
        archive.writestr("pages/m_target.csv", "id,page,kind\n1,b,tv\n0,a,company\n2,c,tv\n")
        archive.writestr("pages/m_features.json", json.dumps({"0": [3, 1, 3], "2": []}))
    graph = read_musae(tmp_path / "pages.zip", "pages", "m", "kind")
    assert graph.edges.T.tolist() == [[0, 1], [0, 2]]
    assert graph.y.tolist() == [0, 1, 1]
    assert graph.x.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_an_archive_without_one_of_its_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as archive:
        archive.writestr("pages/m_edges.csv", "id_1,id_2\n0,1\n")
    with pytest.raises(KeyError, match=r"pages/m_target\.csv"):  # the download makes a sentence of it
        read_musae(tmp_path / "pages.zip", "pages", "m", "kind")
