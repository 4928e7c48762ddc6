"""Write the tables and figures of docs/results.md, and the README's, from the records in results/runs.

    python scripts/results_page.py           write them
    python scripts/results_page.py --check   fail if they are not what the records say

No data set is needed: a table is made from the records alone, by the code of `otherhalf reproduce`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from otherhalf.experiments.paper.experiment import Experiment
from otherhalf.experiments.paper.registry import EXPERIMENTS
from otherhalf.experiments.paper.table1 import Table1
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
FIGURES = ROOT / "results" / "figures"
COMMAND = "python scripts/results_page.py"


def tables(store: Store) -> dict[Path, dict[str, Table]]:
    """Every table by the file and the mark it belongs to."""
    page = {}
    for name, experiment in EXPERIMENTS.items():
        page[name] = experiment.table(experiment.request(), store)
        page[name].notes.append(cost(experiment, store))
    return {PAGE: page, README: {"accuracy": Table1().short_table(store)}}


def cost(experiment: Experiment, store: Store) -> str:
    """What the runs of an experiment took, as far as they have been made."""
    found = [store.get(job) for job in experiment.reported(experiment.request(), store)]
    seconds = [record.seconds for record in found if record is not None]
    if not seconds:
        return "No run has been made yet."
    minutes = sum(seconds) / 60
    took = f"{minutes / 60:.1f} hours" if minutes >= 60 else f"{minutes:.1f} minutes"
    return f"Made of {len(seconds):,} runs, which took {took} of one core."


def written(file: Path, content: dict[str, Table]) -> str:
    """The file with each table between its marks."""
    text = file.read_text(encoding="utf-8")
    for name, table in content.items():
        marks = re.compile(f"<!-- {name} -->\n.*?<!-- end -->", flags=re.DOTALL)
        if not marks.search(text):
            raise SystemExit(f"{file.name} has no place for {name}: put the marks where its table belongs")
        block = f"<!-- {name} -->\n{table.markdown()}<!-- end -->"
        text = marks.sub(lambda _, block=block: block, text)
    return text


def draw(store: Store, folder: Path) -> list[Path]:
    """Every figure whose records are there."""
    return [
        path
        for experiment in EXPERIMENTS.values()
        for path in experiment.figures(experiment.request(), store, folder)
    ]


def main() -> None:
    """Write or check the pages and the figures."""
    store = Store(ROOT / "results" / "runs")
    check = "--check" in sys.argv[1:]
    for file, content in tables(store).items():
        new = written(file, content)
        if not check:
            file.write_text(new, encoding="utf-8")
        elif new != file.read_text(encoding="utf-8"):
            raise SystemExit(f"{file.name} is not what results/runs says: run {COMMAND}")
    if not check:
        draw(store, FIGURES)
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in draw(store, Path(folder)):
            # The drawing is compared where it is text; a picture's bytes depend on the machine's libraries.
            kept = FIGURES / path.name
            if path.suffix == ".svg" and not (kept.is_file() and kept.read_bytes() == path.read_bytes()):
                raise SystemExit(f"{path.name} is not what results/runs says: run {COMMAND}")


if __name__ == "__main__":
    main()
