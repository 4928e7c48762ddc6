"""What the hash of a graph depends on; tests/test_graph.py has the parts that every graph has."""

from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.graph import Graph
from otherhalf.system.arrays import sha256_of
from otherhalf.system.fingerprint import HASHED_ROWS, unlabelled_fingerprint


def test_encoded_columns_are_not_the_same_numbers_given_as_they_are():
    """A fit scales the latter; so one may not be taken for the other, in a checkpoint or a record."""
    nodes = pd.DataFrame({"id": [0, 1, 2], "size": [1.0, 5.0, 2.5], "label": ["a", "b", "a"]})
    read = Graph.from_frames(nodes, pd.DataFrame({"source": [0, 1], "target": [1, 2]}))
    assert read.encoded
    plain = replace(read, reading=None)
    assert not plain.encoded
    assert plain.fingerprint != read.fingerprint
    as_numbers = replace(read, reading=replace(read.reading, encoding=None))
    assert as_numbers.fingerprint == plain.fingerprint


def test_labels_and_storage_do_not_count_and_rows_of_every_block_do():
    x = np.zeros((HASHED_ROWS + 2, 3), dtype=np.float32)
    x[1, 2], x[-1, 0] = 5, 7
    graph = Graph(edges=[[0], [1]], x=x)
    for same in (replace(graph, x=sp.csr_matrix(x)), replace(graph, y=np.arange(len(x)) % 2, classes=None)):
        assert unlabelled_fingerprint(same) == graph.unlabelled_fingerprint
    x[-1, 0] = 8
    assert unlabelled_fingerprint(Graph(edges=[[0], [1]], x=x)) != graph.unlabelled_fingerprint


def test_no_hash_has_changed():
    """Records and checkpoints of earlier versions are found by it."""
    graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), y=[0, 1, 0])
    rows = (np.ones(3, np.float32), np.arange(3), np.arange(4))
    parts = (graph.edges, np.array([False, 3, 3]), *rows)
    assert graph.unlabelled_fingerprint == sha256_of(parts)
