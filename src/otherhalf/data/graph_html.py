"""A graph in a notebook."""

import numpy as np

from otherhalf.data.notes import counted, listing
from otherhalf.graph import Graph
from otherhalf.system.html import card, facts, paragraph, shortened, table

MOST_CLASSES = 10
"""Most classes that are listed, the largest first."""


def graph_html(graph: Graph) -> str:
    """Return the sizes of a graph and its classes as HTML."""
    kind = "directed" if graph.directed else "undirected"
    filled = ""
    if not isinstance(graph.x, np.ndarray):
        filled = f", sparse ({graph.x.nnz / max(1, graph.num_nodes * graph.num_features):.1%} are not 0)"
    unlabelled = graph.num_nodes - len(graph.labelled)
    dropped = {"self loop": graph.dropped_self_loops, "repeated edge": graph.dropped_repeats}
    values = {
        "nodes": f"{graph.num_nodes:,}",
        "edges": f"{graph.num_edges:,} {kind}{', with weights' if graph.weights is not None else ''}",
        "relations": _relations(graph),
        "features": f"{graph.num_features:,}{filled}",
        "without an edge": counted(len(graph.isolated), "node") if len(graph.isolated) else None,
        "without a label": counted(unlabelled, "node") if unlabelled else None,
        "dropped": ", ".join(counted(count, what) for what, count in dropped.items() if count) or None,
        "published splits": f"{len(graph.fixed_splits):,}" if graph.fixed_splits else None,
    }
    title = f"Graph {shortened(graph.name)}" if graph.name else "Graph"
    return card(title, facts(values), *_classes(graph))


def _relations(graph: Graph) -> str | None:
    if graph.relations is None:
        return None
    counts = graph.relations.counts()
    return listing(f"{shortened(name)} ({count:,})" for name, count in counts.items())


def _classes(graph: Graph) -> list[str]:
    if not graph.num_classes:
        return []
    counts = np.bincount(graph.y[graph.labelled], minlength=graph.num_classes)
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    whole = max(1, len(graph.labelled))
    rows = [(shortened(graph.classes[c]), f"{counts[c]:,}", counts[c] / whole) for c in order]
    others = graph.num_classes - len(rows)
    note = paragraph(f"{others:,} more classes have no more nodes than these." if others else "")
    return [table(("class", "nodes", "share"), rows, bars=2), note]
