"""A diagnosis in one sentence, and its measures with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otherhalf.diagnosis.verdict import Diagnosis

CHANCE = 0.1
"""Adjusted homophily from −CHANCE to the threshold of the labels: edges hardly regard the classes."""

LIKE, EITHER, UNLIKE = (
    "mostly joins like with like",
    "joins nodes with little regard to their class",
    "mostly joins unlike with unlike",
)

MEASURES = {
    "edge_homophily": ("edge homophily", "share of the edges that are within a class"),
    "node_homophily": ("node homophily", "mean share of a node's neighbours that have its class"),
    "adjusted_homophily": (
        "adjusted homophily",
        "edge homophily less what the sizes of the classes give by chance: 0 is chance, 1 is all edges "
        "within a class",
    ),
    "class_insensitive_homophily": (
        "class-insensitive homophily",
        "mean excess of each class's homophily over its share of the nodes",
    ),
    "label_informativeness": (
        "label informativeness",
        "how much a neighbour's class tells about a node's: 0 nothing, 1 all",
    ),
}
"""Measures of the labels: their titles, and what they are."""


def sentence(diagnosis: Diagnosis, name: str = "") -> str:
    """Return the verdict in one sentence."""
    graph = name or "This graph"
    edges, adjusted = diagnosis.edge_homophily, diagnosis.adjusted_homophily
    if edges is None or adjusted is None or diagnosis.label_tendency is None:
        words = LIKE if diagnosis.tendency == "homophily" else UNLIKE
        return f"By its features, {name or 'this graph'} {words}; too few labels are known to say more."
    counted = f"{edges:.0%} of the edges with known labels are within a class"
    if diagnosis.label_tendency == "undecided":
        return f"{graph} may join like with like or not: {counted}, too few to decide."
    words = what_is_joined(diagnosis)
    return f"{graph} {words}: {counted}{', which is near chance' if words == EITHER else ''}."


def what_is_joined(diagnosis: Diagnosis) -> str:
    """Return what the edges join, where the labels have a verdict."""
    if diagnosis.label_tendency == "homophily":
        return LIKE
    return UNLIKE if (diagnosis.adjusted_homophily or 0.0) < -CHANCE else EITHER
