"""Compare the estimated memory of fits with what they take.

python benchmarks/memory.py prints Markdown tables; --json prints one JSON object. --graphs and --models
choose some (--graphs "cora csbm:nodes=1000" --models "gcn;goal").

Each fit runs in a process of its own, forked from one that has imported everything: imports take longer than
most fits. It loads the graph, notes its resident size, fits a few epochs (their number does not matter for
the memory), predicts all nodes, and notes its peak. A forked process begins with fewer resident pages than
one that has imported by itself: those of the latter are added.
"""

import argparse
import gc
import json
import os
import traceback
from pathlib import Path
from typing import Any

import psutil
import torch
import torch._dynamo

import otherhalf as oh
import otherhalf.nn.ops.attention_kernels
from otherhalf.data.synthetic import parse_synthetic
from otherhalf.errors import InputError
from otherhalf.estimators.estimate import PROCESS
from otherhalf.experiments.runner.models import make_model
from otherhalf.nn.memory import graph_bytes
from otherhalf.nn.models.registry import MODELS
from otherhalf.system.process import keep_freed_memory, peak_memory_mb, reset_peak_memory

GRAPHS = (
    "csbm:nodes=50000,features=16,degree=4",
    "csbm:nodes=10000,features=16,degree=100",
    "csbm:nodes=10000,features=500,degree=10",
    "csbm:nodes=15000,features=8,degree=5,classes=40",
    "cora",
    "squirrel",
    "actor",
    "amazon_photo",
    "tolokers",
    "coauthor_cs",
)
"""Many nodes, many edges, many dense features, many classes; then catalogued graphs, left out where they are
not at hand."""

EPOCHS = {"epochs": 3}
FITS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, EPOCHS) for name in MODELS},
    "propagation": ("propagation", {}),
    "logistic": ("logistic", {}),
    "trees": ("trees", {}),
    "boosted": ("boosted", {"trees": 25}),
    "goal, fast": ("goal", {"method": "kernel", "fast": True, **EPOCHS}),
    "goal": ("goal", {"method": "kernel", **EPOCHS}),
    "goal, embedding": ("goal", {"method": "embedding", "encoder": {"kind": "auto", **EPOCHS}, **EPOCHS}),
}
"""Models and their arguments."""

LEAST, MOST = 0.8, 1.5
"""What the estimate of a process may be of its peak."""


def graph_of(name: str) -> oh.Graph:
    """Return a catalogued or a synthetic graph."""
    return parse_synthetic(name) or oh.load(name)


def resident() -> int:
    """Return the bytes of this process in memory."""
    return int(psutil.Process().memory_info().rss)


def measure(graph_name: str, fit: str, process: int) -> dict[str, Any]:
    """Return estimate and measurement of one fit, in bytes; ``process`` is the size of the parent process."""
    ours, childs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(childs, json.dumps(_fitted(graph_name, fit, process)).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(childs)
    with os.fdopen(ours) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if not answer:
        raise SystemExit(f"the fit of {fit} on {graph_name} failed")
    row: dict[str, Any] = json.loads(answer)
    return row


def _fitted(graph_name: str, fit: str, process: int) -> dict[str, Any]:
    keep_freed_memory()  # as the command line does
    start = resident()
    graph = graph_of(graph_name)
    split = oh.split(graph, "uniform", seed=0)
    gc.collect()
    reset_peak_memory()
    loaded = resident()
    name, arguments = FITS[fit]
    model = make_model(name, arguments, 0, "accuracy")
    model.fit(graph, split).predict_proba(graph)
    peak = int(peak_memory_mb() * (1 << 20))
    need = model.need(graph, split)
    estimated, measured = PROCESS + graph_bytes(graph) + need.size, peak - start + process
    return {
        "graph": graph_name,
        "model": fit,
        "estimated": estimated,
        "measured": measured,
        "ratio": round(estimated / measured, 2),
        "need": need.size,
        "increment": peak - loaded,
        "increment_ratio": round(need.size / (peak - loaded), 2),
        "largest": f"{need.largest.largest.name} of {need.largest.name}",
    }


def tables(rows: list[dict[str, Any]]) -> str:
    """Return the rows as one Markdown table, and the ratios of all models and graphs as another."""
    shown = [
        "| graph | model | estimated MB | measured MB | ratio | need MB | increment MB | ratio | largest |",
        "|---" * 9 + "|",
    ]
    shown += [
        f"| {row['graph']} | {row['model']} | {row['estimated'] / 1e6:.0f} | {row['measured'] / 1e6:.0f} | "
        f"{row['ratio']:.2f} | {row['need'] / 1e6:.0f} | {row['increment'] / 1e6:.0f} | "
        f"{row['increment_ratio']:.2f} | {row['largest']} |"
        for row in rows
    ]
    graphs, models = (list(dict.fromkeys(row[key] for row in rows)) for key in ("graph", "model"))
    cells = {(row["model"], row["graph"]): row for row in rows}
    shown += ["", "| model | " + " | ".join(graphs) + " |", "|---" * (len(graphs) + 1) + "|"]
    for model in models:
        each = [cells.get((model, graph)) for graph in graphs]
        texts = [f"{row['ratio']:.2f} ({row['increment_ratio']:.2f})" if row else "–" for row in each]
        shown.append(f"| {model} | " + " | ".join(texts) + " |")
    ratios = [row["ratio"] for row in rows]
    within = sum(LEAST <= ratio <= MOST for ratio in ratios)
    shown.append(
        f"\n{within} of {len(rows)} estimates are between {LEAST} and {MOST} of the peak; all are between "
        f"{min(ratios):.2f} and {max(ratios):.2f}."
    )
    return "\n".join(shown)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--graphs", help="names, with spaces between them")
    parser.add_argument("--models", help="names, with semicolons between them", default=";".join(FITS))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--log", type=Path, help="add every row to this file as soon as it is measured")
    options = parser.parse_args()
    torch.set_num_threads(1)
    graphs = options.graphs.split() if options.graphs else [name for name in GRAPHS if _at_hand(name)]
    process, rows = resident(), []
    for graph in graphs:
        for fit in options.models.split(";"):
            rows.append(measure(graph, fit, process))
            if options.log:
                with options.log.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print(json.dumps({"rows": rows}) if options.json else tables(rows))


def _at_hand(name: str) -> bool:
    try:
        return parse_synthetic(name) is not None or oh.load(name) is not None
    except InputError:
        return False


if __name__ == "__main__":
    main()
