"""
From your own tables to a report
================================

Two files as a person with a spreadsheet has them: packages of Debian's databases and mail programs, and which
of them needs which. Semicolons, decimal commas, gaps written in several ways, wrong numbers, text, dates,
tags, edges to unknown ids: nothing is repaired by hand. In the end there is one page that says what was
found, how good it is, and why.
"""

# %%
# Two tables
# ----------
#
# ``oh.read_tables`` takes two files. Every decision of the reader is a sentence in ``notes``.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import otherhalf as oh

here = [Path.cwd(), *Path.cwd().parents]
tables = next(folder / "examples" / "messy" for folder in here if (folder / "examples" / "messy").is_dir())
nodes, edges = tables / "nodes.csv", tables / "edges.csv"
print(nodes.read_text(encoding="utf-8-sig").splitlines()[0])

notes: list[str] = []
graph = oh.read_tables(nodes, edges, label="Section", name="packages", notes=notes)
for note in notes[:8]:
    print("-", note.replace(f"{tables}/", ""))

# %%
# The graph shows itself.

graph

# %%
# What became of the columns
# --------------------------
#
# Each column has a kind, and becomes one or more numbers by it. ``kinds={"Policy": "category"}`` would say
# otherwise.

for row in graph.reading.encoding.table():
    print(f"{row.column:14s} {row.kind:9s} {row.becomes}")

# %%
# Which half does it have?
# ------------------------
#
# The diagnosis looks at the features of connected and of random pairs, and at the known labels.

diagnosis = oh.diagnose(graph)
diagnosis

# %%
# The two distributions that the K-S statistic D compares:

figure, axes = plt.subplots(figsize=(6, 3))
for values, label in ((diagnosis.connected, "connected pairs"), (diagnosis.random, "random pairs")):
    axes.stairs(values, diagnosis.bin_edges, fill=True, alpha=0.45, label=label)
axes.set(xlabel="cosine of the features", ylabel="density", title=f"D = {diagnosis.ks:.2f}")
axes.legend(frameon=False)
figure.tight_layout()

# %%
# A model
# -------
#
# 60 % of the packages with a section teach, 20 % select, 20 % score. ``fast=True`` fits in seconds; leave
# it out for the best score.

split = oh.split(graph, "stratified", seed=0)
model = oh.GOALClassifier(seed=0, fast=True).fit(graph, split)
print(f"accuracy on {len(split.test)} test packages: {model.score(graph, split.test):.2f}")
model

# %%
# The packages whose section is not known
# ---------------------------------------
#
# Most of them are libraries. The model says how sure it is of each.

unknown = np.flatnonzero(graph.y < 0)
probabilities = model.predict_proba(graph)[unknown]
surest = np.argsort(-probabilities.max(axis=1))[:5]
for i in surest:
    section = model.classes_[probabilities[i].argmax()]
    print(f"{graph.ids[unknown[i]]:20s} {section:9s} {probabilities[i].max():.2f}")

# %%
# One page about everything
# -------------------------
#
# ``model.report`` makes a page that needs no network: the verdict, both halves, errors by class and degree,
# and an explorer that says why a
# package was taken for its class. Try the search in it. ``report.save("page.html")`` writes it to a file.

report = model.report(graph, split)
report

# %%
# The same with commands
# ----------------------
#
# .. code-block:: sh
#
#    otherhalf inspect examples/messy/nodes.csv,examples/messy/edges.csv --label Section
#    otherhalf fit examples/messy/nodes.csv,examples/messy/edges.csv --label Section --out run
#    otherhalf predict run examples/messy/nodes.csv,examples/messy/edges.csv --out predictions.csv
#    otherhalf report run --out page.html
