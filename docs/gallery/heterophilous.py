"""
A graph that joins unlike nodes
===============================

Where edges join nodes of different classes, mixing every node with its neighbours takes the signal away. Here
such a graph is diagnosed, its missing half is found, and a classifier reads both halves.
"""

# %%
# The graph
# ---------
#
# 500 nodes of four classes. One edge in ten is within a class, where 25 in a hundred would be chance.

import matplotlib.pyplot as plt
import numpy as np

import otherhalf as oh

graph = oh.load("csbm:nodes=500,classes=4,features=16,homophily=0.1,signal=2.0,seed=7")
split = oh.split(graph, "uniform", seed=0)
graph

# %%
# Diagnose
# --------

diagnosis = oh.diagnose(graph)
print(diagnosis)

# %%
# The labels say the same as D. How the classes mix over the given edges:


def mixing(source, target):
    """Return the share of pairs from each class to each class."""
    counts = np.zeros((graph.num_classes, graph.num_classes))
    np.add.at(counts, (graph.y[source], graph.y[target]), 1)
    return counts / counts.sum(axis=1, keepdims=True)


given = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
figure, axes = plt.subplots(figsize=(3.6, 3))
picture = axes.imshow(mixing(*given), vmin=0, vmax=1, cmap="Blues")
axes.set(xlabel="class of the neighbour", ylabel="class of the node", title="given half")
figure.colorbar(picture)
figure.tight_layout()

# %%
# Complement
# ----------
#
# Every node is joined to the labelled nodes that are most similar to it, by similarities that leave-one-out
# chose. Only labels of training and validation
# nodes are read.

half = oh.find_missing_half(graph, split, seed=0)
print(half)
half

# %%
# The figure that counts is that of the test nodes, whose labels nothing has read:

for title, nodes in (("training nodes", split.train), ("test nodes", split.test)):
    print(f"pairs within a class, of {title}: {half.homophily(graph.y, nodes):.2f}")

figure, axes = plt.subplots(figsize=(3.6, 3))
of_test = np.isin(half.pairs[0], split.test)
picture = axes.imshow(mixing(*half.pairs[:, of_test]), vmin=0, vmax=1, cmap="Blues")
axes.set(xlabel="class of the found neighbour", ylabel="class of the test node", title="found half")
figure.colorbar(picture)
figure.tight_layout()

# %%
# Fit
# ---
#
# The classifier over both halves, beside a GCN over the given edges and an MLP without edges, each with its
# defaults.

models = {
    "GCN": oh.BaselineClassifier("gcn", seed=0),
    "MLP": oh.BaselineClassifier("mlp", seed=0),
    "GOAL, fast": oh.GOALClassifier(seed=0, fast=True),
}
scores = {name: model.fit(graph, split).score(graph, split.test) for name, model in models.items()}
figure, axes = plt.subplots(figsize=(5, 2.2))
bars = axes.barh(list(scores), list(scores.values()), color="#4878a8")
axes.bar_label(bars, fmt="%.2f", padding=3)
axes.set(xlim=(0, 1.1), xlabel=f"accuracy on {len(split.test)} test nodes")
figure.tight_layout()

# %%
# One split of one graph proves nothing: ``otherhalf compare`` takes ten, and tests the differences. What
# each model of the blend contributed:

goal = models["GOAL, fast"]
for row in goal.leaderboard_:
    print(f"{row.member:28s} validation {row.validation:.2f}, weight {row.weight:.2f}")

# %%
# Report
# ------
#
# The explorer at the end of the page shows, for any node, its given and its found neighbours.

goal.report(graph, split)
