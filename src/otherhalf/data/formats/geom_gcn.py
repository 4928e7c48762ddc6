"""Geom-GCN's files: tab-separated edges, features and labels, and ten splits."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.npz import mask_splits, read_arrays
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN

NUM_SPLITS = 10
EDGES = "out1_graph_edges.txt"
NODES = "out1_node_feature_label.txt"


def split_file(stem: str, number: int) -> str:
    """Return the file name of one of the ten splits."""
    return f"{stem}_split_0.6_0.2_{number}.npz"


def split_masks(folder: Path, stem: str) -> dict[str, npt.NDArray[Any]]:
    """Read the ten splits in ``folder`` as stacked masks, with the names of our npz files."""
    names = ("train_mask", "val_mask", "test_mask")
    splits = [read_arrays(folder / split_file(stem, i), names) for i in range(NUM_SPLITS)]
    return {f"{name}s": np.stack([split[name].astype(bool) for split in splits]) for name in names}


def open_geom_gcn(folder: Path, directed: bool = False) -> Graph:
    """Read the graph in a folder of files in Geom-GCN's format, which several authors use.

    The ten splits are read if the folder has them. ``directed`` keeps the direction of the edges in the
    files.
    """
    for file in (EDGES, NODES):
        if not (folder / file).is_file():
            raise InputError(
                f"{folder} is a folder without {file}: give an .npz file, nodes.csv,edges.csv, or a "
                "folder of Geom-GCN's files"
            )
    first = next(iter(sorted(folder.glob(split_file("*", 0)))), None)
    stem = "" if first is None else first.name.removesuffix(split_file("", 0))
    try:
        return read_geom_gcn(folder, stem or folder.name, stem, directed=directed)
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise InputError(f"{folder} cannot be read as Geom-GCN's files ({error}): correct them") from error


def read_geom_gcn(
    folder: Path, name: str, stem: str, indices: int | None = None, directed: bool = False
) -> Graph:
    """Read one of Geom-GCN's graphs: its two text files and its ten splits, named ``stem``, in ``folder``.

    The features of a node are a 0/1 row, or a list of the columns that are 1, as in Actor. ``indices`` means
    such lists and is D. Without it, rows of different lengths are taken for such lists, and the largest
    column gives D. The edges are directed in the files; unless ``directed``, they lose their direction here.
    Without a ``stem`` there are no splits.
    """
    nodes = pd.read_csv(folder / NODES, sep="\t", header=0, names=["node", "features", "label"], dtype=str)
    order = nodes["node"].astype(np.int64).to_numpy()
    text = nodes["features"]
    counts = text.str.count(",").to_numpy() + 1
    values = np.fromstring(",".join(text), dtype=np.int64, sep=",")
    if indices is None and len(set(counts)) > 1:
        indices = int(values.max()) + 1
    if indices is None:
        x = sp.csr_matrix(values.reshape(len(nodes), counts[0]))
    else:
        ones = np.ones(len(values), dtype=np.float32)
        x = sp.csr_matrix(
            (ones, (np.repeat(np.arange(len(nodes)), counts), values)), shape=(len(nodes), indices)
        )
        x.data[:] = 1  # a column named twice is still 1
    row = np.argsort(order)  # the lines come in any order
    y = nodes["label"].to_numpy().astype(np.int64)[row]
    edges = pd.read_csv(folder / EDGES, sep="\t", header=0, dtype=np.int64).to_numpy().T
    splits = mask_splits(split_masks(folder, stem), y != UNKNOWN) if stem else ()
    return Graph(edges=edges, x=x[row], y=y, fixed_splits=splits, name=name, directed=directed)
