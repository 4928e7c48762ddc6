"""Planetoid's original files: Python 2 pickles, read in a way that cannot run code."""

import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.data.formats.geom_gcn import split_masks
from otherhalf.data.npz import mask_splits
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN, IntArray

PUBLIC_VALIDATION = 500
"""The validation nodes of the public split are the 500 nodes after its training nodes."""

# Everything that the original files refer to, under the names of their time. The unpickler looks names up
# here and imports nothing, so that a file with any other name, such as os.system, is an error.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np.ndarray([]).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it refers to {module}.{name}") from None


def read_pickle(path: Path) -> Any:
    """Read the array, sparse matrix or dict of lists in one of Planetoid's files, and nothing else."""
    try:
        with path.open("rb") as file:
            return _Unpickler(file, encoding="latin1").load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise InputError(
            f"{path.name} is not one of Planetoid's files ({error or 'cut short'}) and was not loaded: "
            "download the original"
        ) from error


def read_planetoid(folder: Path, name: str) -> Graph:
    """Read Cora, Citeseer or Pubmed from Planetoid's eight files and Geom-GCN's ten splits in ``folder``.

    Rows 0 … of ``allx`` are the first nodes; the rows of ``tx`` belong to the nodes that ``test.index``
    lists. Citeseer lists fewer test nodes than it has: the 15 nodes in the gaps get a zero row and no
    label. (PyG gives them label 0, which is useless for training and for scores.)
    """
    allx, tx = (_csr(read_pickle(folder / f"ind.{name}.{part}"), part) for part in ("allx", "tx"))
    y, ally, ty = (_codes(read_pickle(folder / f"ind.{name}.{part}"), part) for part in ("y", "ally", "ty"))
    test = np.loadtxt(folder / f"ind.{name}.test.index", dtype=np.int64, ndmin=1)
    neighbours = read_pickle(folder / f"ind.{name}.graph")
    n = max(len(neighbours), int(test.max()) + 1)

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


def _csr(value: Any, what: str) -> sp.csr_matrix:
    """Return the unpickled matrix rebuilt from its parts and checked: pickle does not check them."""
    if not isinstance(value, sp.csr_matrix):
        raise InputError(f"{what} holds no sparse matrix: download Planetoid's original file")
    matrix = sp.csr_matrix((value.data, value.indices, value.indptr), shape=value.shape)
    matrix.check_format(full_check=True)
    return matrix


def _codes(value: Any, what: str) -> IntArray:
    """Return the classes of one-hot rows; a row of zeros is an unknown class."""
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        raise InputError(f"{what} holds no one-hot labels: download Planetoid's original file")
    return np.where(value.any(axis=1), value.argmax(axis=1), UNKNOWN)


def _edges(neighbours: Any) -> IntArray:
    if not isinstance(neighbours, dict):
        raise InputError("graph holds no lists of neighbours: download Planetoid's original file")
    sources = np.repeat(
        np.array(list(neighbours), dtype=np.int64), [len(targets) for targets in neighbours.values()]
    )
    return np.stack(
        [sources, np.array([t for targets in neighbours.values() for t in targets], dtype=np.int64)]
    )
