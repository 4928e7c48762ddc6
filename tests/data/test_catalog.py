"""load: a graph by the name of its data set or from a file."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from otherhalf.data.catalog import DATASETS, load, resolve
from otherhalf.data.entries import DataSet, splits_fingerprint
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An empty data folder and an empty cache, and no network."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    cache.mkdir()
    monkeypatch.setenv("OTHERHALF_DATA", str(data))
    monkeypatch.setenv("OTHERHALF_CACHE", str(cache))
    monkeypatch.setenv("OTHERHALF_MIRROR", "http://127.0.0.1:9")  # nothing listens there
    return data, cache


def _graph(first: float = 1.0, name: str = "tiny") -> Graph:
    split = Split(np.array([0]), np.array([1]), np.array([2]), kind="fixed", seed=0)
    edges = np.array([[0, 1], [1, 2]])
    return Graph(edges=edges, x=np.array([[first], [2], [3]]), y=[0, 1, 0], fixed_splits=(split,), name=name)


def _entry(graph: Graph, name: str = "tiny") -> DataSet:
    return DataSet(
        name=name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        classes=graph.num_classes,
        features=graph.num_features,
        description="",
        source="",
        paper="",
        licence="",
        traps="",
        fingerprint=graph.fingerprint,
        splits_fingerprint=splits_fingerprint(graph),
    )


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Cora", "cora"),
        (" CORA ", "cora"),
        ("computers", "amazon_computers"),
        ("Photo", "amazon_photo"),
        ("Amazon-Photo", "amazon_photo"),
        ("film", "actor"),
        ("squirrel-filtered", "squirrel_filtered"),
        ("Chameleon-Directed", "chameleon_directed"),
        ("squirrel filtered directed", "squirrel_filtered_directed"),
        ("ogbn-arxiv", "ogbn_arxiv"),
        ("nosuch", None),
    ],
)
def test_names_in_every_usual_spelling(given: str, name: str | None) -> None:
    assert resolve(given) == name


def test_the_data_folder_goes_before_the_cache(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, cache = folders
    monkeypatch.setitem(DATASETS, "tiny", _entry(_graph()))
    _graph(name="whatever").to_npz(cache / "tiny.npz")
    assert load("Tiny").name == "tiny"
    (data / "tiny.npz").write_bytes(b"broken")
    with pytest.raises(InputError, match=r"tiny\.npz is not a complete"):
        load("tiny")


def test_a_path_loads_that_file_whatever_it_is_called(tmp_path: Path) -> None:
    _graph(name="").to_npz(tmp_path / "cora.npz")
    assert load(tmp_path / "cora.npz").num_nodes == 3
    assert load(str(tmp_path / "cora.npz")).name == "cora"
    with pytest.raises(InputError, match=r"nosuch\.npz does not exist"):
        load("nosuch.npz")


def test_an_own_file_in_the_data_folder_has_a_name_too(folders: tuple[Path, Path]) -> None:
    _graph(name="").to_npz(folders[0] / "my_graph.npz")
    assert load("my_graph").name == "my_graph"


def test_a_named_file_with_other_content_is_refused(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    good, other = _graph(), _graph(first=9.0)
    monkeypatch.setitem(DATASETS, "tiny", _entry(good))
    other.to_npz(folders[0] / "tiny.npz")
    with pytest.raises(InputError) as caught:
        load("tiny")
    for part in (
        str(folders[0] / "tiny.npz"),
        good.fingerprint,
        other.fingerprint,
        "load your own graph by its path",
    ):
        assert part in str(caught.value)


def test_a_file_without_direction_is_not_taken_for_a_directed_data_set(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    undirected = _graph(name="chameleon_directed")
    directed = replace(undirected, directed=True)
    assert directed.num_edges == undirected.num_edges
    monkeypatch.setitem(DATASETS, "chameleon_directed", _entry(directed, "chameleon_directed"))
    directed.to_npz(folders[0] / "chameleon_directed.npz")
    assert load("chameleon_directed").directed
    undirected.to_npz(folders[0] / "chameleon_directed.npz")
    with pytest.raises(InputError, match="is not the data set chameleon_directed"):
        load("chameleon_directed")


def test_a_named_file_with_other_splits_is_refused(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = _graph()
    monkeypatch.setitem(DATASETS, "cora", _entry(graph, "cora"))
    Graph(edges=graph.edges, x=graph.x, y=graph.y).to_npz(folders[0] / "cora.npz")
    with pytest.raises(InputError, match="its splits fingerprint is empty, not"):
        load("cora")


@pytest.mark.parametrize(
    ("given", "hint"),
    [("coro", "did you mean cora"), ("chamelon", "chameleon"), ("computr", "amazon_computers")],
)
def test_an_unknown_name_gets_the_closest_ones(folders: tuple[Path, Path], given: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint) as caught:
        load(given)
    assert "`otherhalf datasets`" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_like_nothing_known(folders: tuple[Path, Path]) -> None:
    with pytest.raises(InputError, match="'zzzz': `otherhalf datasets` lists them all"):
        load("zzzz")


@pytest.mark.parametrize("name", ["wood", "nodes.csv", "g.graphml", "nodes.parquet"])
def test_what_other_functions_read_is_said(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wood").mkdir()
    kind = "a folder" if name == "wood" else "not an .npz file by its ending"
    message = rf"{name} is {kind}, and load takes a data set's name or an .npz file: otherhalf.read_tables"
    for given in (name, f"./{name}", Path(name)):
        with pytest.raises(InputError, match=message):
            load(given)


def test_a_data_set_may_have_the_name_of_a_folder(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_graph").mkdir()
    _graph(name="").to_npz(folders[0] / "my_graph.npz")
    assert load("my_graph").name == "my_graph"


def test_the_official_arxiv_files_are_found_checked_and_kept(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, cache = folders
    graph = _graph()
    entry = _entry(graph, "ogbn_arxiv")
    monkeypatch.setitem(DATASETS, "ogbn_arxiv", entry)
    monkeypatch.setattr("otherhalf.data.formats.ogb.read_arxiv", lambda path: graph)
    (data / "arxiv" / "raw").mkdir(parents=True)
    (data / "arxiv" / "raw" / "edge.csv.gz").touch()
    assert load("ogbn-arxiv").name == "ogbn_arxiv"
    assert (cache / "ogbn_arxiv.npz").is_file()
    shutil.rmtree(data / "arxiv")
    assert load("arxiv").fingerprint == graph.fingerprint


def test_loading_needs_no_torch(data_dir: Path) -> None:
    import subprocess
    import sys

    code = "import sys, otherhalf; otherhalf.load('texas'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
