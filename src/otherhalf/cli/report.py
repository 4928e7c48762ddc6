"""The command ``report``: one HTML page from the folder of a fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from otherhalf.cli.console import print_result
from otherhalf.cli.options import Json

HTML = (".html", ".htm")
"""Endings of a page."""


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `fit --out` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(help="The page to write; default: report.html in the folder.", show_default=False),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: Json = False,
) -> None:
    """Write one HTML page about a fit: the graph, its halves, the classifier, its errors, and why.

    The page needs no network and no other file: send it to anyone.
    """
    from otherhalf.report.page import render
    from otherhalf.report.stored import read_content
    from otherhalf.system.atomic import check_place

    content = read_content(folder)
    path = folder / "report.html" if out is None else out
    check_place(path, HTML)
    size = write_page(path, render(content))
    if show:
        typer.launch(str(path.resolve()))
    print_result({"out": str(path), "bytes": size}, f"{path} is the report: {size / 1e6:.1f} MB.", as_json)


def write_page(path: Path, text: str) -> int:
    """Write a page; return its size in bytes."""
    from otherhalf.system.atomic import atomic_write

    page = text.encode("utf-8")
    with atomic_write(path) as temporary:
        temporary.write_bytes(page)
    return len(page)
