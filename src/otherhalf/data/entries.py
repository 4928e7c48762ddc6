"""The entries of the catalogue: the facts about every named data set, read from ``catalog.toml``."""

import hashlib
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from otherhalf.graph import Graph


@dataclass(frozen=True)
class DataSet:
    """One data set of the catalogue.

    Args:
        name: Name that ``load`` takes and that the graph has.
        nodes: N.
        edges: E: undirected edges count once, directed edges each.
        classes: C.
        features: D.
        description: What nodes, edges and features are, in one line.
        source: Public place of the original files.
        paper: Who published it.
        licence: Licence as the source states it.
        traps: What makes results on it wrong or incomparable.
        metric: ``"accuracy"`` or ``"roc_auc"``.
        fingerprint: ``Graph.fingerprint`` of its content; empty if it is not known.
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

    def content_mismatch(self, graph: Graph) -> str:
        """Return in words how the graph differs from this data set, ignoring splits; empty if it does not."""
        sizes = (graph.num_nodes, graph.num_edges, graph.num_classes, graph.num_features)
        expected = (self.nodes, self.edges, self.classes, self.features)
        if sizes != expected:
            return f"nodes, edges, classes and features are {sizes}, not {expected}"
        if self.fingerprint and graph.fingerprint != self.fingerprint:
            return f"its fingerprint is {graph.fingerprint}, not {self.fingerprint}"
        return ""

    def mismatch(self, graph: Graph) -> str:
        """Return in words how the graph or its splits differ from this data set; empty if they do not."""
        if content := self.content_mismatch(graph):
            return content
        splits = splits_fingerprint(graph)
        if splits != self.splits_fingerprint:
            return f"its splits fingerprint is {splits or 'empty'}, not {self.splits_fingerprint or 'empty'}"
        return ""


def splits_fingerprint(graph: Graph) -> str:
    """Return a hash of the fixed splits, which ``Graph.fingerprint`` leaves out; empty if there are none."""
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
"""The name of each data set by its other spellings, in lower case with underscores."""


def catalogue_name(graph: Graph) -> str:
    """Return the name of the data set that this graph is, by its content; empty if it is none of them.

    The name of a graph alone proves nothing: a user's table may be called ``pubmed.csv``.
    """
    known = DATASETS.get(graph.name)
    return "" if known is None or known.content_mismatch(graph) else known.name
