"""Graphs in one file: GraphML, GML and node-link JSON, read as a table of nodes and a table of edges."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from otherhalf.data.files.compressed import (
    DAMAGED,
    check_file,
    open_bytes,
    unreadable,
    without_packing,
)
from otherhalf.data.files.json_lines import typed
from otherhalf.data.files.json_text import parse_json
from otherhalf.data.files.table import MemoryTable
from otherhalf.data.notes import hand_over
from otherhalf.data.reading import Columns, Reading
from otherhalf.data.tables import graph_of_tables
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.paths import user_path

if TYPE_CHECKING:
    import networkx as nx

_COPIES = 20  # the memory of a graph of Python's objects as a multiple of its text

# What the parsers raise for damaged files; RecursionError for brackets inside brackets without end.
_WRONG = (ValueError, KeyError, TypeError, IndexError, AttributeError, SyntaxError, RecursionError)


@dataclass(frozen=True)
class _Content:
    """The rows of nodes, the rows of edges with source and target, and whether edges have a direction."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    directed: bool


def is_graph_file(data: str) -> bool:
    """Return whether a name ends like a graph in one file."""
    return Path(without_packing(data)).suffix in _PARSERS


def read_graph_file(
    path: str | Path,
    columns: Columns | None = None,
    *,
    name: str = "",
    notes: list[str] | None = None,
    reading: Reading | None = None,
) -> Graph:
    """Read a graph from one file: ``.graphml``, ``.gml`` or node-link ``.json``, also compressed.

    The attributes of the nodes are the columns of a node table, and the same rules hold as in
    :func:`~otherhalf.data.tables.read_tables`. Edges are directed if the file says so. In GML the key
    ``label`` is the name of a node, not its class: it becomes the column ``name``.

    Args:
        path: The file. GraphML and GML need networkx.
        columns: What the attributes mean; ids and ends are those of the file.
        name: Name of the graph; default: that of the file.
        notes: List to which the decisions are added; default: each is a warning.
        reading: The reading of a fit, which is applied again.
    """
    path = user_path(path)
    columns = columns or Columns()
    if (columns.id, columns.source, columns.target) != (None, None, None):
        raise InputError(f"{path} says itself which nodes its edges join: leave out id, source and target")
    check_file(path, "a .graphml, .gml or .json file")
    parse = _PARSERS[Path(without_packing(path.name)).suffix]
    found: list[str] = []
    try:
        with open_bytes(path, _COPIES) as opened:
            content = opened.read()
    except DAMAGED as error:
        raise unreadable(path, error) from error
    graph = parse(path, content, found)
    if not graph.nodes or not graph.edges:
        raise InputError(
            f"{path} has {len(graph.nodes)} nodes and {len(graph.edges)} edges: give a graph with both"
        )
    if graph.directed and not columns.directed:
        found.append(f"{path} says that its edges are directed, so their direction is kept.")
    result = graph_of_tables(
        MemoryTable(f"the nodes of {path}", typed(graph.nodes), found),
        [MemoryTable(f"the edges of {path}", typed(graph.edges), found)],
        replace(
            columns, id="id", source="source", target="target", directed=graph.directed or columns.directed
        ),
        name or Path(without_packing(path.name)).stem,
        found,
        reading,
    )
    hand_over(found, notes)
    return result


# ------------------------------------------------------------------ GraphML and GML, by networkx


def _parse_graphml(path: Path, content: bytes, notes: list[str]) -> _Content:
    _refuse_entities(path, content)
    networkx = _networkx(path)
    try:
        graph = networkx.read_graphml(BytesIO(content))
    except (networkx.NetworkXException, *_WRONG) as error:
        raise _damaged(path, "GraphML", error) from error
    return _rows(graph)


def _refuse_entities(path: Path, content: bytes) -> None:
    """Raise InputError if the XML declares entities: they can fill the memory or name other files."""

    def refuse(*declaration: Any) -> Any:
        raise InputError(f"{path} declares XML entities, which are not read: write the file without them")

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.UnparsedEntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise _damaged(path, "GraphML", error) from error


