"""Write small fitted models with their inputs and predictions, which the tests of all later versions load.

    python scripts/write_models.py tests/estimators/models_of_0_2

Run it for a release, with its code, and never again once that version is released. It writes

- ``graph.npz``: a graph whose first :data:`KNOWN` nodes the models are fitted on; the others are new to them;
- ``nodes.csv`` and ``edges.csv``: tables with columns of every kind, of which the same is true;
- a folder for each model, which ``save`` wrote, with its predictions, ``probabilities.csv``: a row per node.

``tests/test_old_models.py`` finds every folder ``models_of_*`` by itself.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from otherhalf import BaselineClassifier, GOALClassifier, Graph, read_tables, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.kernel_way import KernelWay
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.mixture import Mixture
from otherhalf.estimators.simple import MajorityClassifier, PropagationClassifier
from otherhalf.estimators.trees import TreesClassifier

KNOWN, NEW = 36, 3
SHORT = {"epochs": 10, "hidden": 4}
MODELS = {
    "goal_kernel": GOALClassifier(
        **SHORT, ensemble={"folds": 2, "plain": 2, "candidates": ("GCN", "ACM-GCN+")}
    ),
    "goal_fast": GOALClassifier(fast=True, epochs=10, class_weight="balanced"),
    "goal_embedding": GOALClassifier("paper", **SHORT, encoder={"kind": "gcn", **SHORT}, metric="macro_f1"),
    "acmgcn": BaselineClassifier("acmgcn", **SHORT),
    "gat": BaselineClassifier("gat", **SHORT, norm="batch"),
    "extra_trees": TreesClassifier(trees=10),
    "boosted_trees": TreesClassifier("boosted", trees=10),
    "logistic": LogisticClassifier(),
    "propagation": PropagationClassifier(),
    "majority": MajorityClassifier(),
}
FROM_TABLES = {
    "table_goal": GOALClassifier(fast=True, epochs=10),
    "table_trees": TreesClassifier(trees=10),
}
"""Models of the tables."""


def graph_of_all() -> Graph:
    """Return a directed graph with ids, weights, relations, names of features and nodes without labels."""
    drawn = contextual_sbm(KNOWN + NEW, 3, 4, average_degree=5, homophily=0.7, signal=2.0, seed=1)
    rng = np.random.default_rng(2)
    turned = rng.random(drawn.num_edges) < 0.5
    y = np.where((np.arange(KNOWN + NEW) % 9 == 8) | (np.arange(KNOWN + NEW) >= KNOWN), -1, drawn.y)
    return Graph(
        edges=np.where(turned, drawn.edges[::-1], drawn.edges),
        x=drawn.x,
        y=y,
        classes=np.array(["sea", "air", "land"]),
        directed=True,
        ids=np.array([f"node {i}" for i in range(KNOWN + NEW)]),
        weights=rng.choice([0.5, 1.0, 2.0], drawn.num_edges),
        relations=rng.choice(["cites", "likes"], drawn.num_edges),
        feature_names=("height", "width", "depth", "age"),
    )


def known_part(graph: Graph) -> Graph:
    """Return the first nodes of a graph, and the edges between them."""
    inside = (graph.edges < KNOWN).all(axis=0)
    names = np.array(graph.relations.names)[graph.relations.edges.toarray().argmax(axis=0)]
    return Graph(
        edges=graph.edges[:, inside],
        x=graph.x[:KNOWN],
        y=graph.y[:KNOWN],
        classes=graph.classes,
        directed=graph.directed,
        ids=graph.ids[:KNOWN],
        weights=graph.weights[inside],
        relations=names[inside],
        feature_names=graph.feature_names,
    )


def with_every_member(model: GOALClassifier) -> None:
    """Give every member of the ensemble a share: on so few nodes one of them would be alone in the folder."""
    ensemble = model._way.ensemble
    shares = dict.fromkeys(ensemble.members, 1 / len(ensemble.members))
    mixture = Mixture(dict.fromkeys(shares, 1.0), shares)
    model._way = KernelWay(replace(ensemble, mixture=mixture))
    model._held_out, model._awaited = None, None


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return nodes with columns of every kind, with gaps, and edges between them."""
    rng, n = np.random.default_rng(3), KNOWN + NEW
    field = rng.integers(0, 2, n)
    words = np.array([["soil", "seed", "rain"], ["star", "moon", "dust"]])
    texts = [" ".join([*rng.choice(words[each], 6), "of", rng.choice(words.ravel())]) for each in field]
    nodes = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "price": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(field, 0.5).round(2)),
            "city": np.array(["Oslo", "Rome", "Lima"])[rng.integers(0, 3, n)],
            "open": np.where(rng.random(n) < 0.7, "yes", "no"),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "about": texts,
            "tags": [";".join(rng.choice(words[each], 2, replace=False)) for each in field],
            "label": np.where(np.arange(n) < KNOWN, np.array(["earth", "sky"])[field], ""),
        }
    )
    nodes.loc[n - 1, ["city", "price"]] = ["Bern", -1.0]  # a city that the fit does not have
    source, target = nodes["id"].to_numpy()[rng.integers(0, n, (2, 4 * n))]
    return nodes, pd.DataFrame({"source": source, "target": target})


def write(folder: Path) -> None:
    """Fit and write all models."""
    folder.mkdir(parents=True)
    graph = graph_of_all()
    graph.to_npz(folder / "graph.npz")
    known = known_part(graph)
    parts = split(known, "stratified", seed=0)
    for name, model in MODELS.items():
        model.fit(known, parts)
        if name == "goal_kernel":
            with_every_member(model)
        keep(model, folder / name, model.predict_proba(graph))
    nodes, edges = tables()
    nodes.to_csv(folder / "nodes.csv", index=False)
    edges.to_csv(folder / "edges.csv", index=False)
    places = nodes["id"].head(KNOWN)
    inside = edges["source"].isin(places) & edges["target"].isin(places)
    for name, model in FROM_TABLES.items():
        model.fit(nodes=nodes.head(KNOWN), edges=edges[inside])
        whole = read_tables(folder / "nodes.csv", folder / "edges.csv", reading=model.reading_)
        keep(model, folder / name, model.predict_proba(whole))


def keep(model: NodeClassifier, folder: Path, probabilities: Any) -> None:
    """Write one model and its predictions."""
    model.save(folder)
    np.savetxt(folder / "probabilities.csv", probabilities, fmt="%.7f", delimiter=",")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)  # of the tables, which have everything that can be warned of
    write(Path(sys.argv[1]))
