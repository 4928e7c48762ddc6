"""
A graph that joins unlike nodes
===============================

Articles cite sources. Articles on one topic cite the same sources, but no edge joins two of them, so most
edges join nodes of different topics. Here such a graph is diagnosed, its missing half is found, and a
classifier reads both halves.
"""

# %%
# The graph
# ---------
#
# 450 articles and 150 sources of five topics. Each article cites sources that are usual for its topic, and
# some at random; what a source is about is another question. Twelve noisy features hint at the topic.

import matplotlib.pyplot as plt
import numpy as np

import otherhalf as oh

rng = np.random.default_rng(0)
articles, sources, topics = 450, 150, 5
topic = rng.integers(topics, size=articles + sources)
cited_by = rng.integers(topics, size=sources)
edges = []
for article in range(articles):
    cited = rng.choice(np.flatnonzero(cited_by == topic[article]), 5)
    stray = rng.random(5) < 0.4
    cited[stray] = rng.integers(sources, size=stray.sum())
    edges += [(article, articles + source) for source in cited]
x = rng.normal(size=(len(topic), 12)) + 0.6 * rng.normal(size=(topics, 12))[topic]

graph = oh.Graph(edges=np.array(edges).T, x=x, y=topic, name="articles and sources")
split = oh.split(graph, "uniform", seed=0)
graph

# %%
# Diagnose
# --------
#
# Neither by the features nor by the labels are like nodes joined: the homophilic half is missing.

oh.diagnose(graph)

# %%
# How the topics mix over the given edges: a node's neighbours say little about its topic.


def mixing(source, target):
    """Return the share of pairs from each class to each class."""
    counts = np.zeros((graph.num_classes, graph.num_classes))
    np.add.at(counts, (graph.y[source], graph.y[target]), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def draw(shares, title):
    """Draw the shares as a heat map."""
    figure, axes = plt.subplots(figsize=(3.8, 3.2))
    picture = axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    axes.set(xlabel="topic of the neighbour", ylabel="topic of the node", title=title)
    figure.colorbar(picture)
    figure.tight_layout()


draw(mixing(*np.concatenate([graph.edges, graph.edges[::-1]], axis=1)), "given half")

# %%
# Complement
# ----------
#
# Every node is joined to the labelled nodes that are most similar to it, by similarities that leave-one-out
# chose. Only labels of training and validation nodes are read.

half = oh.find_missing_half(graph, split, seed=0)
half

# %%
# The figure that counts is that of the test nodes, whose labels nothing has read.

for title, nodes in (("training nodes", split.train), ("test nodes", split.test)):
    print(f"pairs within a topic, of {title}: {half.homophily(graph.y, nodes):.2f}")

draw(mixing(*half.pairs[:, np.isin(half.pairs[0], split.test)]), "found half, test nodes")

# %%
# Fit
# ---
#
# The classifier with both halves, beside a GCN over the given edges and an MLP without edges, each with its
# defaults.

models = {
    "MLP": oh.BaselineClassifier("mlp", seed=0),
    "GCN": oh.BaselineClassifier("gcn", seed=0),
    "GOAL, fast": oh.GOALClassifier(seed=0, fast=True),
}
scores = {name: model.fit(graph, split).score(graph, split.test) for name, model in models.items()}
figure, axes = plt.subplots(figsize=(5.5, 2.2))
bars = axes.barh(list(scores), list(scores.values()), color="#4878a8")
axes.bar_label(bars, fmt="%.2f", padding=3)
axes.set(xlim=(0, 1.1), xlabel=f"accuracy on {len(split.test)} test nodes")
figure.tight_layout()

# %%
# One split of one graph proves nothing: ``otherhalf compare`` takes ten, and tests the differences. What each
# member of the blend contributed:

goal = models["GOAL, fast"]
for row in goal.leaderboard_:
    print(f"{row.member:10s} validation {row.validation:.2f}, weight {row.weight:.2f}")

# %%
# Report
# ------
#
# The explorer of the page shows, for any node, its given and its found neighbours, and which of them carried
# the prediction.

goal.report(graph, split)
