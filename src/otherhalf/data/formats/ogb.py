"""ogbn-arxiv from OGB's official files, and the same graph with TAPE's features."""

import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import FloatArray, IntArray

ARXIV = "ogbn_arxiv"
TAPE = "ogbn_arxiv_tape"
ARCHIVE = "arxiv.zip"
TAPE_GUESSES = "ogbn-arxiv.csv"
NUM_CLASSES = 40
_BEST_RANK = 5

# RuntimeError and NotImplementedError: an archive with a password or an unknown compression.
_DAMAGED = (
    *(OSError, EOFError, KeyError, ValueError, TypeError, OverflowError, RuntimeError),
    *(zlib.error, zipfile.BadZipFile),
)

# The official files are in a folder or in the zip that OGB serves: both are read in the same way.
_Root = Path | zipfile.Path


def official_files(folder: Path) -> Path | None:
    """Return OGB's files in ``folder``: ``arxiv`` or ``ogbn_arxiv`` (OGB's name), or else ``arxiv.zip``."""
    for name in ("arxiv", "ogbn_arxiv"):
        if (folder / name / "raw" / "edge.csv.gz").is_file():
            return folder / name
    archive = folder / ARCHIVE
    return archive if archive.is_file() else None


def read_arxiv(path: Path) -> Graph:
    """Read ogbn-arxiv as published from OGB's folder or zip: directed, 128 features, the split by year."""
    try:
        root = _open(path)
        return _graph(root, _table(root, "raw", "node-feat").astype(np.float32), ARXIV)
    except _DAMAGED as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{path} does not have all of OGB's official files ({reason}): download arxiv.zip again"
        ) from error


def read_arxiv_tape(folder: Path) -> Graph:
    """Read the graph, labels and split of ogbn-arxiv from OGB's zip, with TAPE's guesses as features.

    A line of TAPE's file has up to five classes, the most likely first; their features are 5, 4, 3, 2, 1.
    """
    lines = (folder / TAPE_GUESSES).read_text(encoding="ascii").splitlines()
    guesses = [[int(field) for field in line.split(",") if field.strip()] for line in lines]
    rows = np.repeat(np.arange(len(guesses)), [len(ranked) for ranked in guesses])
    scores = np.concatenate([_BEST_RANK - np.arange(len(ranked)) for ranked in guesses])
    columns = np.array([label for ranked in guesses for label in ranked], dtype=np.int64)
    x = sp.csr_matrix((scores.astype(np.float32), (rows, columns)), shape=(len(guesses), NUM_CLASSES))
    return _graph(_open(folder / ARCHIVE), x, TAPE)


def _open(path: Path) -> _Root:
    return zipfile.Path(path, "arxiv/") if path.suffix == ".zip" else path


def _graph(root: _Root, x: FloatArray | sp.csr_matrix, name: str) -> Graph:
    train, val, test = (
        np.sort(_table(root, "split", "time", part).ravel().astype(np.int64))
        for part in ("train", "valid", "test")
    )
    return Graph(
        edges=_table(root, "raw", "edge").astype(np.int64).T,
        x=x,
        y=_table(root, "raw", "node-label").ravel().astype(np.int64),
        directed=True,
        fixed_splits=(Split(train, val, test, kind="fixed", seed=0),),
        name=name,
    )


def _table(root: _Root, *parts: str) -> FloatArray | IntArray:
    path = root.joinpath(*parts[:-1], f"{parts[-1]}.csv.gz")
    with path.open("rb") as file:
        values: FloatArray | IntArray = pd.read_csv(file, header=None, compression="gzip").to_numpy()
    return values
