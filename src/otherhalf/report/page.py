"""The page of a report: one HTML file that needs no network and no other file.

The template escapes every text. The page allows one script, by its hash, and no request: a text of the user's
data that were read as markup still could not run or load anything.
"""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from otherhalf.report.drawings import drawings

LONGEST = 80
"""Most characters of a name in a table; a longer one is cut."""

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that could end a script or a line of it, and their names in JSON."""


def render(content: dict[str, Any]) -> str:
    """Return the page of a content that :mod:`otherhalf.report.stored` has checked."""
    script = package_text("explorer.js")
    explored = {"classes": content["graph"]["classes"], **content["explorer"]}
    return _page(
        "template.html",
        content,
        charts=drawings(content),
        data=json_in_script(explored),
        script=script,
        policy=policy(script),
    )


def policy(script: str) -> str:
    """Return the content security policy of a page with this script alone."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def json_in_script(value: Any) -> Markup:
    """Return a value as JSON that is safe between script tags."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, name in UNSAFE.items():
        text = text.replace(character, name)
    return Markup(text)  # no character of it can begin a tag


def package_text(name: str) -> str:
    """Return the text of a file of this package."""
    return files("otherhalf.report").joinpath(name).read_text(encoding="utf-8")


def _page(template: str, content: dict[str, Any], **parts: Any) -> str:
    style = Markup(package_text("style.css"))
    # Scripts are ours, too, and must reach the page as the bytes that the policy has the hash of.
    parts["script"] = Markup(parts["script"])
    text = _environment().get_template(template).render(**content, **parts, style=style)
    # Half of a pair of surrogates, as a damaged id may have, is no text.
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(package_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": lambda value: "–" if value is None else f"{value:,}",
        "fixed": _fixed,
        "share": _share,
        "cut": cut,
        "seconds": lambda value: "–" if value is None else f"{value:,.1f} s",
        "nested": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    }
    return environment


def _fixed(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "\u2212")


def _share(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f}%"


def cut(text: Any, longest: int = LONGEST) -> str:
    """Return a text that a table has room for."""
    text = str(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
