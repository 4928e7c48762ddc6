"""From tables to predictions: diagnosis, missing half, classifier.

Runs on a built-in graph whose edges mostly join unlike nodes. The MLP and the GCN beside GOAL have the same
architecture as its encoder: norm, residual, dropout. Everything is written to the folder ``demo``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import otherhalf as oh
from otherhalf.data.predictions import write_predictions
from otherhalf.estimators.baseline import BaselineClassifier

OUT = Path("demo")
GRAPH = "csbm:nodes=2000,classes=5,features=16,degree=10,homophily=0.1,signal=2.5,seed=0"


def main() -> None:
    """Write a graph as two tables, read it back as a user would, fit, score and predict."""
    nodes, edges = write_tables(oh.load(GRAPH), OUT)
    graph = oh.read_tables(nodes, edges)
    split = oh.split(graph, "uniform", seed=0)
    print(f"1. {nodes} and {edges}: {graph!r}\n")
    print("2. Diagnosis, from the features and from the labels of training and validation nodes:")
    print(oh.diagnose(graph, nodes=np.concatenate([split.train, split.val])), "\n")

    model = oh.GOALClassifier(seed=0).fit(graph, split)
    half = model.missing_half_
    print(f"3. {half!r}; homophily of the pairs of test nodes: {half.homophily(graph.y, split.test):.3f}\n")

    print("4. Accuracy on the test nodes:")
    for kind in ("mlp", "gcn"):
        baseline = BaselineClassifier(kind, seed=0).fit(graph, split)
        print(f"   {kind.upper():4s} {baseline.score(graph, split.test):.4f}")
    print(f"   GOAL {model.score(graph, split.test):.4f}\n")

    model.save(OUT / "model")
    probabilities = model.predict_proba(graph)
    predictions = OUT / "predictions.csv"
    write_predictions(predictions, graph, model.predict(graph), probabilities, model.classes_)
    print(f"5. Written: {OUT / 'model'} and {predictions}.")
    print(f"   Try: .venv/bin/otherhalf diagnose {nodes},{edges}")


def write_tables(graph: oh.Graph, folder: Path) -> tuple[Path, Path]:
    """The graph as a node table and an edge table, as users have them."""
    folder.mkdir(exist_ok=True)
    names = np.array([f"n{index}" for index in range(graph.num_nodes)])
    table = pd.DataFrame(graph.x, columns=[f"x{column}" for column in range(graph.num_features)])
    table.insert(0, "id", names)
    table["label"] = [f"class {code}" for code in graph.y]
    table.to_csv(folder / "nodes.csv", index=False)
    ends = {"source": names[graph.edges[0]], "target": names[graph.edges[1]]}
    pd.DataFrame(ends).to_csv(folder / "edges.csv", index=False)
    return folder / "nodes.csv", folder / "edges.csv"


if __name__ == "__main__":
    main()
