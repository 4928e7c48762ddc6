"""Write the tables of docs/results.md and the README from the records in results/fits.

    python scripts/results_table.py           write them
    python scripts/results_table.py --check   fail if they are not what the records say

A record is one line that `otherhalf fit NAME --preset P --seed S --json` printed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parent.parent
TABLES = {"README.md": "accuracy", "docs/results.md": "full"}
MARKS = r"<!-- {name} -->\n(.*?)<!-- end -->"

# Table 1 of the paper (label tab:node classification), row GOAL: mean over ten splits of its own.
PAPER = {
    "cora": 88.75,
    "citeseer": 77.15,
    "pubmed": 89.25,
    "amazon_computers": 91.33,
    "amazon_photo": 95.60,
    "chameleon": 71.65,
    "squirrel": 60.53,
    "actor": 36.46,
}


def records() -> dict[tuple[str, str], list[dict[str, object]]]:
    """All records by (data set, preset), each seed once."""
    found: dict[tuple[str, str], dict[int, dict[str, object]]] = {}
    for path in sorted((ROOT / "results" / "fits").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            seeds = found.setdefault((record["name"], record["preset"]), {})
            if record["seed"] in seeds:
                raise SystemExit(f"{path}: {record['name']} has seed {record['seed']} twice")
            seeds[record["seed"]] = record
    return {key: [seeds[seed] for seed in sorted(seeds)] for key, seeds in found.items()}


def accuracy(runs: list[dict[str, object]]) -> float:
    """Mean test accuracy in percent."""
    return 100 * mean(float(str(run["test_accuracy"])) for run in runs)


def accuracy_table() -> str:
    """Data set, the paper's figure, and both presets with the gap to it."""
    found = records()
    lines = ["| | paper's GOAL | `paper` preset | `best` preset |", "|---|---|---|---|"]
    for name, figure in PAPER.items():
        cells = []
        for preset in ("paper", "best"):
            value = accuracy(found[name, preset])
            cells.append(f"{value:.2f} ({value - figure:+.2f})")
        lines.append(f"| {name} | {figure:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def full_table() -> str:
    """One row for each data set and preset, seed by seed."""
    found = records()
    lines = [
        "| data set | preset | test accuracy by seed | mean | gap to the paper | encoder | its say "
        "| homophily found by test nodes | seconds | peak MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, figure in PAPER.items():
        for preset in ("paper", "best"):
            runs = found[name, preset]
            by_seed = ", ".join(f"{100 * float(str(run['test_accuracy'])):.2f}" for run in runs)
            encoders = ", ".join(dict.fromkeys(str(run["encoder"]) for run in runs))
            shares = ", ".join(f"{float(str(run.get('encoder_share', 0.0))):.1f}" for run in runs)
            homophily = mean(float(str(run["missing_half_test_homophily"])) for run in runs)
            seconds = mean(run["seconds"]["total"] for run in runs)  # type: ignore[index]
            memory = max(float(str(run["peak_memory_mb"])) for run in runs)
            value = accuracy(runs)
            lines.append(
                f"| {name} | {preset} | {by_seed} | {value:.2f} | {value - figure:+.2f} | {encoders} "
                f"| {shares} | {homophily:.3f} | {seconds:.0f} | {memory:.0f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write or check both tables."""
    made = {"accuracy": accuracy_table(), "full": full_table()}
    for file, name in TABLES.items():
        path = ROOT / file
        text = path.read_text(encoding="utf-8")
        marks = re.compile(MARKS.format(name=name), flags=re.DOTALL)
        if not marks.search(text):
            raise SystemExit(f"{file} has no place for the table {name}")
        new = marks.sub(lambda _, name=name: f"<!-- {name} -->\n{made[name]}<!-- end -->", text)
        if "--check" not in sys.argv[1:]:
            path.write_text(new, encoding="utf-8")
        elif new != text:
            raise SystemExit(f"{file} is not what results/fits says: run python scripts/results_table.py")


if __name__ == "__main__":
    main()
