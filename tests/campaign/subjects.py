"""The same small graph in every format that the package reads, and the facts that must survive."""

import gzip
import json
import pickle
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.formats.planetoid import read_planetoid
from otherhalf.data.source import open_data
from otherhalf.graph import Graph

NODES = 16
CLASSES = ("ash", "birch", "cedar")
Files = dict[str, bytes]


@dataclass(frozen=True)
class Facts:
    """What a graph says of its nodes by their ids: a class each, and who is joined to whom."""

    labels: dict[str, str]
    edges: frozenset[frozenset[str]]

    @classmethod
    def of(cls, graph: Graph) -> "Facts":
        ids = [str(i) for i in (range(graph.num_nodes) if graph.ids is None else graph.ids)]
        names = [_plain(name) for name in graph.classes]
        labels = {ids[i]: names[code] for i, code in enumerate(graph.y) if code >= 0}
        return cls(labels, frozenset(frozenset((ids[a], ids[b])) for a, b in graph.edges.T))


def _plain(name: Any) -> str:
    """A class as text: 1, "1" and 1.0 are one name."""
    text = str(name)
    return text.removesuffix(".0")


@dataclass(frozen=True)
class Subject:
    """A graph in one format.

    Attributes:
        name: Name of the format.
        files: Content of each file.
        read: Reads it from a folder.
        tables: Names of the text tables among the files, and the character between their cells.
        by_position: Whether the columns of the tables have places instead of names, and cells no quotes.
    """

    name: str
    files: Files
    read: Callable[[Path], Graph]
    tables: dict[str, str]
    by_position: bool = False

    def write(self, folder: Path, files: Files | None = None) -> None:
        for name, content in (files or self.files).items():
            (folder / name).write_bytes(content)


