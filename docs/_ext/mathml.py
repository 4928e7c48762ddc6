"""Formulas as MathML, which browsers draw themselves: a page needs no script and no network for them."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", NAMESPACE)


def mathml(tex: str, *, block: bool) -> str:
    """Return a formula as MathML."""
    written = latex2mathml.tex2mathml(tex.strip(), as_block=block).replace("&ApplyFunction;", "\u2061")
    formula = ElementTree.fromstring(written)
    for each in formula.iter(f"{{{NAMESPACE}}}munderover"):
        _index_after_accent(each)
    for each in formula.iter(f"{{{NAMESPACE}}}mo"):
        if each.text in ("{", "}"):
            each.set("stretchy", "false")  # those of a set are as high as a line
    return ElementTree.tostring(formula, encoding="unicode")


def _index_after_accent(each: ElementTree.Element) -> None:
    """Put the index of an accented symbol behind it: docutils puts that of Â_o below the A."""
    symbol, index, above = each
    if above.text in ("ˆ", "¯", "˜"):
        accented = ElementTree.Element(f"{{{NAMESPACE}}}mover", {"accent": "true"})
        accented.extend([symbol, above])
        each.tag = f"{{{NAMESPACE}}}msub"
        each[:] = [accented, index]


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula inside a line."""
    writer.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own; a wide one scrolls by itself."""
    writer.body.append(f'<div class="formula">{mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Make ``mathml`` a way to write formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
