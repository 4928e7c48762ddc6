"""Measure the pages of reports: bytes, seconds to make them, and seconds until a browser has painted them.

python benchmarks/report.py prints a Markdown table; --json prints one JSON object. --nodes 3000,20000 chooses
the sizes. A million nodes take some minutes and 10 GB.

The fit is a short one: what a page holds does not depend on how good the model is. The browser is headless
Chromium; without it the last columns are empty.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import otherhalf as oh
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.graph import Split
from otherhalf.report.notebook import Report

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.report.browser import CHROMIUM, Browser  # the tests' own

SIZES = (3_000, 20_000, 1_000_000)
MOST_BYTES, MOST_SECONDS = 3_000_000, 2.0
"""The marks of a page of 20,000 nodes."""

MOST_TRAINED = 2_000
OPENINGS = 5


def fitted(nodes: int) -> tuple[oh.GOALClassifier, oh.Graph, Split]:
    """Return a model of a graph with names, classes and features of usual lengths."""
    graph = contextual_sbm(num_nodes=nodes, num_classes=7, num_features=32, homophily=0.3, seed=0)
    order = np.random.default_rng(0).permutation(nodes)
    train = min(nodes * 6 // 10, MOST_TRAINED)
    parts = Split(order[:train], order[train : train + train // 3], order[train + train // 3 :])
    model = oh.GOALClassifier(fast=True, epochs=3, hidden=16)
    return model.fit(graph, parts), graph, parts


def measure(nodes: int, folder: Path) -> dict[str, Any]:
    """Return what the page of a graph of this size takes."""
    model, graph, parts = fitted(nodes)
    started = time.perf_counter()
    report = Report.of(model, graph, parts)
    page = report.save(folder / f"{nodes}.html")
    row = {
        "nodes": nodes,
        "seconds to make": time.perf_counter() - started,
        "bytes": page.stat().st_size,
        "nodes listed": report.content["explorer"]["shown"],
        "nodes explained": report.content["explorer"]["explained"],
    }
    return row | ({} if CHROMIUM is None else opened(page))


def opened(page: Path) -> dict[str, Any]:
    """Return the seconds until the page is painted, and until the explorer has answered a search."""
    browser = Browser()
    try:
        browser.open(page)  # the first page of a browser pays for its start
        times = [browser.open(page) for _ in range(OPENINGS)]
        started = time.perf_counter()
        answer = browser.evaluate(SEARCH)
        searched = time.perf_counter() - started
        if not answer or browser.complaints() or len(browser.requests()) > 1:
            raise SystemExit(f"the page does not work: {answer!r} {browser.complaints()[:1]}")
    finally:
        browser.close()
    return {"seconds to open": statistics.median(times), "seconds to search": searched}


SEARCH = """(() => {
  const field = document.getElementById("search");
  field.focus();
  field.value = "7";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return document.querySelectorAll("#found [role=option]").length;
})()"""
"""Type a part of an id; the value is the number of nodes that the list then offers."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", default=",".join(map(str, SIZES)))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(int(nodes), Path(folder)) for nodes in arguments.nodes.split(",")]
    if arguments.json:
        print(json.dumps({"marks": {"bytes": MOST_BYTES, "seconds to open": MOST_SECONDS}, "rows": rows}))
        return
    names = list(rows[0])
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for row in rows:
        cells = [f"{row[name]:,}" if isinstance(row[name], int) else f"{row[name]:.2f}" for name in names]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
