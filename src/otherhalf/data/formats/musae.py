"""The zip archives of the MUSAE graphs at SNAP: an edge table, a label table and lists of features."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.graph import Graph


def read_musae(path: Path, name: str, stem: str, label: str) -> Graph:
    """Read the graph in the archive ``path``; its files start with ``stem``, its classes are in ``label``.

    Classes are numbered in the order of their names. Names of pages and users are not kept.
    """
    prefix = f"{path.stem}/{stem}"
    with zipfile.ZipFile(path) as archive:
        with archive.open(f"{prefix}_edges.csv") as file:
            edges = pd.read_csv(file, dtype=np.int64).to_numpy().T
        with archive.open(f"{prefix}_target.csv") as file:
            target = pd.read_csv(file, usecols=["id", label]).set_index("id")[label].sort_index()
        with archive.open(f"{prefix}_features.json") as file:
            columns = {int(node): sorted(set(words)) for node, words in json.load(file).items()}
    n = len(target)
    lists = [columns.get(node, []) for node in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(words) for words in lists])])
    indices = np.array([column for words in lists for column in words], dtype=np.int64)
    shape = (n, int(indices.max()) + 1)
    x = sp.csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=shape)
    y = np.unique(target.to_numpy(), return_inverse=True)[1]
    return Graph(edges=edges, x=x, y=y, name=name)
