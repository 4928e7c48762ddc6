"""The npz files of shchur/gnn-benchmark and abojchevski/graph2gauss: adjacency and attributes as CSR."""

from pathlib import Path

import numpy as np

from otherhalf.data.files.arrays import read_arrays
from otherhalf.data.npz import csr_features
from otherhalf.graph import Graph, Split

_ARRAYS = (
    *(f"adj_{part}" for part in ("data", "indices", "indptr", "shape")),
    *(f"attr_{part}" for part in ("data", "indices", "indptr", "shape")),
    "labels",
)
_SPLIT = ("train", "valid", "test")


def read_gnn_benchmark(path: Path, name: str, split: Path | None = None) -> Graph:
    """Read the graph in ``path`` as undirected, as is usual, with the one split of tunedGNN if it is given.

    Only the arrays that are needed are read: the originals also contain pickled names.
    """
    arrays = read_arrays(path, _ARRAYS)
    adjacency = csr_features(arrays, "adj_").tocoo()
    return Graph(
        edges=np.stack([adjacency.row, adjacency.col]),
        x=csr_features(arrays, "attr_"),
        y=arrays["labels"].astype(np.int64),
        fixed_splits=() if split is None else (_tuned_gnn_split(split),),
        name=name,
    )


def _tuned_gnn_split(path: Path) -> Split:
    arrays = read_arrays(path, _SPLIT)
    train, val, test = (np.sort(arrays[part].astype(np.int64)) for part in _SPLIT)
    return Split(train, val, test, kind="fixed", seed=0)
