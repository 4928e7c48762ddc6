"""Write the tables and figures of docs/results.md from the records in results/runs.

    python scripts/results_page.py           write them
    python scripts/results_page.py --check   fail if they are not what the records say

No data set is needed: a table is made from the records alone, by the code of `otherhalf reproduce`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from otherhalf.experiments.all import EXPERIMENTS
from otherhalf.experiments.store import Store

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results.md"
FIGURES = ROOT / "results" / "figures"
COMMAND = "python scripts/results_page.py"


def written(page: str, store: Store) -> str:
    """The page with the table of every experiment between its marks."""
    for name, experiment in EXPERIMENTS.items():
        marks = re.compile(f"<!-- {name} -->\n.*?<!-- end -->", flags=re.DOTALL)
        if not marks.search(page):
            raise SystemExit(f"{PAGE.name} has no place for {name}: put the marks where its table belongs")
        table = experiment.table(experiment.request(), store).markdown()
        page = marks.sub(lambda _, name=name, table=table: f"<!-- {name} -->\n{table}<!-- end -->", page)
    return page


def draw(store: Store, folder: Path) -> list[Path]:
    """Every figure whose records are there."""
    return [
        path
        for experiment in EXPERIMENTS.values()
        for path in experiment.figures(experiment.request(), store, folder)
    ]


def main() -> None:
    """Write or check the page and the figures."""
    store = Store(ROOT / "results" / "runs")
    page = PAGE.read_text(encoding="utf-8")
    new = written(page, store)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new, encoding="utf-8")
        draw(store, FIGURES)
        return
    if new != page:
        raise SystemExit(f"{PAGE.name} is not what results/runs says: run {COMMAND}")
    with tempfile.TemporaryDirectory() as folder:
        for path in draw(store, Path(folder)):
            # The drawing is compared where it is text; a picture's bytes depend on the machine's libraries.
            kept = FIGURES / path.name
            if path.suffix == ".svg" and not (kept.is_file() and kept.read_bytes() == path.read_bytes()):
                raise SystemExit(f"{path.name} is not what results/runs says: run {COMMAND}")


if __name__ == "__main__":
    main()
