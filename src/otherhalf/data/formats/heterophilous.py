"""The npz files of Platonov et al. (yandex-research/heterophilous-graphs)."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from otherhalf.data.files.arrays import read_arrays
from otherhalf.data.npz import mask_splits
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN

_ARRAYS = ("node_features", "node_labels", "edges", "train_masks", "val_masks", "test_masks")


def read_heterophilous(path: Path, name: str, sparse: bool, directed: bool = False) -> Graph:
    """Read the graph in ``path``; ``sparse`` is for bags of words, dense features for a few measurements.

    ``directed`` keeps the direction of the edges, as the authors do for their files ``*_directed.npz``.
    """
    arrays = read_arrays(path, _ARRAYS)
    x = arrays["node_features"]
    y = arrays["node_labels"].astype(np.int64)
    return Graph(
        edges=arrays["edges"].T,
        x=sp.csr_matrix(x) if sparse else x,
        y=y,
        fixed_splits=mask_splits(arrays, y != UNKNOWN),
        name=name,
        directed=directed,
    )
