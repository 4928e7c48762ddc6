"""From tables to predictions: diagnosis, missing half, classifier, and what the missing half is worth.

Runs on a built-in graph: articles that cite sources. Articles on one topic cite the same sources, but no edge
joins two of them, so the edges join unlike nodes. Everything is written to the folder ``demo``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import otherhalf as oh
from otherhalf.data.predictions import write_predictions
from otherhalf.estimators.baseline import BaselineClassifier

OUT = Path("demo")
TOPICS, ARTICLES, SOURCES, CITED, WORDS = 5, 900, 300, 5, 12


def main() -> None:
    """Write a graph as two tables, read it back as a user would, fit, score and predict."""
    nodes, edges = write_tables(OUT)
    graph = oh.read_tables(nodes, edges)
    split = oh.split(graph, "uniform", seed=0)
    print(f"1. {nodes} and {edges}: {graph!r}\n")
    print("2. Diagnosis, from the features and from the labels of training and validation nodes:")
    print(oh.diagnose(graph, nodes=np.concatenate([split.train, split.val])), "\n")

    model = oh.GOALClassifier(seed=0).fit(graph, split)
    half = model.missing_half_
    print(f"3. {half!r}")
    print(f"   Homophily of the pairs of test nodes: {half.homophily(graph.y, split.test):.3f}\n")

    print("4. Accuracy on the test nodes:")
    for kind in ("mlp", "gcn"):
        baseline = BaselineClassifier(kind, seed=0).fit(graph, split)
        print(f"   {kind.upper():25s} {baseline.score(graph, split.test):.4f}")
    without = oh.GOALClassifier(seed=0, ensemble={"half": "none"}).fit(graph, split)
    before, after = without.score(graph, split.test), model.score(graph, split.test)
    print(f"   {'GOAL without missing half':25s} {before:.4f}")
    print(f"   {'GOAL':25s} {after:.4f}   the missing half is worth {100 * (after - before):+.1f} points\n")

    model.save(OUT / "model")
    predictions = OUT / "predictions.csv"
    write_predictions(predictions, graph, model.predict(graph), model.predict_proba(graph), model.classes_)
    print(f"5. Written: {OUT / 'model'} and {predictions}.")
    print(f"   Try: .venv/bin/otherhalf diagnose {nodes},{edges}\n")
    print("6. The members of the ensemble:")
    for row in model.leaderboard_:
        print(f"   {row.member:18s} validation {row.validation:.4f}  weight {row.weight:.2f}")


def write_tables(folder: Path, seed: int = 0) -> tuple[Path, Path]:
    """Articles and sources as a node table and an edge table, as users have them."""
    draw = np.random.default_rng(seed)
    total = ARTICLES + SOURCES
    topic = draw.integers(0, TOPICS, total)
    cited_by = draw.integers(0, TOPICS, SOURCES)  # the topic whose articles cite a source, whatever its own
    ends = []
    for article in range(ARTICLES):
        usual = np.flatnonzero(cited_by == topic[article])
        popularity = 1 / (1 + np.arange(len(usual)))
        chosen = draw.choice(usual, CITED, p=popularity / popularity.sum())
        stray = draw.random(CITED) < 0.4
        chosen[stray] = draw.integers(0, SOURCES, stray.sum())
        ends += [(article, ARTICLES + source) for source in np.unique(chosen)]
    words = draw.normal(size=(total, WORDS)) + 0.6 * draw.normal(size=(TOPICS, WORDS))[topic]

    folder.mkdir(exist_ok=True)
    names = np.array([f"n{index}" for index in range(total)])
    table = pd.DataFrame(words, columns=[f"word{column}" for column in range(WORDS)])
    table.insert(0, "id", names)
    table["label"] = [f"topic {code}" for code in topic]
    table.to_csv(folder / "nodes.csv", index=False)
    source, target = np.array(ends).T
    pd.DataFrame({"source": names[source], "target": names[target]}).to_csv(folder / "edges.csv", index=False)
    return folder / "nodes.csv", folder / "edges.csv"


if __name__ == "__main__":
    main()
