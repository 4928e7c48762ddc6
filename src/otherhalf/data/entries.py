"""The catalogue's entries: what is known of every named data set, read from ``catalog.toml``."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from otherhalf.graph import Graph


@dataclass(frozen=True)
class DataSet:
    """One data set of the catalogue.

    Args:
        name: The name that ``load`` takes and that the graph carries.
        nodes: N.
        edges: E: undirected edges counted once, directed ones each.
        classes: C.
        features: D.
        description: What nodes, edges and features are, in one line.
        source: The public place it comes from.
        paper: Who published it.
        licence: As its source states it.
        traps: What makes results on it wrong or incomparable.
        metric: ``"accuracy"`` or ``"roc_auc"``.
        fingerprint: ``Graph.fingerprint`` of its content; empty where it was never at hand to be hashed.
        splits_fingerprint: :func:`splits_fingerprint` of its published splits; empty if it has none.
    """

    name: str
    nodes: int
    edges: int
    classes: int
    features: int
    description: str
    source: str
    paper: str
    licence: str
    traps: str
    metric: str = "accuracy"
    fingerprint: str = ""
    splits_fingerprint: str = ""

    def mismatch(self, graph: Graph) -> str:
        """How the content of ``graph`` differs from this data set's, in words; empty if it does not."""
        sizes = (graph.num_nodes, graph.num_edges, graph.num_classes, graph.num_features)
        wanted = (self.nodes, self.edges, self.classes, self.features)
        if sizes != wanted:
            return f"nodes, edges, classes and features are {sizes}, not {wanted}"
        if self.fingerprint and graph.fingerprint != self.fingerprint:
            return f"its fingerprint is {graph.fingerprint}, not {self.fingerprint}"
        splits = splits_fingerprint(graph)
        if splits != self.splits_fingerprint:
            return f"its splits fingerprint is {splits or 'empty'}, not {self.splits_fingerprint or 'empty'}"
        return ""


def splits_fingerprint(graph: Graph) -> str:
    """A hash of the fixed splits, which ``Graph.fingerprint`` leaves out; empty if there are none."""
    if not graph.fixed_splits:
        return ""
    digest = hashlib.sha256()
    for split in graph.fixed_splits:
        for part in (split.train, split.val, split.test):
            digest.update(f"{split.kind}{len(part)}".encode())
            digest.update(part.tobytes())
    return digest.hexdigest()


_TABLE = tomllib.loads(files("otherhalf.data").joinpath("catalog.toml").read_text(encoding="utf-8"))

DATASETS = {name: DataSet(name=name, **facts) for name, facts in _TABLE["datasets"].items()}
"""Every named data set, by name."""

ALIASES: dict[str, str] = _TABLE["aliases"]
"""Other spellings in use, in lower case with underscores."""
