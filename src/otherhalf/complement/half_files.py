"""The edges of a missing half in files that people and other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.graphml import ENDING as GRAPHML
from otherhalf.data.graphml import check_graphml_file, write_graphml
from otherhalf.data.table_files import PARQUET, SEPARATORS
from otherhalf.data.table_writer import check_table_file, write_table
from otherhalf.diagnosis.sentences import adjective
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import IntArray
from otherhalf.system.atomic import check_place
from otherhalf.system.paths import user_path

if TYPE_CHECKING:
    from otherhalf.complement.missing_half import MissingHalf

NPZ = ".npz"


def check_half_file(path: str | Path, graph: Graph) -> None:
    """Raise InputError if the missing half of a graph cannot be written there; call it before long work."""
    path = user_path(path)
    ending = path.suffix.lower()
    if ending == NPZ:
        check_place(path)
    elif ending == GRAPHML:
        check_graphml_file(path, graph)
    elif ending in (*SEPARATORS, *PARQUET, ".gz"):
        check_table_file(path)
    else:
        raise InputError(
            f"{path} does not say by its ending what to write: "
            "use .csv, .tsv, .csv.gz, .parquet, .graphml or .npz"
        )


def write_edges(path: str | Path, half: MissingHalf, graph: Graph, *, spreadsheet_safe: bool = False) -> int:
    """Write the edges of a missing half (:func:`edge_table`) as CSV, Parquet or GraphML; return their number.

    Args:
        path: ``.csv``, ``.tsv`` (also ``.gz``), ``.parquet`` or ``.graphml``; the file is written completely
            or not at all.
        half: The missing half.
        graph: The graph that it was found for; its ids name the nodes.
        spreadsheet_safe: Whether no cell may be a formula to a spreadsheet
            (:func:`~otherhalf.data.table_writer.write_table`).
    """
    check_half_file(path, graph)
    table = edge_table(half, graph)
    if Path(path).suffix.lower() == GRAPHML:
        ends, attributes = _edges(half)
        write_graphml(path, graph, ends, attributes, directed=half.weights is not None)
    else:
        write_table(path, table, spreadsheet_safe=spreadsheet_safe)
    return len(table)


def edge_table(half: MissingHalf, graph: Graph) -> pd.DataFrame:
    """Return the edges with the columns ``source``, ``target``, ``weight`` and ``kind``.

    In a half with weights a row is a pair: the source is joined to the target, and the positive weights of a
    source add up to 1 for each kind. A half without weights is an undirected graph: each edge is in one row
    and has the weight 1. The kind is ``homophilic`` (similar nodes) or ``heterophilic`` (dissimilar nodes);
    it is empty where a half has both and does not say which edge is which.
    """
    if half.num_nodes != graph.num_nodes:
        raise InputError(
            f"the missing half is that of a graph with {half.num_nodes} nodes, and this one has "
            f"{graph.num_nodes}: give the graph that it was found for"
        )
    ends, attributes = _edges(half)
    names = graph.node_names()
    ids = pd.DataFrame({"source": names[ends[0]], "target": names[ends[1]]})
    return pd.concat([ids, attributes], axis=1)


def _edges(half: MissingHalf) -> tuple[IntArray, pd.DataFrame]:
    """Return the ``[2, E]`` ends of the edges, sorted by source, with their weights and kinds."""
    if half.weights is None:
        upper = sp.csr_matrix(sp.triu(half.adjacency, k=1)).tocoo()
        ends = np.stack([upper.row, upper.col]).astype(np.int64)
        signs = np.zeros(ends.shape[1], dtype=np.float32)
        weights = np.ones_like(signs)
    else:
        order = np.argsort(half.pairs[0], kind="stable")
        ends, signs = half.pairs[:, order], half.weights[order]
        weights = abs(signs)
    if half.kind != "both":
        return ends, pd.DataFrame({"weight": weights, "kind": adjective(half.kind)})
    kinds = np.array([adjective("heterophily"), None, adjective("homophily")], dtype=object)
    return ends, pd.DataFrame({"weight": weights, "kind": kinds[np.sign(signs).astype(np.int64) + 1]})
