import gzip
import zipfile
from pathlib import Path

import pytest

from otherhalf.data.formats import ogb
from otherhalf.errors import InputError


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
    edges = tmp_path / "arxiv" / "raw" / "edge.csv.gz"
    edges.write_bytes(edges.read_bytes()[:20])
    _unpacked(tmp_path / "ogbn_arxiv")
    (tmp_path / "ogbn_arxiv" / "split" / "time" / "test.csv.gz").unlink()
    for name in ("arxiv.zip", "arxiv", "ogbn_arxiv"):
        with pytest.raises(InputError, match=f"{name} does not have all of OGB's official files"):
            ogb.read_arxiv(tmp_path / name)
