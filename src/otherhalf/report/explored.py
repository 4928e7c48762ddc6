"""The nodes that a reader can look at one by one, and why each has its prediction.

The lists stay small: nodes and details each have a budget in bytes, and a sentence says what was left out.
Wrong predictions come first, the surest ones before all others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from otherhalf.estimators.inside import member_probabilities, member_weights, spread_of
from otherhalf.report.breakdown import wrong_nodes
from otherhalf.report.carried import CarriedColumns
from otherhalf.report.neighbours import Neighbours
from otherhalf.report.reported import Reported
from otherhalf.report.values import number, numbers
from otherhalf.report.why import Contributions, contributions
from otherhalf.system.arrays import IntArray

NODE_BYTES = 800_000
"""Bytes of the list of nodes: 20,000 nodes with short ids are below it."""

BYTES_OF_A_NODE = 28
"""Bytes of a node besides its id."""

FEWEST_NODES = 100
"""So many nodes are in the list, however long their ids are."""

DETAIL_BYTES = 1_500_000
MOST_DETAILS = 3_000
MOST_CHARACTERS = 120
"""Longer ids are cut."""

SUREST = 1_000
"""So many wrongly predicted nodes come before all others."""

MOST_CLASSES, MOST_COLUMNS = 5, 6
MOST_GIVEN, MOST_FOUND, MOST_SOURCES = 12, 8, 8


@dataclass(frozen=True, eq=False)
class Explored:
    """The explorer, and the place of each shown node in its list."""

    content: dict[str, Any]
    place: dict[int, int]


def explore(fit: Reported) -> Explored:
    """Choose the nodes to show, and explain as many of them as the budget allows."""
    order, ids = _order(fit), fit.graph.node_names()
    shown: list[int] = []
    bytes_left = NODE_BYTES
    for node in order.tolist():
        bytes_left -= len(json.dumps(_id(ids[node]))) + BYTES_OF_A_NODE
        if bytes_left < 0 and len(shown) >= FEWEST_NODES:
            break
        shown.append(node)
    nodes = np.sort(np.array(shown, dtype=np.int64))
    place = {int(node): index for index, node in enumerate(nodes)}
    explained = order[: min(MOST_DETAILS, len(shown))]
    found, columns = _details(fit, explained, place)
    detail = np.full(len(nodes), -1)
    for index, node in enumerate(explained[: len(found)]):
        detail[place[int(node)]] = index
    listed = {
        "id": [_id(ids[node]) for node in nodes],
        "label": fit.graph.y[nodes].tolist(),
        "predicted": fit.predicted[nodes].tolist(),
        "confidence": numbers(fit.confidence[nodes], 3),
        "part": "".join(fit.part[nodes]),
        "degree": fit.degrees[nodes].tolist(),
        "detail": detail.tolist(),
    }
    content = {
        "sampled": len(nodes) < fit.graph.num_nodes,
        "shown": len(nodes),
        "of": fit.graph.num_nodes,
        "explained": len(found),
        "sentence": sentence(fit, order, len(nodes), len(found)),
        "members": list(member_weights(fit.model)),
        "weights": [number(weight) for weight in member_weights(fit.model).values()],
        "columns": [] if columns is None else columns.names,
        "columns_sentence": "" if columns is None else columns.reading.sentence,
        "nodes": listed,
        "details": found,
    }
    return Explored(content, place)


def sentence(fit: Reported, order: IntArray, shown: int, explained: int) -> str:
    """Return which nodes are here, and which of them are explained: the first ones of an order."""
    total, wrong = fit.graph.num_nodes, wrong_nodes(fit)
    part = "test" if fit.judged_part == "test" else "validation"

    def which(count: int) -> str:
        every = np.isin(wrong, order[:count]).all()
        first = "every wrongly predicted {} node" if every else "the surest wrongly predicted {} nodes"
        first = first.format(part)
        return first + ("" if count <= min(SUREST, len(wrong)) else ", and a random sample of others")

    first = "All nodes are here"
    if shown < total:
        first = f"{shown:,} of {total:,} nodes are here: {which(shown)}"
    if explained == shown:
        return f"{first}."
    return f"{first}. {explained:,} of them are explained: {which(explained)}."


def _order(fit: Reported) -> IntArray:
    """Return all nodes by how much a reader wants to see them.

    Wrongly predicted nodes are first, the surest before the others. If there are more than :data:`SUREST`,
    every second one after these is another node. The other nodes are in a random order, those that taught
    nothing before training and validation nodes.
    """
    wrong = wrong_nodes(fit)
    wrong = wrong[np.argsort(-fit.confidence[wrong], kind="stable")]
    rank = np.where((fit.part == "t") | (fit.part == "v"), 1, 0)
    rank[wrong] = -1
    rest = np.random.default_rng(fit.seed).permutation(np.flatnonzero(rank >= 0))
    rest = rest[np.argsort(rank[rest], kind="stable")]
    first, more = wrong[:SUREST], wrong[SUREST:]
    both = min(len(more), len(rest))
    mixed = np.stack([rest[:both], more[:both]], axis=1).ravel()
    return np.concatenate([first, mixed, more[both:], rest[both:]])


def _id(name: Any) -> str:
    text = str(name)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def _details(
    fit: Reported, nodes: IntArray, place: Mapping[int, int]
) -> tuple[list[dict[str, Any]], CarriedColumns | None]:
    """Return the details of as many nodes as the budget allows, and the columns that they name."""
    classes = fit.predicted[nodes]
    members = [each[nodes, classes] for _, each in member_probabilities(fit.model, fit.prepared)]
    by_member = numbers(np.stack(members, axis=1)) if members else [[] for _ in nodes]
    spread = spread_of(fit.model)
    scores = None if spread is None else contributions(spread, fit.graph, nodes, classes, MOST_SOURCES)
    near = Neighbours.of(fit, nodes, MOST_GIVEN, MOST_FOUND)
    columns = CarriedColumns.of(fit, nodes, MOST_COLUMNS)

    known = np.full(fit.graph.num_nodes, -1)
    known[list(place)] = list(place.values())
    ids = fit.graph.node_names()

    def references(others: Any) -> list[Any]:
        return [
            at if at >= 0 else [_id(ids[node]), int(fit.graph.y[node]), int(fit.predicted[node])]
            for node, at in zip(others, known[others].tolist(), strict=True)
        ]

    top = np.argsort(-fit.probabilities[nodes], axis=1, kind="stable")[:, :MOST_CLASSES]
    likely = numbers(np.take_along_axis(fit.probabilities[nodes], top, axis=1))
    made_of = None if scores is None else _Rounded.of(scores, top)
    details: list[dict[str, Any]] = []
    bytes_left = DETAIL_BYTES
    for row in range(len(nodes)):
        detail = {
            "p": _pairs(top[row].tolist(), likely[row]),
            "members": by_member[row],
            "given": references(near.given[row]),
            "given_more": near.given_more[row],
            "found": _pairs(references(near.found[row]), near.weights[row]),
            "found_more": near.found_more[row],
            "spread": None if made_of is None else made_of.of_node(row, references),
            "columns": None if columns is None else columns.listed[row],
        }
        bytes_left -= len(json.dumps(detail, separators=(",", ":"))) + 1
        if bytes_left < 0 and details:
            break
        details.append(detail)
    return details, columns


def _pairs(one: list[Any], other: list[Any]) -> list[list[Any]]:
    return [list(pair) for pair in zip(one, other, strict=True)]


@dataclass(frozen=True, eq=False)
class _Rounded:
    """Scores and what they are made of, as rounded lists that still add up."""

    scores: list[list[float]]
    sources: list[list[int]]
    values: list[list[float]]
    own: list[float]

    @classmethod
    def of(cls, found: Contributions, top: IntArray) -> _Rounded:
        scores = np.take_along_axis(found.scores, top, axis=1)
        sources = [[node for node in row if node >= 0] for row in found.sources.tolist()]
        return cls(numbers(scores, 3), sources, numbers(found.values, 3), numbers(found.own, 3))

    def of_node(self, row: int, references: Any) -> dict[str, Any]:
        sources, score, own = self.sources[row], self.scores[row], self.own[row]
        values = self.values[row][: len(sources)]
        return {
            "score": score,
            "from": _pairs(references(sources), values),
            "others": number(score[0] - own - sum(values), 3),
            "own": own,
        }
