"""Planetoid's original files: pickled features, labels and lists of neighbours, and the test nodes."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.data.formats.geom_gcn import split_masks
from otherhalf.data.formats.old_pickle import read_pickle
from otherhalf.data.npz import mask_splits
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN, IntArray

PUBLIC_VALIDATION = 500
"""The validation nodes of the public split are the 500 nodes after its training nodes."""


def read_planetoid(folder: Path, name: str) -> Graph:
    """Read Cora, Citeseer or Pubmed from Planetoid's eight files and Geom-GCN's ten splits in ``folder``.

    Rows 0 … of ``allx`` are the first nodes; the rows of ``tx`` belong to the nodes that ``test.index``
    lists. Citeseer lists fewer test nodes than it has: the 15 nodes in the gaps get a zero row and no
    label. (PyG gives them label 0, which is useless for training and for scores.)
    """
    allx, tx = (_csr(read_pickle(folder / f"ind.{name}.{part}"), part) for part in ("allx", "tx"))
    y, ally, ty = (_codes(read_pickle(folder / f"ind.{name}.{part}"), part) for part in ("y", "ally", "ty"))
    test = _test_nodes(folder / f"ind.{name}.test.index")
    neighbours = read_pickle(folder / f"ind.{name}.graph")
    n = max(len(neighbours), int(test.max()) + 1)

    gaps = n > 2 * (allx.shape[0] + tx.shape[0])  # a number with a wrong digit would take all memory
    if gaps or len(ally) != allx.shape[0] or len({len(ty), tx.shape[0], len(test)}) > 1:
        raise InputError(
            f"the files of {name} do not fit together: {allx.shape[0]} rows of allx and {len(ally)} of ally, "
            f"{tx.shape[0]} of tx, {len(ty)} of ty, {len(test)} test nodes and {n} nodes in all: download "
            "Planetoid's originals"
        )
    # Row r of the stacked features belongs to node owner[r].
    owner = np.concatenate([np.arange(allx.shape[0]), test])
    rows = sp.vstack([allx, tx]).tocoo()
    x = sp.csr_matrix((rows.data, (owner[rows.row], rows.col)), shape=(n, allx.shape[1]), dtype=np.float32)
    labels = np.full(n, UNKNOWN, dtype=np.int64)
    labels[owner] = np.concatenate([ally, ty])

    masks: dict[str, npt.NDArray[Any]] = split_masks(folder, name)
    for part, nodes in (
        ("train", np.arange(len(y))),
        ("val", np.arange(len(y), len(y) + PUBLIC_VALIDATION)),
        ("test", test),
    ):
        masks[f"public_{part}_mask"] = np.isin(np.arange(n), nodes)
    return Graph(
        edges=_edges(neighbours), x=x, y=labels, fixed_splits=mask_splits(masks, labels != UNKNOWN), name=name
    )


def _test_nodes(path: Path) -> IntArray:
    """Return the nodes that a file lists, one in each line."""
    try:
        nodes = np.loadtxt(path, dtype=np.int64, ndmin=1)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path.name} is no list of nodes: download Planetoid's original file") from error
    if nodes.ndim != 1 or len(nodes) == 0 or nodes.min() < 0 or len(np.unique(nodes)) < len(nodes):
        raise InputError(f"{path.name} is no list of nodes: download Planetoid's original file")
    return nodes


def _csr(value: Any, what: str) -> sp.csr_matrix:
    if not isinstance(value, sp.csr_matrix):
        raise InputError(f"{what} holds no sparse matrix: download Planetoid's original file")
    return value


def _codes(value: Any, what: str) -> IntArray:
    """Return the classes of one-hot rows; a row of zeros is an unknown class."""
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        raise InputError(f"{what} holds no one-hot labels: download Planetoid's original file")
    return np.where(value.any(axis=1), value.argmax(axis=1), UNKNOWN)


def _edges(neighbours: Any) -> IntArray:
    if not isinstance(neighbours, dict) or not all(
        isinstance(targets, list) and all(isinstance(node, int) for node in (source, *targets))
        for source, targets in neighbours.items()
    ):
        raise InputError("graph holds no lists of neighbours: download Planetoid's original file")
    sources = np.repeat(
        np.array(list(neighbours), dtype=np.int64), [len(targets) for targets in neighbours.values()]
    )
    return np.stack(
        [sources, np.array([t for targets in neighbours.values() for t in targets], dtype=np.int64)]
    )
