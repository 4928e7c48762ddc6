"""A graph that grows: which team should look after a new package?

Debian 11 has packages of six teams in science. Debian 12 adds packages, and edges with them. The model of the
old graph labels the new nodes without being fitted again; their labels are only read to score.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from story import DATA, NUMBERS, Comparison, arguments, fit_goal

import otherhalf as oh

OLD, NEW = 11, 12
OF_OLD, AGAIN, NUMBERS_ONLY = f"GOAL of Debian {OLD}", "GOAL, fitted again", ", numbers only"
OPTIONS = {"label": "team", "exclude": ["since"], "notes": []}


def main() -> None:
    """Fit on the old tables, predict on the larger ones, and compare with models that were fitted again."""
    options = arguments(__doc__)
    nodes = pd.read_csv(DATA / "science_nodes.csv", dtype={"policy": str})
    edges = pd.read_csv(DATA / "science_edges.csv")
    old_nodes = nodes[nodes.since == OLD]
    known = set(old_nodes.package)
    old_edges = edges[edges.source.isin(known) & edges.target.isin(known)]
    old = oh.Graph.from_frames(old_nodes, old_edges, **OPTIONS)
    print(f"1. Debian {OLD}: {old!r}")
    added = len(nodes) - len(old_nodes), len(edges) - len(old_edges)
    print(f"   Debian {NEW} adds {added[0]} nodes and {added[1]} edges.\n")

    comparison = Comparison("accuracy")
    for seed in range(options.runs):
        draw = oh.split(old, "uniform", seed=seed)
        train, val = np.concatenate([draw.train, draw.test]), draw.val
        first = oh.Split(train=train, val=val, test=np.array([], dtype=int))
        second = oh.Split(train=train, val=val, test=np.arange(len(old_nodes), len(nodes)))
        for title, chosen in (("", {}), (NUMBERS_ONLY, {"features": NUMBERS})):
            before = oh.Graph.from_frames(old_nodes, old_edges, **OPTIONS | chosen)
            model = fit_goal(before, first, seed, "accuracy", options.fast)
            grown = oh.Graph.from_frames(nodes, edges, reading=model.reading_, notes=[])
            comparison.add(OF_OLD + title, model, grown, second)
            after = oh.Graph.from_frames(nodes, edges, **OPTIONS | chosen)
            model = fit_goal(after, second, seed, "accuracy", options.fast)
            comparison.add(AGAIN + title, model, after, second)
        again = oh.Graph.from_frames(nodes, edges, **OPTIONS)
        comparison.add_simple_models(again, second, seed, ", fitted again")
    print(f"2. Accuracy on the new nodes in percent, {options.runs} split(s) of the old nodes:")
    print(comparison)
    for title in (OF_OLD, AGAIN):
        gain = comparison.gain(title, title + NUMBERS_ONLY)
        print(f"   {title}: the columns that are no numbers are worth {gain:+.1f} points.")


if __name__ == "__main__":
    main()
