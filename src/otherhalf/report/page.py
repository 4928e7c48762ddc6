"""The pages of reports: HTML files that need no network and no other file.

The templates escape every text. A page allows its own scripts, by their hashes, and no request: a text of the
user's data that were read as markup still could not run or load anything.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from otherhalf.report.drawings import drawings
from otherhalf.report.filters import FILTERS
from otherhalf.system.version import VERSION

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that could end a script or a line of it, and their names in JSON."""


def render(content: dict[str, Any]) -> str:
    """Return the page of a fit, from a content that :mod:`otherhalf.report.stored` has checked."""
    explored = {"classes": content["graph"]["classes"], **content["explorer"]}
    parts = {"charts": drawings(content), "data": json_in_script(explored)}
    return _page("fit.html", ("page.js", "explorer.js"), content["made"]["version"], **content, **parts)


def render_tables(
    title: str,
    tables: Sequence[dict[str, Any]],
    *,
    command: str = "",
    chart: Markup | None = None,
    chart_note: str = "",
    images: Sequence[dict[str, Any]] = (),
) -> str:
    """Return the page of experiments.

    Args:
        title: Title of the page.
        tables: Each with ``title``, ``columns``, ``rows`` and ``notes``; text may have ``**bold**`` parts.
        command: The command that made them.
        chart: A chart below the tables.
        chart_note: What it shows.
        images: Pictures, each with ``title`` and ``data``: the bytes of a PNG file.
    """
    coded = [
        {"title": each["title"], "data": base64.b64encode(each["data"]).decode("ascii")} for each in images
    ]
    parts = {"command": command, "chart": chart, "chart_note": chart_note, "images": coded}
    return _page("tables.html", ("page.js",), VERSION, title=title, tables=tables, **parts)


def render_search(content: Mapping[str, Any], chart: Markup) -> str:
    """Return the page of a search over settings, from what :mod:`otherhalf.report.tuned` puts together."""
    return _page("tuned.html", ("page.js",), VERSION, **content, chart=chart)


def policy(*scripts: str) -> str:
    """Return the content security policy of a page with these scripts alone."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )


def json_in_script(value: Any) -> Markup:
    """Return a value as JSON that is safe between script tags."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, name in UNSAFE.items():
        text = text.replace(character, name)
    return Markup(text)  # no character of it can begin a tag


def asset(name: str) -> str:
    """Return the text of a template, a style sheet or a script of this package."""
    return files("otherhalf.report").joinpath("assets", name).read_text(encoding="utf-8")


def _page(template: str, scripts: Sequence[str], version: str, **values: Any) -> str:
    codes = [asset(name) for name in scripts]
    text = (
        _environment()
        .get_template(template)
        .render(
            **values,
            version=version,
            policy=policy(*codes),
            style=Markup(asset("style.css")),
            scripts=[Markup(code) for code in codes],  # as they are: the policy has the hashes of these bytes
        )
    )
    # One half of a pair of surrogates, as a damaged id may have, is no text.
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    return environment
