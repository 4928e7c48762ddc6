"""The report of a model in a notebook, or written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from otherhalf.report.page import render
from otherhalf.system.atomic import atomic_write, check_place

if TYPE_CHECKING:
    from otherhalf.estimators.base import NodeClassifier
    from otherhalf.graph import Graph, Split

HTML = (".html", ".htm")
"""Endings of a page."""

HEIGHT = 760
"""Height of the page in a notebook, in pixels."""


@dataclass(frozen=True)
class Report:
    """A page about a fit: a notebook shows it, and :meth:`save` writes it.

    Attributes:
        content: What it shows, as JSON can have it.
    """

    content: dict[str, Any]

    @classmethod
    def of(cls, model: NodeClassifier, graph: Graph, split: Split) -> Self:
        """Return the report of a fitted model; ``graph`` and ``split`` are those of the fit."""
        from otherhalf.report.content import collect  # torch takes seconds to import

        return cls(collect(model, graph, split))

    @cached_property
    def html(self) -> str:
        """The page: one HTML file that loads nothing."""
        return render(self.content)

    def save(self, path: str | Path) -> Path:
        """Write the page to an ``.html`` file; return its path."""
        path = Path(path)
        check_place(path, HTML)
        with atomic_write(path) as temporary:
            temporary.write_bytes(self.html.encode("utf-8"))
        return path

    def __repr__(self) -> str:
        return f"Report of {self.content['name'] or 'a graph'}: .save('report.html') writes it"

    def _repr_html_(self) -> str:
        # The page runs its scripts, and reaches neither the notebook nor the network.
        style = f"width:100%;height:{HEIGHT}px;border:1px solid rgba(128,128,128,.35);border-radius:6px"
        return (
            f'<iframe title="Report" sandbox="allow-scripts" style="{style}" srcdoc="{escape(self.html)}">'
            "</iframe>"
        )
