"""The addresses of each data set's public files, and the reader that makes a graph of them.

Addresses are ``host/path`` without a scheme, so that a mirror can serve them below its own URL. Where the
source is a repository whose commit is known, the address has that commit; the others are the addresses that
PyG and OGB use. The check of the finished graph covers all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from otherhalf.data.formats import geom_gcn, ogb
from otherhalf.data.formats.geom_gcn import read_geom_gcn
from otherhalf.data.formats.gnn_benchmark import read_gnn_benchmark
from otherhalf.data.formats.heterophilous import read_heterophilous
from otherhalf.data.formats.musae import read_musae
from otherhalf.data.formats.planetoid import read_planetoid
from otherhalf.graph import Graph

_GITHUB = "raw.githubusercontent.com"
PLANETOID = f"{_GITHUB}/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
GEOM_GCN = f"{_GITHUB}/graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f"
HETEROPHILOUS = (
    f"{_GITHUB}/yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318/data"
)
GNN_BENCHMARK = f"{_GITHUB}/shchur/gnn-benchmark/master/data/npz"
GRAPH2GAUSS = f"{_GITHUB}/abojchevski/graph2gauss/master/data"
TUNED_GNN = f"{_GITHUB}/LUOyk1999/tunedGNN/23f9604e8b13a9a6d3faa2f691cd844006979153/medium_graph/data"
TAPE = f"{_GITHUB}/XiaoxinHe/TAPE/26f1e43b6aa9de39a8f68ab79d1f2b607d8baf01/gpt_preds"
SNAP = "snap.stanford.edu/data"
OGB = "snap.stanford.edu/ogb/data/nodeproppred"

_PLANETOID_PARTS = ("y", "allx", "ally", "tx", "ty", "graph", "test.index")


@dataclass(frozen=True)
class Source:
    """The public files of one data set, and the reader of the folder that they are downloaded to."""

    addresses: tuple[str, ...]
    parse: Callable[[Path], Graph]


def _splits(stem: str) -> tuple[str, ...]:
    return tuple(f"{GEOM_GCN}/splits/{geom_gcn.split_file(stem, i)}" for i in range(geom_gcn.NUM_SPLITS))


def _planetoid(name: str) -> Source:
    parts = tuple(f"{PLANETOID}/ind.{name}.{part}" for part in _PLANETOID_PARTS)
    return Source((*parts, *_splits(name)), partial(read_planetoid, name=name))


def _geom_gcn(name: str, stem: str, indices: int | None = None, directed: bool = False) -> Source:
    texts = tuple(f"{GEOM_GCN}/new_data/{stem}/{file}" for file in (geom_gcn.EDGES, geom_gcn.NODES))
    parse = partial(read_geom_gcn, name=name, stem=stem, indices=indices, directed=directed)
    return Source((*texts, *_splits(stem)), parse)


def _heterophilous(name: str, file: str, sparse: bool, directed: bool = False) -> Source:
    return Source(
        (f"{HETEROPHILOUS}/{file}",), lambda folder: read_heterophilous(folder / file, name, sparse, directed)
    )


# Of the next two families only copies in another encoding were available, so no SHA-256 of a raw file is
# known: the check of the finished graph is the only one.


def _gnn_benchmark(name: str, file: str, split: str) -> Source:
    return Source(
        (f"{GNN_BENCHMARK}/{file}", f"{TUNED_GNN}/{split}"),
        lambda folder: read_gnn_benchmark(folder / file, name, folder / split),
    )


def _graph2gauss(name: str) -> Source:
    file = f"{name}.npz"
    return Source((f"{GRAPH2GAUSS}/{file}",), lambda folder: read_gnn_benchmark(folder / file, name))


def _musae(name: str, file: str, stem: str, label: str) -> Source:
    return Source((f"{SNAP}/{file}",), lambda folder: read_musae(folder / file, name, stem, label))


SOURCES = {
    "cora": _planetoid("cora"),
    "citeseer": _planetoid("citeseer"),
    "pubmed": _planetoid("pubmed"),
    "amazon_computers": _gnn_benchmark(
        "amazon_computers", "amazon_electronics_computers.npz", "amazon-computer_split.npz"
    ),
    "amazon_photo": _gnn_benchmark("amazon_photo", "amazon_electronics_photo.npz", "amazon-photo_split.npz"),
    "coauthor_cs": _gnn_benchmark("coauthor_cs", "ms_academic_cs.npz", "coauthor-cs_split.npz"),
    "coauthor_physics": _gnn_benchmark(
        "coauthor_physics", "ms_academic_phy.npz", "coauthor-physics_split.npz"
    ),
    "chameleon": _geom_gcn("chameleon", "chameleon"),
    "squirrel": _geom_gcn("squirrel", "squirrel"),
    "chameleon_directed": _geom_gcn("chameleon_directed", "chameleon", directed=True),
    "squirrel_directed": _geom_gcn("squirrel_directed", "squirrel", directed=True),
    "actor": _geom_gcn("actor", "film", indices=932),
    "texas": _geom_gcn("texas", "texas"),
    "wisconsin": _geom_gcn("wisconsin", "wisconsin"),
    "cornell": _geom_gcn("cornell", "cornell"),
    "cornell_platonov": _heterophilous("cornell_platonov", "cornell.npz", sparse=True),
    "chameleon_filtered": _heterophilous("chameleon_filtered", "chameleon_filtered.npz", sparse=True),
    "squirrel_filtered": _heterophilous("squirrel_filtered", "squirrel_filtered.npz", sparse=True),
    "chameleon_filtered_directed": _heterophilous(
        "chameleon_filtered_directed", "chameleon_filtered_directed.npz", sparse=True, directed=True
    ),
    "squirrel_filtered_directed": _heterophilous(
        "squirrel_filtered_directed", "squirrel_filtered_directed.npz", sparse=True, directed=True
    ),
    "minesweeper": _heterophilous("minesweeper", "minesweeper.npz", sparse=False),
    "tolokers": _heterophilous("tolokers", "tolokers.npz", sparse=False),
    "dblp": _graph2gauss("dblp"),
    "cora_ml": _graph2gauss("cora_ml"),
    "facebook_pagepage": _musae("facebook_pagepage", "facebook_large.zip", "musae_facebook", "page_type"),
    "github_social": _musae("github_social", "git_web_ml.zip", "musae_git", "ml_target"),
    "ogbn_arxiv": Source((f"{OGB}/{ogb.ARCHIVE}",), lambda folder: ogb.read_arxiv(folder / ogb.ARCHIVE)),
    "ogbn_arxiv_tape": Source((f"{OGB}/{ogb.ARCHIVE}", f"{TAPE}/{ogb.TAPE_GUESSES}"), ogb.read_arxiv_tape),
}
"""How to rebuild each data set from public files. debian_bookworm is not among them: Debian replaces the
index that it was made from at every point release."""
