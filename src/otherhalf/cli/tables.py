"""Tables of experiments as one HTML page: ``compare --report`` and ``reproduce --report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from markupsafe import Markup

    from otherhalf.experiments.table import Table

Page = Annotated[Path | None, typer.Option("--report", help="Also write the result to this .html page.")]
CHART_NOTE = "Mean over the runs; whiskers are one standard deviation to each side."


def check_page(path: Path | None) -> None:
    """Raise InputError if a page is wanted and could not be written; call it before the runs."""
    from otherhalf.report.notebook import HTML
    from otherhalf.system.atomic import check_place

    if path is not None:
        check_place(path, HTML)


def write_tables(
    path: Path | None,
    tables: Sequence[tuple[str, Table]],
    command: str,
    *,
    rows: Sequence[Mapping[str, Any]] = (),
    figures: Sequence[Path] = (),
) -> None:
    """Write tables to a page, if one is wanted.

    Args:
        path: The page.
        tables: Titles and tables.
        command: The command that made them.
        rows: Rows of a comparison, each with ``model``, ``mean`` and ``std``, which become a chart.
        figures: Files of figures; those that end in .png are put into the page.
    """
    if path is None:
        return
    from otherhalf.report.page import render_tables
    from otherhalf.system.atomic import atomic_write

    values = [
        {"title": title, "columns": table.columns, "rows": table.rows, "notes": table.notes}
        for title, table in tables
    ]
    images = [{"title": file.stem, "data": file.read_bytes()} for file in figures if file.suffix == ".png"]
    page = render_tables(
        tables[0][0], values, command=command, chart=_chart(rows), chart_note=CHART_NOTE, images=images
    )
    with atomic_write(path) as temporary:
        temporary.write_bytes(page.encode("utf-8"))


def _chart(rows: Sequence[Mapping[str, Any]]) -> Markup | None:
    from otherhalf.experiments.runner.models import title_of
    from otherhalf.report.svg import Bar, bars

    drawn = [
        Bar(
            title_of(row["model"]),
            row["mean"],
            None if row["std"] is None else row["mean"] - row["std"],
            None if row["std"] is None else row["mean"] + row["std"],
        )
        for row in sorted(rows, key=lambda row: -row["mean"])
    ]
    return bars(drawn, "Models side by side", digits=4) if drawn else None
