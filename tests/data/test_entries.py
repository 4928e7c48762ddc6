"""The catalogue: complete, right about the real files, and not misled by a name alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from otherhalf.data.catalog import load
from otherhalf.data.entries import ALIASES, DATASETS, DataSet, catalogue_name, splits_fingerprint
from otherhalf.diagnosis.duplicates import find_duplicates
from otherhalf.graph import Graph, Split

DIRECTED = [name for name in DATASETS if name.endswith("_directed")]
SPLIT = Split(np.array([0]), np.array([1]), np.array([2]), kind="fixed", seed=0)
GRAPH = Graph(
    edges=[[0, 1], [1, 2]], x=[[1.0], [2.0], [3.0]], y=[0, 1, 0], fixed_splits=(SPLIT,), name="tiny"
)
ENTRY = DataSet(
    name="tiny",
    nodes=3,
    edges=2,
    classes=2,
    features=1,
    description="",
    source="",
    paper="",
    licence="",
    traps="",
    fingerprint=GRAPH.fingerprint,
    splits_fingerprint=splits_fingerprint(GRAPH),
)


def test_the_catalogue_is_complete() -> None:
    assert len(DATASETS) == 29
    for name, entry in DATASETS.items():
        assert entry.name == name
        assert all((entry.description, entry.source, entry.paper, entry.licence, entry.traps))
        assert "\n" not in entry.description
        assert (len(entry.fingerprint) == 64) == (name != "ogbn_arxiv")
    assert {name for name, entry in DATASETS.items() if entry.metric == "roc_auc"} == {
        "minesweeper",
        "tolokers",
    }
    assert all(entry.metric in ("accuracy", "roc_auc") for entry in DATASETS.values())
    assert set(ALIASES.values()) <= set(DATASETS)
    assert DIRECTED == [
        "chameleon_directed",
        "squirrel_directed",
        "chameleon_filtered_directed",
        "squirrel_filtered_directed",
    ]


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_the_real_file_is_what_the_catalogue_says(data_dir: Path, name: str) -> None:
    if not (data_dir / f"{name}.npz").is_file():
        pytest.skip(f"real data absent: no {name}.npz in OTHERHALF_DATA")
    entry, graph = DATASETS[name], load(name)
    assert graph.name == name
    assert (graph.num_nodes, graph.num_edges) == (entry.nodes, entry.edges)
    assert (graph.num_classes, graph.num_features) == (entry.classes, entry.features)
    assert graph.fingerprint == entry.fingerprint
    assert splits_fingerprint(graph) == entry.splits_fingerprint
    assert catalogue_name(graph) == name


@pytest.mark.parametrize("name", DIRECTED)
def test_a_directed_entry_differs_from_the_undirected_one_by_its_edges_only(name: str) -> None:
    entry, undirected = DATASETS[name], DATASETS[name.removesuffix("_directed")]
    same = ("nodes", "classes", "features", "source", "paper", "licence", "metric", "splits_fingerprint")
    assert [getattr(entry, fact) for fact in same] == [getattr(undirected, fact) for fact in same]
    assert undirected.edges < entry.edges < 2 * undirected.edges
    assert entry.fingerprint != undirected.fingerprint
    assert "out-neighbours" in entry.traps
    assert "never compare with results without direction" in entry.traps


@pytest.mark.parametrize("name", DIRECTED)
def test_the_directed_graph_is_the_undirected_one_with_direction(data_dir: Path, name: str) -> None:
    usual = name.removesuffix("_directed")
    for file in (name, usual):
        if not (data_dir / f"{file}.npz").is_file():
            pytest.skip(f"real data absent: no {file}.npz in OTHERHALF_DATA")
    graph, undirected = load(name), load(usual)
    assert (graph.directed, undirected.directed) == (True, False)
    as_usual = replace(graph, directed=False, name=usual)
    assert as_usual.fingerprint == undirected.fingerprint
    assert catalogue_name(as_usual) == usual
    nodes = find_duplicates(graph).count("out_neighbours")[1]
    assert DATASETS[name].traps.startswith(f"{nodes} of {graph.num_nodes} nodes ")


def test_a_mismatch_names_the_first_difference() -> None:
    assert ENTRY.mismatch(GRAPH) == ""
    assert "(3, 2, 2, 1), not (2708, 5278, 7, 1433)" in DATASETS["cora"].mismatch(GRAPH)
    other = replace(GRAPH, x=[[9.0], [2.0], [3.0]])
    assert ENTRY.mismatch(other) == f"its fingerprint is {other.fingerprint}, not {GRAPH.fingerprint}"
    unsplit = replace(GRAPH, fixed_splits=())
    assert ENTRY.mismatch(unsplit) == f"its splits fingerprint is empty, not {ENTRY.splits_fingerprint}"
    assert replace(ENTRY, splits_fingerprint="").mismatch(GRAPH).endswith(", not empty")


def test_the_splits_fingerprint_depends_on_kind_and_nodes() -> None:
    assert splits_fingerprint(replace(GRAPH, fixed_splits=())) == ""
    others = (replace(SPLIT, kind="public"), replace(SPLIT, train=SPLIT.val, val=SPLIT.train))
    prints = {splits_fingerprint(replace(GRAPH, fixed_splits=(split,))) for split in (SPLIT, *others)}
    assert len(prints) == 3
    assert splits_fingerprint(replace(GRAPH, fixed_splits=(replace(SPLIT, seed=7),))) in prints


class TestCatalogueName:
    @pytest.fixture(autouse=True)
    def known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(DATASETS, "tiny", ENTRY)

    def test_the_data_set_by_name_and_content(self) -> None:
        assert catalogue_name(GRAPH) == "tiny"
        assert catalogue_name(replace(GRAPH, fixed_splits=())) == "tiny"

    @pytest.mark.parametrize(
        "change",
        [
            {"x": [[9.0], [2.0], [3.0]]},
            {"y": [0, 1, 1]},
            {"edges": [[0, 0], [1, 2]]},
            {"name": ""},
            {"name": "mine"},
            {"name": "cora"},
        ],
    )
    def test_another_graph_has_none(self, change: dict[str, object]) -> None:
        assert catalogue_name(replace(GRAPH, **change)) == ""

    def test_without_a_known_fingerprint_the_sizes_decide(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(DATASETS, "tiny", replace(ENTRY, fingerprint=""))
        assert catalogue_name(replace(GRAPH, y=[0, 1, 1])) == "tiny"
        assert catalogue_name(replace(GRAPH, edges=[[0], [1]])) == ""
