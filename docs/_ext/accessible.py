"""What the theme leaves out for keyboards and screen readers, put into every page that was written."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

CHANGES = [
    (r'(<p class="caption" role="heading")>', r'\1 aria-level="2">'),
    (r'(<aside class="sidebar-drawer")>', r'\1 aria-label="Pages">'),
    (r'(<aside class="toc-drawer")>', r'\1 aria-label="On this page">'),
    (r'(<pre|<div class="formula"|<div class="table-wrapper [^"]*")>', r'\1 tabindex="0">'),
    (r'<th class="head"><p></p></th>', '<td class="head"><p></p></td>'),
    (r'(<a class="reference internal" href="[^"]*")(><span class="doc">([^<]*)<)', r'\1 aria-label="\3"\2'),
]
"""Patterns and what takes their places: what scrolls can be reached by a key, and everything has a name."""


def complete(app: Sphinx, error: Exception | None) -> None:
    """Change the pages, if they were written."""
    if error is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for pattern, wanted in CHANGES:
            text = re.sub(pattern, wanted, text)
        page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Complete the pages in the end."""
    app.connect("build-finished", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
