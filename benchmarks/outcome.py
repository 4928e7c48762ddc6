"""What a run of the measures gave: kept as JSON after every measure, shown as a table."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import Measure, Setting

README = Path(__file__).parent / "README.md"
PLACE = re.compile("<!-- marks -->\n.*?<!-- end -->", flags=re.DOTALL)
"""The place of the table in the README."""


class Outcome:
    """The figures of the measures, with the conditions of the run.

    Args:
        conditions: Machine, threads, allocator: what the figures depend on.
        file: JSON file that is written after every measure. What it has of other measures stays, if it was
            written under the same conditions.
    """

    def __init__(self, conditions: dict[str, Any], file: Path | None = None) -> None:
        self.conditions, self.file = conditions, file
        self.measures: dict[str, dict[str, Any]] = {}
        if file is not None and file.is_file():
            before = json.loads(file.read_text(encoding="utf-8"))
            if {key: before.get(key) for key in conditions} == conditions:
                self.measures = before["measures"]

    def add(self, measure: Measure, result: dict[str, Any], setting: Setting) -> list[list[str]]:
        """Keep the result of a measure (``figures``, or why there are none), and return its rows."""
        figures = result.get("figures", {})
        marks = []
        for mark in measure.marks:
            value = mark.value(figures)
            met = None if value is None else mark.met(value)
            marks.append(asdict(mark) | {"value": value, "met": met})
        self.measures[measure.name] = {**result, "repeats": setting.repeats, "marks": marks}
        if self.file is not None:
            content = {**self.conditions, "measures": self.measures}
            self.file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return rows(self.measures[measure.name])

    def markdown(self, order: Sequence[str]) -> str:
        """Return the table of all measures in this order, under a line about the conditions."""
        chosen = [self.measures[name] for name in order if name in self.measures]
        lines = ["| mark | measured | limit | met |", "|---|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for each in chosen for row in rows(each)]
        return "\n".join([self.words(), "", *lines]) + "\n"

    def words(self) -> str:
        """Return a line about the conditions."""
        machine, threads = self.conditions["machine"], self.conditions["threads"]
        versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
        size = "small sizes, " if self.conditions["quick"] else ""
        return (
            f"Measured on {machine['processor']} ({machine['cores']} cores, {machine['memory_gb']} GB, "
            f"{machine['system']}): {size}{threads} thread{'s' if threads > 1 else ''}, "
            f"{self.conditions['allocator']}; Python {machine['python']}, {versions}."
        )


def rows(measured: dict[str, Any]) -> list[list[str]]:
    """Return the rows of one measure: mark, value, limit, and whether it is met."""
    table = []
    for mark in measured["marks"]:
        unit = f" {mark['unit']}" if mark["unit"] else ""
        limit = f"{'≥' if mark['at_least'] else '≤'} {mark['limit']:,.5g}{unit}"
        if mark["value"] is None:
            table.append([mark["title"], "–", limit, measured.get("missing", "not measured")])
        else:
            verdict = "yes" if mark["met"] else "**no**"
            table.append([mark["title"], f"{mark['value']:,.3g}{unit}", limit, verdict])
    return table


def fill_readme(table: str, readme: Path = README) -> None:
    """Write the table at its place in the README."""
    text = readme.read_text(encoding="utf-8")
    block = f"<!-- marks -->\n{table}<!-- end -->"
    new, places = PLACE.subn(lambda _: block, text)
    if places != 1:
        raise SystemExit(f"{readme.name} needs one place for the table: <!-- marks --> and <!-- end -->")
    readme.write_text(new, encoding="utf-8")
