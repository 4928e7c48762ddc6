"""The pages of the documentation: their blocks of code, their links, and how the blocks are run.

A block is run unless the line before it says why not, as in ``<!-- not run: it needs data sets -->``. The
blocks of a page share their names and a folder, in which there are ``nodes.csv``, ``edges.csv`` and
``examples``. A ``text`` block after a block is what that prints, after commands what the last of them prints;
``…`` in it stands for anything.
"""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from otherhalf.cli.commands import main
from otherhalf.data.synthetic import contextual_sbm

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    ROOT / "examples" / "README.md",
    *sorted(page for page in DOCS.rglob("*.md") if "tutorials" not in page.parts),
]

_FENCE = re.compile(r"^(```+)(?P<language>[^\n`]*)\n(?P<code>.*?)^\1$", re.DOTALL | re.MULTILINE)
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\n\Z")
_LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A block of code of a page; ``not_run`` is the reason why it is not run, if there is one."""

    language: str
    code: str
    not_run: str = ""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in their order."""
    text = text_of(page)
    found = []
    for fence in _FENCE.finditer(text):
        reason = _NOT_RUN.search(text[: fence.start()])
        found.append(Block(fence["language"].split(" ")[0], fence["code"], reason[1] if reason else ""))
    return found


def links(page: Path) -> list[str]:
    """Return the targets of the links and pictures of a page, without those in code."""
    text = re.sub(r"`[^`\n]+`", "", _FENCE.sub("", text_of(page)))
    return _LINK.findall(text)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text_of(page)), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def write_tables(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Write the tables that pages speak of: papers, the field of ten of which is not known.

    Return the names of all papers and their true fields.
    """
    graph = contextual_sbm(num_nodes=200, num_classes=2, num_features=4, seed=0)
    names = np.array([f"p{i}" for i in range(graph.num_nodes)])
    fields = np.array(["biology", "physics"])[graph.y]
    nodes = pd.DataFrame(graph.x, columns=["a", "b", "c", "d"])
    nodes.insert(0, "paper", names)
    nodes["field"] = fields
    nodes.loc[:9, "field"] = ""
    nodes.to_csv(folder / "nodes.csv", index=False)
    ends = {"from": names[graph.edges[0]], "to": names[graph.edges[1]]}
    pd.DataFrame(ends).to_csv(folder / "edges.csv", index=False)
    return names, fields


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the words of each command of a block, without comments."""
    for line in block.code.splitlines():
        if words := shlex.split(line, comments=True):
            yield words


def run_page(found: list[Block], page: Path) -> None:
    """Run the blocks of a page, in the present folder."""
    module = ModuleType("page")
    printed = None
    for number, block in enumerate(found):
        if block.not_run:
            printed = None
        elif block.language == "python":
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(sys.modules, module.__name__, module)  # where pickle looks for its classes
                printed = run_python(block.code, vars(module), f"{page.name}, block {number}")
        elif block.language == "sh":
            printed = [run_command(words) for words in commands(block)][-1]
        elif block.language == "text" and printed is not None:
            check_printed(block.code, printed)
            printed = None


def run_python(code: str, names: dict[str, Any], title: str) -> str:
    """Run a block and the tests that it defines; return what it prints."""
    before = set(names)
    with redirect_stdout(StringIO()) as out:
        exec(compile(code, title, "exec"), names)
        for name in names.keys() - before:
            if name.startswith("test_"):
                names[name]()
    return out.getvalue()


def run_command(words: list[str]) -> str:
    """Run a command as a shell would, in this process, and return what it prints; fail if it does."""
    assert words[0] == "otherhalf", f"only commands of otherhalf are run, not {words[0]}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        patch.setenv("COLUMNS", "80")
        with redirect_stdout(StringIO()) as out, pytest.raises(SystemExit) as leaving:
            main()
        assert not leaving.value.code, shlex.join(words)
        return out.getvalue()


def check_printed(expected: str, printed: str) -> None:
    """Compare what a block printed with what the page shows."""
    checker = doctest.OutputChecker()
    wanted = expected.replace("…", "...")
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    same = checker.check_output(wanted, printed, options)
    assert same, f"the page shows {expected!r}, and it is {printed!r}"
