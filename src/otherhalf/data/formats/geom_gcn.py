"""Geom-GCN's files: tab-separated edges, features and labels, and ten splits."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.files.arrays import read_arrays
from otherhalf.data.files.table import MemoryTable
from otherhalf.data.npz import mask_splits
from otherhalf.data.roles.ends import edge_ends
from otherhalf.data.roles.ids import node_ids
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN

NUM_SPLITS = 10
EDGES = "out1_graph_edges.txt"
NODES = "out1_node_feature_label.txt"
_ENDS = ("source", "target")
_INTEGER = "-?[0-9]{1,18}"  # which int64 holds


def split_file(stem: str, number: int) -> str:
    """Return the file name of one of the ten splits."""
    return f"{stem}_split_0.6_0.2_{number}.npz"


def split_masks(folder: Path, stem: str) -> dict[str, npt.NDArray[Any]]:
    """Read the ten splits in ``folder`` as stacked masks, with the names of our npz files."""
    names = ("train_mask", "val_mask", "test_mask")
    splits = [read_arrays(folder / split_file(stem, i), names) for i in range(NUM_SPLITS)]
    for name in names:
        if len({split[name].shape for split in splits}) > 1 or splits[0][name].dtype.kind not in "biu":
            raise InputError(f"the arrays {name} of the ten splits are not masks of one length: correct them")
    return {f"{name}s": np.stack([split[name].astype(bool) for split in splits]) for name in names}


def files_of_folder(folder: Path) -> list[Path]:
    """Return the files in a folder that :func:`open_geom_gcn` reads."""
    splits = [path for number in range(NUM_SPLITS) for path in folder.glob(split_file("*", number))]
    return [path for path in (folder / EDGES, folder / NODES, *splits) if path.is_file()]


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
    except (ValueError, OSError) as error:
        reason = str(error).strip()
        raise InputError(f"{folder} cannot be read as Geom-GCN's files ({reason}): correct them") from error


def read_geom_gcn(
    folder: Path, name: str, stem: str, indices: int | None = None, directed: bool = False
) -> Graph:
    """Read one of Geom-GCN's graphs: its two text files and its ten splits, named ``stem``, in ``folder``.

    The features of a node are a 0/1 row, or a list of the columns that are 1, as in Actor. ``indices`` means
    such lists and is D. Without it, rows of different lengths are taken for such lists, and the largest
    column gives D. The edges are directed in the files; unless ``directed``, they lose their direction here.
    Without a ``stem`` there are no splits.

    The lines of nodes come in any order. The ids 0 … N−1 are the numbers of the nodes. Other ids become the
    ids of the graph; such a folder cannot have splits, whose masks count the nodes from 0.
    """
    nodes, edges = _table(folder / NODES, ("id", "features", "label")), _table(folder / EDGES, _ENDS)
    rows = nodes.read(())
    ids = node_ids(nodes, rows["id"])
    ends = edge_ends(edges, edges.read(()), _ENDS, ids, "error", []).pairs
    numbered = ids.values.dtype.kind == "i"
    row = np.argsort(ids.values) if numbered else np.arange(len(ids.values))
    place = np.argsort(row)  # where each line's node is among the sorted ones
    count_from_0 = numbered and np.array_equal(ids.values[row], np.arange(len(row)))
    if stem and not count_from_0:
        raise InputError(f"the ids in {NODES} are not 0 … {len(row) - 1}, by which the splits name the nodes")
    _check(rows["label"], _INTEGER, "a whole number")
    y = rows["label"].to_numpy(dtype=str).astype(np.int64)[row]
    return Graph(
        edges=place[ends],
        x=_features(rows["features"], indices)[row],
        y=y,
        fixed_splits=mask_splits(split_masks(folder, stem), y != UNKNOWN) if stem else (),
        name=name,
        directed=directed,
        ids=None if count_from_0 else ids.values[row],
    )


def _table(path: Path, columns: Sequence[str]) -> MemoryTable:
    """Return the cells of a file as text, under our names of its columns. Its first line has other names."""
    cells = pd.read_csv(path, sep="\t", header=None, dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE)
    first = cells.iloc[0]
    if len(first) != len(columns):
        raise InputError(f"{path.name} has {len(first)} columns and not {len(columns)}")
    if first.str.fullmatch(_INTEGER).iloc[[0, -1]].all():
        raise InputError(f"the first line of {path.name} has numbers and no column names")
    rows = cells.iloc[1:].reset_index(drop=True)
    return MemoryTable(path.name, rows.set_axis(list(columns), axis="columns"))


def _check(cells: pd.Series[Any], pattern: str, wanted: str) -> None:
    """Raise InputError if a cell is not of this form."""
    wrong = ~cells.str.fullmatch(pattern).to_numpy(dtype=bool)
    if wrong.any():
        line = int(np.argmax(wrong))
        raise InputError(
            f"the {cells.name} {cells[line][:40]!r} in line {line + 2} of {NODES} is not {wanted}"
        )


def _features(text: pd.Series[Any], indices: int | None) -> sp.csr_matrix:
    _check(text, f"{_INTEGER}(?:,{_INTEGER})*", "a list of whole numbers with commas between them")
    counts = text.str.count(",").to_numpy() + 1
    values = np.fromstring(",".join(text), dtype=np.int64, sep=",")
    if indices is None and len(set(counts)) > 1:
        indices = int(values.max()) + 1
    if indices is None:
        return sp.csr_matrix(values.reshape(len(text), counts[0]))
    rows, ones = np.repeat(np.arange(len(text)), counts), np.ones(len(values), dtype=np.float32)
    x = sp.csr_matrix((ones, (rows, values)), shape=(len(text), indices))
    x.data[:] = 1  # a column named twice is still 1
    return x
