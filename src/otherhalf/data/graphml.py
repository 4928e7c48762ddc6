"""Write a table of edges as GraphML, which networkx, Gephi and igraph read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN
from otherhalf.system.atomic import atomic_write, check_place
from otherhalf.system.paths import user_path

ENDING = ".graphml"

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def check_graphml_file(path: str | Path, graph: Graph) -> None:
    """Raise InputError if the edges of a graph cannot be written there; call it before long work."""
    check_place(user_path(path))
    for what, names in (("node id", graph.node_names()), ("class", graph.classes)):
        wrong = next((str(name) for name in names.tolist() if _NOT_IN_XML.search(str(name))), None)
        if wrong is not None:
            raise InputError(
                f"the {what} {wrong!r} has a character that GraphML cannot hold: "
                "write .csv or .parquet instead"
            )


def write_graphml(
    path: str | Path, graph: Graph, ends: Any, attributes: pd.DataFrame, *, directed: bool
) -> None:
    """Write other edges between the nodes of a graph, completely or not at all.

    Every node of the graph is written, with its class as ``label`` where it is known. A missing value in
    ``attributes`` is left out.

    Args:
        path: The file.
        graph: The graph that has the nodes.
        ends: ``[2, E]`` node indices of the edges.
        attributes: ``[E]`` rows: numbers and texts of each edge, such as its weight.
        directed: Whether the order of the ends has a meaning.
    """
    path = user_path(path)
    check_graphml_file(path, graph)
    names = [quoteattr(str(name)) for name in graph.node_names().tolist()]
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_head(attributes, directed))
        file.writelines(_nodes(graph, names))
        file.writelines(_edges(names, ends, attributes))
        file.write(" </graph>\n</graphml>\n")


def _head(attributes: pd.DataFrame, directed: bool) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield ' <key id="label" for="node" attr.name="label" attr.type="string"/>\n'
    for name, values in attributes.items():
        kind = "double" if pd.api.types.is_numeric_dtype(values) else "string"
        quoted = quoteattr(str(name))
        yield f' <key id={quoted} for="edge" attr.name={quoted} attr.type="{kind}"/>\n'
    yield f' <graph edgedefault="{"directed" if directed else "undirected"}">\n'


def _nodes(graph: Graph, names: list[str]) -> Iterator[str]:
    labels = [f'<data key="label">{escape(str(label))}</data>' for label in graph.classes.tolist()]
    for name, code in zip(names, graph.y.tolist(), strict=True):
        yield f"  <node id={name}>{'' if code == UNKNOWN else labels[code]}</node>\n"


def _edges(names: list[str], ends: Any, attributes: pd.DataFrame) -> Iterator[str]:
    cells = zip(*(_cells(str(name), attributes[name]) for name in attributes), strict=True)
    for source, target, data in zip(*ends.tolist(), cells, strict=True):
        yield f"  <edge source={names[source]} target={names[target]}>{''.join(data)}</edge>\n"


def _cells(name: str, values: pd.Series[Any]) -> Iterable[str]:
    start = f"<data key={quoteattr(name)}>"
    texts = values.astype(str).tolist()  # of the values' own precision: 0.1 and not 0.10000000149
    for text, missing in zip(texts, values.isna().tolist(), strict=True):
        yield "" if missing else f"{start}{escape(text)}</data>"