def rows(numeric_ids: bool = False) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The graph as two lists of rows."""
    rng = np.random.default_rng(5)
    ids = [100 + 7 * i for i in range(NODES)] if numeric_ids else [f"tree {i:02}" for i in range(NODES)]
    nodes = [
        {
            "id": ids[i],
            "label": CLASSES[i % 3],
            "height": round(float(rng.normal(20, 4)), 2),
            "soil": ("clay", "sand", "loam", "peat")[int(rng.integers(4))],
            "rings": int(rng.integers(3, 90)),
        }
        for i in range(NODES)
    ]
    pairs = {tuple(sorted(rng.choice(NODES, 2, replace=False).tolist())) for _ in range(40)}
    return nodes, [{"source": ids[a], "target": ids[b]} for a, b in sorted(pairs)]


def text_table(table: list[dict[str, Any]], between: str) -> bytes:
    lines = [between.join(table[0]), *(between.join(map(str, row.values())) for row in table)]
    return ("\n".join(lines) + "\n").encode()


def _opened(name: str) -> Callable[[Path], Graph]:
    return lambda folder: open_data(",".join(str(folder / part) for part in name.split(",")))


def _pair(
    ending: str, content: Callable[[list[dict[str, Any]]], bytes], between: str = "", **options: Any
) -> Subject:
    nodes, edges = rows(**options)
    names = f"nodes{ending}", f"edges{ending}"
    files = {names[0]: content(nodes), names[1]: content(edges)}
    label = ending + (", ids are numbers" if options else "")
    return Subject(label, files, _opened(",".join(names)), {name: between for name in names if between})


def _parquet(table: list[dict[str, Any]]) -> bytes:
    file = BytesIO()
    pd.DataFrame(table).to_parquet(file)
    return file.getvalue()


def _json_lines(table: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in table).encode()


def _node_link() -> Subject:
    nodes, edges = rows()
    content = {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "links": edges}
    return Subject("node-link JSON", {"g.json": json.dumps(content).encode()}, _opened("g.json"), {})


def _networkx(ending: str) -> Subject:
    import networkx as nx

    nodes, edges = rows()
    graph = nx.Graph()
    for row in nodes:
        rest = {("species" if key == "label" else key): value for key, value in row.items() if key != "id"}
        graph.add_node(row["id"], **rest)
    graph.add_edges_from((row["source"], row["target"]) for row in edges)
    file = BytesIO()
    (nx.write_graphml if ending == ".graphml" else nx.write_gml)(graph, file)

    def read(folder: Path) -> Graph:
        from otherhalf.data.reading import Columns

        return open_data(str(folder / f"g{ending}"), Columns(label="species"))

    return Subject(ending, {f"g{ending}": file.getvalue()}, read, {})


def _database() -> Subject:
    nodes, edges = rows()
    with sqlite3.connect(":memory:") as connection:
        for name, table in (("nodes", nodes), ("edges", edges)):
            pd.DataFrame(table).to_sql(name, connection, index=False)
        content = connection.serialize()

    def read(folder: Path) -> Graph:
        return open_data(f"{folder / 'g.sqlite'}::nodes,edges")

    return Subject("SQLite", {"g.sqlite": content}, read, {})


def arrays(sparse: bool = False) -> dict[str, Any]:
    """The graph as the arrays of an npz file."""
    nodes, edges = rows()
    number = {row["id"]: i for i, row in enumerate(nodes)}
    x = np.array([[row["height"], row["rings"], 0] for row in nodes], dtype=np.float32)
    y = np.array([CLASSES.index(row["label"]) for row in nodes])
    masks = {
        f"{part}_masks": np.arange(NODES)[None] % 4 == k for k, part in enumerate(("train", "val", "test"))
    }
    compressed = sp.csr_matrix(x)
    features = {"x": x}
    if sparse:
        features = {f"x_{part}": getattr(compressed, part) for part in ("data", "indices", "indptr")}
        features["x_shape"] = np.array(compressed.shape)
    return {
        "edge_index": np.array([[number[row[end]] for row in edges] for end in ("source", "target")]),
        "directed": np.array(False),
        **features,
        "y": y,
        **masks,
        "ids": np.array([row["id"] for row in nodes]),
        "classes": np.array(CLASSES),
        "name": np.array("wood"),
    }


def packed(values: dict[str, Any]) -> bytes:
    file = BytesIO()
    np.savez(file, **values)
    return file.getvalue()


def _npz(sparse: bool) -> Subject:
    name = "npz, sparse" if sparse else "npz"
    return Subject(name, {"g.npz": packed(arrays(sparse))}, _opened("g.npz"), {})


def _geom_gcn() -> Subject:
    nodes, edges = rows()
    number = {row["id"]: i for i, row in enumerate(nodes)}
    lines = ["node_id\tfeature\tlabel"]
    lines += [f"{i}\t{i % 2},{i // 4 % 2},1\t{i % 3}" for i in range(NODES)]
    links = ["node_id\tnode_id", *(f"{number[row['source']]}\t{number[row['target']]}" for row in edges)]
    files = {
        "out1_node_feature_label.txt": "\n".join(lines).encode() + b"\n",
        "out1_graph_edges.txt": "\n".join(links).encode() + b"\n",
    }
    tables = dict.fromkeys(files, "\t")
    return Subject("Geom-GCN", files, lambda folder: open_data(str(folder)), tables, by_position=True)


def _planetoid() -> Subject:
    nodes, edges = rows()
    number = {row["id"]: i for i, row in enumerate(nodes)}
    neighbours: dict[int, list[int]] = defaultdict(list, {i: [] for i in range(NODES)})
    for row in edges:
        neighbours[number[row["source"]]].append(number[row["target"]])
    x = sp.csr_matrix(np.eye(NODES)[:, :5])
    y = np.eye(3)[np.arange(NODES) % 3].astype(np.int32)
    known = NODES - 4
    parts = {"x": x[:3], "y": y[:3], "allx": x[:known], "ally": y[:known], "tx": x[known:], "ty": y[known:]}
    files = {
        f"ind.wood.{part}": _old_pickle(value) for part, value in (parts | {"graph": neighbours}).items()
    }
    files["ind.wood.test.index"] = "\n".join(map(str, range(known, NODES))).encode() + b"\n"
    masks = {f"{part}_mask": np.arange(NODES) % 4 == k for k, part in enumerate(("train", "val", "test"))}
    for number_ in range(10):
        files[f"wood_split_0.6_0.2_{number_}.npz"] = packed(masks)

    def read(folder: Path) -> Graph:
        with patch("otherhalf.data.formats.planetoid.PUBLIC_VALIDATION", 2):
            return read_planetoid(folder, "wood")

    return Subject("Planetoid", files, read, {})


def _old_pickle(value: Any) -> bytes:
    """A pickle that names its classes as Python 2, old numpy and old scipy did."""
    raw = pickle.dumps(value, protocol=3)
    for new, old in (
        (b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"),
        (b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"),
        (b"cbuiltins\nlist\n", b"c__builtin__\nlist\n"),
    ):
        raw = raw.replace(new, old)
    return raw


def subjects() -> list[Subject]:
    return [
        _pair(".csv", lambda table: text_table(table, ","), ","),
        _pair(".csv", lambda table: text_table(table, ","), ",", numeric_ids=True),
        _pair(".tsv", lambda table: text_table(table, "\t"), "\t"),
        _pair(".csv.gz", lambda table: gzip.compress(text_table(table, ","))),
        _pair(".jsonl", _json_lines),
        _pair(".parquet", _parquet),
        _database(),
        _node_link(),
        _networkx(".graphml"),
        _networkx(".gml"),
        _npz(sparse=False),
        _npz(sparse=True),
        _geom_gcn(),
        _planetoid(),
    ]