def _parse_gml(path: Path, content: bytes, notes: list[str]) -> _Content:
    networkx = _networkx(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
        notes.append(
            f"{path} is not UTF-8 and was read as latin-1 (Western Europe): check that the names look right."
        )
    if not re.search(r"\bmultigraph\s+1\b", text):
        # Old files repeat edges without the key that networkx asks for; Graph counts them.
        text = re.sub(r"\bgraph\s*\[", "graph [\n multigraph 1\n", text, count=1)
    try:
        graph = networkx.parse_gml(text.splitlines(), label="id")
    except (networkx.NetworkXException, *_WRONG) as error:
        raise _damaged(path, "GML", error) from error
    return _rows(graph, {"label": "name"})


def _networkx(path: Path) -> Any:
    if find_spec("networkx") is None:
        raise InputError(
            f"reading {path} needs networkx: run `pip install otherhalf[io]`, or give two tables"
        )
    import networkx

    return networkx


def _rows(graph: nx.Graph, renamed: dict[str, str] | None = None) -> _Content:
    """Return the nodes and edges of a networkx graph as rows; attributes never hide ids and ends."""

    def row(attributes: dict[Any, Any], own: dict[str, Any]) -> dict[str, Any]:
        named = {(renamed or {}).get(str(key), str(key)): value for key, value in attributes.items()}
        return {**own, **{f"own {key}" if key in own else key: value for key, value in named.items()}}

    nodes = [row(attributes, {"id": node}) for node, attributes in graph.nodes(data=True)]
    edges = [
        row(values, {"source": source, "target": target}) for source, target, values in graph.edges(data=True)
    ]
    return _Content(nodes, edges, graph.is_directed())


# ------------------------------------------------------------------ node-link JSON


def _parse_node_link(path: Path, content: bytes, notes: list[str]) -> _Content:
    try:
        value = parse_json(content)
    except ValueError as error:
        raise _damaged(path, "JSON", error) from error
    links = next((key for key in ("links", "edges") if isinstance(value, dict) and key in value), None)
    if links is None or not _are_objects(value.get("nodes")) or not _are_objects(value[links]):
        raise InputError(
            f"{path} is not node-link JSON: give an object with a list of nodes, each with an id, and a list "
            "of links, each with source and target"
        )
    nodes, edges = value["nodes"], value[links]
    without_id = sum("id" not in node for node in nodes)
    if without_id == len(nodes) and nodes:
        notes.append(f"The nodes of {path} have no id, so their ids are their places 0 … {len(nodes) - 1}.")
        nodes = [{"id": place, **node} for place, node in enumerate(nodes)]
    elif without_id:
        raise InputError(f"{path}: {without_id} of {len(nodes)} nodes have no id: give every node one")
    for number, edge in enumerate(edges, start=1):
        if "source" not in edge or "target" not in edge:
            raise InputError(f"{path}: link {number} has no source or no target: give every link both")
    return _Content(
        [_flat(node) for node in nodes], [_flat(edge) for edge in edges], value.get("directed") is True
    )


def _are_objects(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, dict) for value in values)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose ids are text where they are lists, as networkx writes nodes that are tuples."""
    return {
        key: json.dumps(value)
        if key in ("id", "source", "target") and isinstance(value, list | dict)
        else value
        for key, value in row.items()
    }


def _damaged(path: Path, kind: str, error: BaseException) -> InputError:
    reason = (str(error) or type(error).__name__).split("\n", maxsplit=1)[0]
    return InputError(f"{path} is not {kind}, or it is damaged ({reason}): write it again")


_PARSERS: dict[str, Callable[[Path, bytes, list[str]], _Content]] = {
    ".graphml": _parse_graphml,
    ".gml": _parse_gml,
    ".json": _parse_node_link,
}
