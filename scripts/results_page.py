"""Write the tables and figures of docs/results.md, and the README's, from the records in results/runs.

    python scripts/results_page.py           write them
    python scripts/results_page.py --check   fail if they differ from the records

No data set is needed: the code of `otherhalf reproduce` makes a table from the records only.
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
    """Return every table, by its file and the name of its marks there."""
    page = {}
    for name, experiment in EXPERIMENTS.items():
        page[name] = experiment.table(experiment.request(), store)
        page[name].notes.append(cost(experiment, store))
    return {PAGE: page, README: {"accuracy": Table1().short_table(store)}}


def cost(experiment: Experiment, store: Store) -> str:
    """Return a sentence about the number and the duration of the runs that have records."""
    records = [store.get(job) for job in experiment.reported(experiment.request(), store)]
    seconds = [record.seconds for record in records if record is not None]
    if not seconds:
        return "No run has been made yet."
    minutes = sum(seconds) / 60
    took = f"{minutes / 60:.1f} hours" if minutes >= 60 else f"{minutes:.1f} minutes"
    return f"Made of {len(seconds):,} runs, which took {took} of one core."


def with_tables(file: Path, content: dict[str, Table]) -> str:
    """Return the text of a file with each table between its marks."""
    text = file.read_text(encoding="utf-8")
    for name, table in content.items():
        marks = re.compile(f"<!-- {name} -->\n.*?<!-- end -->", flags=re.DOTALL)
        if not marks.search(text):
            raise SystemExit(f"{file.name} has no place for {name}: put the marks where its table belongs")
        block = f"<!-- {name} -->\n{table.markdown()}<!-- end -->"
        text = marks.sub(lambda _, block=block: block, text)
    return text


def draw(store: Store, folder: Path) -> list[Path]:
    """Draw every figure that has records, and return the files."""
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
        new = with_tables(file, content)
        if not check:
            file.write_text(new, encoding="utf-8")
        elif new != file.read_text(encoding="utf-8"):
            raise SystemExit(f"{file.name} is not what results/runs says: run {COMMAND}")
    if not check:
        draw(store, FIGURES)
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in draw(store, Path(folder)):
            # Only svg files are compared: the bytes of a png depend on the libraries of the machine.
            old = FIGURES / path.name
            if path.suffix == ".svg" and not (old.is_file() and old.read_bytes() == path.read_bytes()):
                raise SystemExit(f"{path.name} is not what results/runs says: run {COMMAND}")


if __name__ == "__main__":
    main()
