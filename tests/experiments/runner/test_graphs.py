from dataclasses import replace

import numpy as np
import pytest

from otherhalf.data.catalog import load
from otherhalf.data.entries import DATASETS
from otherhalf.data.splits import split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.experiments.runner import graphs as module
from otherhalf.experiments.runner.graphs import KEPT, GraphFolder, hash_of
from otherhalf.experiments.runner.job import data_set_of
from otherhalf.graph import Graph

GRAPH = replace(contextual_sbm(60, 3, 4, homophily=0.2, seed=1), name="mine")


def with_splits(*seeds):
    published = tuple(replace(split(GRAPH, seed=seed), kind="fixed", seed=i) for i, seed in enumerate(seeds))
    return replace(GRAPH, fixed_splits=published)


@pytest.fixture(autouse=True)
def empty_cache():
    module._open.cache_clear()


@pytest.fixture
def graphs(tmp_path):
    return GraphFolder(tmp_path / "graphs")


@pytest.fixture
def counted(monkeypatch):
    """How often a file was read, and how often a graph was hashed."""
    counts = {"read": 0, "hashed": 0}
    read, fingerprint = module.read_npz, Graph.__dict__["unlabelled_fingerprint"].func

    def counted_read(path):
        counts["read"] += 1
        return read(path)

    def counted_hash(graph):
        counts["hashed"] += 1
        return fingerprint(graph)

    monkeypatch.setattr(module, "read_npz", counted_read)
    monkeypatch.setattr(Graph.__dict__["unlabelled_fingerprint"], "func", counted_hash)
    return counts


def test_published_splits_are_hashed_if_the_protocol_uses_them():
    one, other = with_splits(0, 1), with_splits(0, 2)
    assert hash_of(one, "uniform") == hash_of(other, "uniform") == GRAPH.fingerprint
    assert hash_of(one, "fixed") != hash_of(other, "fixed")
    assert hash_of(one, "fixed") == hash_of(with_splits(0, 1), "fixed")
    assert hash_of(GRAPH, "fixed") == GRAPH.fingerprint  # it has none


@pytest.mark.parametrize("protocol", ["uniform", "fixed"])
def test_a_graph_is_found_by_its_content(graphs, protocol):
    graph = with_splits(0, 1)
    data_hash = hash_of(graph, protocol)
    assert not graphs.has("mine", data_hash)
    graphs.put(graph, data_hash)
    (path,) = graphs.folder.iterdir()
    assert path.name == f"{data_hash.replace(':', '-')}.npz"
    assert graphs.has("mine", data_hash)
    opened = GraphFolder(graphs.folder).open("mine", data_hash)
    assert hash_of(opened, protocol) == data_hash
    assert opened.name == "mine"


def test_a_graph_is_written_once(graphs):
    graphs.put(GRAPH, "hash")
    before = (graphs.folder / "hash.npz").stat().st_mtime_ns
    graphs.put(GRAPH, "hash")
    assert (graphs.folder / "hash.npz").stat().st_mtime_ns == before


def test_several_graphs_of_one_name(graphs):
    other = replace(GRAPH, y=np.roll(GRAPH.y, 1))
    for graph in (GRAPH, other):
        graphs.put(graph, graph.fingerprint)
    for graph in (GRAPH, other):
        assert np.array_equal(graphs.open("mine", graph.fingerprint).y, graph.y)


def test_a_graph_with_other_content_is_an_error(graphs):
    for wrong in ("another", f"{GRAPH.fingerprint}:splits"):
        graphs.put(GRAPH, wrong)
        with pytest.raises(InputError, match="mine has changed since the experiment was planned"):
            graphs.open("mine", wrong)


def test_without_a_folder_only_the_catalogue_is_known():
    with pytest.raises(InputError, match=r"no folder to find mine in.*graphs=GraphFolder\(folder\)"):
        GraphFolder().put(GRAPH, "hash")
    assert not GraphFolder().has("mine", GRAPH.fingerprint)


def test_a_graph_is_read_and_hashed_once_for_several_jobs(graphs, counted):
    graphs.put(GRAPH, GRAPH.fingerprint)
    counted.update(read=0, hashed=0)
    opened = [graphs.open("mine", GRAPH.fingerprint) for _ in range(5)]
    assert counted == {"read": 1, "hashed": 1}
    assert all(graph is opened[0] for graph in opened)


def test_only_the_last_few_graphs_are_kept(graphs, counted):
    several = [replace(GRAPH, x=GRAPH.x + i) for i in range(KEPT + 1)]
    for graph in several:
        graphs.put(graph, graph.fingerprint)
    for graph in (*several, several[0]):
        graphs.open("mine", graph.fingerprint)
    assert counted["read"] == KEPT + 2


@pytest.mark.usefixtures("no_data")
def test_a_data_set_is_available_if_its_file_is_there(tmp_path, monkeypatch):
    content = DATASETS["texas"].fingerprint
    assert not GraphFolder().has("texas", content)
    monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path))
    (tmp_path / "texas.npz").write_bytes(b"not read")
    monkeypatch.setattr(module, "open_data", lambda data: pytest.fail(f"{data} was opened"))
    assert GraphFolder().has("texas", content)
    GraphFolder().fetch("texas", content)
    assert not GraphFolder().has("texas", "another graph of this name")


@pytest.mark.usefixtures("no_data")
def test_a_data_set_that_is_not_there_is_downloaded(monkeypatch):
    fetched = []
    monkeypatch.setattr("otherhalf.data.catalog.download", fetched.append)
    GraphFolder().fetch("texas", DATASETS["texas"].fingerprint)
    assert [entry.name for entry in fetched] == ["texas"]


def test_a_data_set_is_opened_by_its_name(data_dir):
    graph = GraphFolder().open("texas", DATASETS["texas"].fingerprint)
    assert graph.num_nodes == DATASETS["texas"].nodes


def test_a_data_set_with_other_splits_is_a_graph_of_its_own(graphs, data_dir, monkeypatch):
    """It was taken for the catalogue's, whose splits are not those of the jobs."""
    monkeypatch.setenv("OTHERHALF_DATA", str(data_dir))
    texas = load("texas")
    other = replace(texas, fixed_splits=(replace(split(texas), kind="fixed", seed=0),))
    data_hash = hash_of(other, "fixed")
    assert graphs.has("texas", hash_of(texas, "fixed"))
    assert not graphs.has("texas", data_hash)
    graphs.put(other, data_hash)
    assert np.array_equal(graphs.open("texas", data_hash).fixed_splits[0].train, other.fixed_splits[0].train)


def test_without_a_known_hash_the_name_proves_nothing(graphs):
    impostor = replace(GRAPH, name="ogbn_arxiv")
    assert DATASETS["ogbn_arxiv"].fingerprint == ""
    assert data_set_of("ogbn_arxiv", hash_of(impostor, "uniform")) == ""
