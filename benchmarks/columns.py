"""Measure how long a table of mixed columns takes to encode, and the memory that it needs.

python benchmarks/columns.py --rows 1000000 prints a Markdown table; --json prints one JSON object.
"""

import argparse
import json
import resource
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from otherhalf.data.columns.encoding import ColumnEncoding

SECONDS, GIGABYTES = 60, 4
"""The most that a million rows may take."""


def mixed_table(rows: int, seed: int = 0) -> pd.DataFrame:
    """Return a table of 30 columns of all kinds."""
    rng = np.random.default_rng(seed)
    words = np.array([f"word{i}" for i in range(5000)])
    chance = 1 / np.arange(1, len(words) + 1)
    gaps = rng.random(rows) < 0.1
    dates = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 10 * 365 * 86_400, rows), unit="s")

    def pick(count: int, name: str) -> Any:
        return np.array([f"{name}{i}" for i in range(count)], dtype=object)[rng.integers(0, count, rows)]

    def prose(length: int) -> list[str]:
        chosen = rng.choice(words, size=(rows, length), p=chance / chance.sum())
        return [" ".join(row) for row in chosen.tolist()]

    columns: dict[str, Any] = {f"normal_{i}": rng.normal(size=rows) for i in range(4)}
    columns |= {f"money_{i}": rng.lognormal(8, 2, rows) for i in range(3)}
    columns |= {f"gappy_{i}": np.where(gaps, np.nan, rng.gamma(2, 1, rows)) for i in range(2)}
    columns |= {f"count_{i}": rng.poisson(0.1, rows) for i in range(2)}
    columns["amount"] = [f"{v:.2f}".replace(".", ",") for v in rng.gamma(2, 50, rows).tolist()]
    columns["wrong"] = np.where(rng.random(rows) < 0.01, "hello", rng.integers(0, 1000, rows).astype(str))
    columns |= {f"few_{i}": pick(8 + i, "few") for i in range(4)}
    columns |= {f"many_{i}": pick(20_000, "many") for i in range(2)}
    columns["flag"] = rng.random(rows) < 0.3
    columns["answer"] = np.where(gaps, None, pick(2, "").astype(str))
    columns["answer"] = pd.Series(columns["answer"]).map({"0": "no", "1": "yes"})
    columns["moment"] = dates
    columns["iso"] = dates.strftime("%Y-%m-%dT%H:%M:%S")
    columns["german"] = dates.strftime("%d.%m.%Y")
    columns["title"], columns["story"] = prose(8), prose(20)
    columns["labels"] = [f"{a};{b}" for a, b in zip(pick(200, "t"), pick(30, "t"), strict=True)]
    columns["list"] = [list(pair) for pair in zip(pick(50, "u"), pick(50, "u"), strict=True)]
    columns["user_id"] = np.arange(rows)
    columns["key"] = [f"k{i}" for i in range(rows)]
    return pd.DataFrame(columns)


class PeakMemory(threading.Thread):
    """Watch the memory of this process until :meth:`stop`."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._done = 0.0, threading.Event()

    def run(self) -> None:
        """Look at the memory twenty times a second."""
        while not self._done.wait(0.05):
            self.peak = max(self.peak, memory())

    def stop(self) -> float:
        """Return the most gigabytes that were seen."""
        self._done.set()
        self.join()
        return max(self.peak, memory())


def memory() -> float:
    """Return the gigabytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e9


def measure(rows: int, per_column: bool = False) -> dict[str, Any]:
    """Learn from the table and apply to it; return seconds and gigabytes."""
    table = mixed_table(rows)
    ColumnEncoding.learn(table[:1000]).apply(table[:1000])  # imports, and what is compiled at the first call
    before, watch = memory(), PeakMemory()
    watch.start()
    start, cpu = time.perf_counter(), time.process_time()
    encoding = ColumnEncoding.learn(table)
    learned = time.perf_counter()
    after_learning = watch.peak
    encoded = encoding.apply(table)
    end = time.perf_counter()
    result: dict[str, Any] = {
        "rows": rows,
        "columns": table.shape[1],
        "width": encoded.x.shape[1],
        "sparse": encoding.sparse,
        "learn_seconds": round(learned - start, 2),
        "apply_seconds": round(end - learned, 2),
        "seconds": round(end - start, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "table_gigabytes": round(before, 2),
        "learn_peak_gigabytes": round(after_learning, 2),
        "peak_gigabytes": round(watch.stop(), 2),
        "matrix_gigabytes": round(encoded.x.shape[0] * encoded.x.shape[1] * 4 / 1e9, 2),
    }
    result["within"] = result["seconds"] <= SECONDS and result["peak_gigabytes"] <= GIGABYTES
    if per_column:
        result["per_column"] = {name: _one(table[[name]]) for name in table}
    return result


def _one(table: pd.DataFrame) -> list[float]:
    start = time.perf_counter()
    encoding = ColumnEncoding.learn(table)
    learned = time.perf_counter()
    encoding.apply(table)
    return [round(learned - start, 2), round(time.perf_counter() - learned, 2)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--per-column", action="store_true", help="also measure each column alone")
    options = parser.parse_args()
    result = measure(options.rows, options.per_column)
    if options.json:
        print(json.dumps(result))
        return
    each = result.pop("per_column", {})
    print("| " + " | ".join(result) + " |\n" + "|---" * len(result) + "|")
    shown = [f"{value:,}" if type(value) is int else str(value) for value in result.values()]
    print("| " + " | ".join(shown) + " |")
    for name, (learn, apply) in each.items():
        print(f"    {name:12} learn {learn:6.2f} s, apply {apply:6.2f} s")


if __name__ == "__main__":
    main()
