"""A rare class: which programs are daemons, which run in the background?

Seven in a hundred are. A model that says "none" is right 93 times in 100 and finds nothing, so accuracy is
the wrong measure, and the more probable class the wrong decision.
"""

from __future__ import annotations

import numpy as np
from story import DATA, NUMBERS, Comparison, arguments, fit_goal

import otherhalf as oh
from otherhalf.estimators.base import NodeClassifier

NODES, EDGES = DATA / "tools_nodes.csv", DATA / "tools_edges.csv"
SHOWN = 10


def main() -> None:
    """Let the labels choose the metric, choose a threshold on validation, and compare."""
    options = arguments(__doc__)
    graph = oh.read_tables(NODES, EDGES, label="daemon", notes=[])
    numbers = oh.read_tables(NODES, EDGES, label="daemon", features=NUMBERS, notes=[])
    share = (graph.y == 1).sum() / len(graph.labelled)
    print(f"1. {graph!r}; {share:.1%} of the labelled nodes are daemons.\n")

    comparison = Comparison("average_precision")
    for seed in range(options.runs):
        split = oh.split(graph, "stratified", seed=seed)
        model = fit_goal(graph, split, seed, "auto", options.fast)
        comparison.add("GOAL", model, graph, split)
        alone = fit_goal(numbers, split, seed, "auto", options.fast)
        comparison.add("GOAL, numbers only", alone, numbers, split)
        comparison.add_simple_models(graph, split, seed)

    print(f"2. {model.metric_choice_.reason}")
    print("   Daemons among the test nodes, by the more probable class and by the threshold of validation:")
    for title, threshold in (("0.5", None), ("chosen", "auto")):
        print(f"   {title:7s} {found(model, graph, split, threshold)}")
    print("\n3. Packages without tags that are most probably daemons:")
    untagged = np.flatnonzero(graph.y < 0)
    chances = model.predict_proba(graph)[untagged, 1]
    first = np.argsort(-chances, kind="stable")[:SHOWN]
    print("   " + ", ".join(f"{graph.ids[untagged[i]]} ({chances[i]:.2f})" for i in first) + "\n")
    print(f"4. Average precision on the test nodes in percent, {options.runs} split(s):")
    print(comparison)
    gain = comparison.gain("GOAL", "GOAL, numbers only")
    print(f"   The columns that are no numbers are worth {gain:+.1f} points.\n")
    print("5. The same with commands:")
    print(f"   otherhalf fit {NODES.name},{EDGES.name} --label daemon --metric auto --out run")
    print(f"   otherhalf predict run {NODES.name},{EDGES.name} --threshold auto --out predictions.csv")


def found(model: NodeClassifier, graph: oh.Graph, split: oh.Split, threshold: str | None) -> str:
    """Return how many of the test nodes are said to be daemons, and how many of them are."""
    said = model.predict(graph, threshold)[split.test] == "yes"
    true = graph.y[split.test] == 1
    return f"{said.sum():3d} said to be daemons, {(said & true).sum()} of them right; there are {true.sum()}"


if __name__ == "__main__":
    main()
