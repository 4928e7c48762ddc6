"""The pages of the documentation: every block of code runs, every link leads somewhere."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys

import pytest
import typer
from tests.pages import (
    DOCS,
    PAGES,
    ROOT,
    Block,
    anchors,
    blocks,
    commands,
    links,
    run_page,
    text_of,
    write_tables,
)

import otherhalf
from otherhalf.cli.commands import app

NOT_RUN = {
    "it needs data sets": r"reproduce|search|datasets|\bcora\b|chameleon",
    "it installs packages": r"\bmake|pip",
    "it needs two machines": r"/shared/",
    "it needs a cluster": r"ray://",
    "another test does": r"examples/messy",  # tests/test_examples.py
}
"""Why a block may not be run, and what a block must have for this to be true."""

OWN_TEST = {"README.md": "tests/test_readme.py"}
"""Pages whose blocks another test runs."""

LANGUAGES = {"python", "sh", "text", "{toctree}", "{eval-rst}", "{include}"}
HOSTS = {"arxiv.org", "docs.ray.io", "keepachangelog.com", "semver.org", "www.debian.org", "wiki.debian.org"}
"""Hosts of links to the outside: there is no network in the tests, so they are few and stable."""

REFERENCE = {
    "otherhalf": otherhalf.__all__,
    "otherhalf.nn": importlib.import_module("otherhalf.nn").__all__,
    "otherhalf.testing": importlib.import_module("otherhalf.testing").__all__,
    "otherhalf.pyg": ["AddMissingHalf", "NeighbourSampler"],
    "otherhalf.spectral": ["SpectralRange", "filter_accuracy", "spectral_range"],
}
NAMES = [(module, name) for module, names in REFERENCE.items() for name in names]


def title(page):
    return str(page.relative_to(ROOT))


RUN = [page for page in PAGES if any(block.language in ("python", "sh") for block in blocks(page))]


# ---------------------------------------------------------------------- code


@pytest.mark.parametrize("page", [page for page in RUN if title(page) not in OWN_TEST], ids=title)
def test_blocks_run(page, tmp_path, monkeypatch):
    write_tables(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    run_page(blocks(page), page)


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_every_block_has_a_language(page):
    assert {block.language for block in blocks(page)} <= LANGUAGES


@pytest.mark.parametrize("page", RUN, ids=title)
def test_a_block_that_is_not_run_has_a_true_reason(page):
    for block in blocks(page):
        if block.not_run:
            assert re.search(NOT_RUN[block.not_run], block.code), block.code


@pytest.mark.parametrize("page", RUN, ids=title)
def test_commands_that_are_not_run_have_options_that_exist(page):
    program = typer.main.get_command(app)
    for block in blocks(page):
        if block.not_run and block.language == "sh":
            for words in commands(block):
                if words[0] == "otherhalf":
                    # Raises what the user would see.
                    program.commands[words[1]].make_context(words[1], words[2:])
        elif block.not_run:
            compile(block.code, page.name, "exec")


def test_a_wrong_output_would_be_noticed(tmp_path):
    page = [Block("python", "print(1 + 1)\n"), Block("text", "3\n")]
    with pytest.raises(AssertionError, match="the page shows"):
        run_page(page, tmp_path / "page.md")
    run_page([page[0], Block("text", "…\n")], tmp_path / "page.md")


# ---------------------------------------------------------------------- links


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_links_lead_somewhere(page):
    for target in links(page):
        if re.match(r"\w+:", target):
            assert re.fullmatch(r"https://([\w.-]+)(/\S*)?", target), target
            assert target.split("/")[2] in HOSTS, target
            continue
        name, _, anchor = target.partition("#")
        place = (page.parent / name).resolve() if name else page
        assert place.exists(), f"{title(page)} points to {target}"
        if anchor:
            assert anchor in anchors(place), f"{title(page)} points to {target}"


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in blocks(page):
            if block.language == "{toctree}":
                names = [line for line in block.code.splitlines() if line and not line.startswith(":")]
                listed |= {page.parent / f"{name}.md" for name in names}
    assert {page for page in PAGES if DOCS in page.parents} <= listed


def test_the_summary_for_language_models():
    summary = text_of(DOCS / "llms.txt")
    targets = re.findall(r"\]\(([^)]+)\.html\)", summary)
    made = {f"tutorials/{path.stem}" for path in (DOCS / "gallery").glob("*.py")} | {"tutorials/index"}
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES if DOCS in page.parents}
    assert set(targets) <= pages | made
    assert pages - set(targets) == {"index", "concepts/index", "howto/index", "reference/index"}
    assert summary.count("](") == len(targets)
    for name in re.findall(r"\boh\.([A-Za-z_]+)", summary):
        assert name in otherhalf.__all__
    told = set(re.findall(r"^- otherhalf (\w+)", summary, flags=re.MULTILINE))
    assert told <= set(typer.main.get_command(app).commands)


# ---------------------------------------------------------------------- reference


def sections():
    """The text of each section of the reference, by its heading."""
    found = {}
    for page in (DOCS / "reference").glob("*.md"):
        found |= {
            part.partition("\n")[0]: part for part in re.split(r"^## ", text_of(page), flags=re.MULTILINE)[1:]
        }
    return found


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_public_name_has_an_example(module, name):
    section = sections()[name]
    assert re.search(rf"^\.\. auto\w+:: {re.escape(module)}\.{name}$", section, flags=re.MULTILINE)
    example = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert re.search(rf"\b{name}\b", example[1])


def test_the_public_names_of_modules_without_a_list():
    for module in ("otherhalf.pyg", "otherhalf.spectral"):
        members = vars(importlib.import_module(module)).items()
        own = {name for name, value in members if getattr(value, "__module__", "") == module}
        assert {name for name in own if not name.startswith("_")} == set(REFERENCE[module])


def test_the_page_of_commands_has_them_all():
    page = text_of(DOCS / "reference" / "commands.md")
    assert set(re.findall(r"^\| `otherhalf (\w+)", page, flags=re.MULTILINE)) == set(
        typer.main.get_command(app).commands
    )
    options = {
        option
        for command in typer.main.get_command(app).commands.values()
        for each in command.params
        for option in each.opts
    }
    assert set(re.findall(r"`(--[a-z-]+)", page)) - {"--help"} <= options


# ---------------------------------------------------------------------- what pages claim


def messages():
    """Every text of the source, with ``…`` in the place of what is put in."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_quoted_message_exists():
    page = text_of(DOCS / "symptoms.md").partition("## No message")[0]
    quoted = [quote for _, quote in re.findall(r"^\| (``?)(.+?)\1 \| ", page, flags=re.MULTILINE)]
    assert len(quoted) > 60
    known = "\n".join(messages())
    for fragment in quoted:
        pattern = ".*".join(map(re.escape, fragment.split("…")))
        assert re.search(pattern, known), (
            f"docs/symptoms.md quotes {fragment!r}, which no message has: correct it"
        )


@pytest.mark.parametrize(
    "name", ["when_not.md", "traps.md", "concepts/complementation.md", "concepts/two_halves.md"]
)
def test_figures_are_those_of_the_results(name):
    results = text_of(DOCS / "results.md")
    prose = re.sub(r"```.*?```", "", text_of(DOCS / name), flags=re.DOTALL)
    for figure in re.findall(r"\b\d+\.\d\d\b", prose):
        assert figure in results, f"{name} has {figure}"


# ---------------------------------------------------------------------- Sphinx

WITHOUT = "needs `pip install 'otherhalf[docs]'`"


def test_the_pages_build_and_the_tutorials_run_without_a_warning(tmp_path):
    pytest.importorskip("sphinx_gallery", reason=WITHOUT)
    copy = tmp_path / "copy"
    shutil.copytree(DOCS, copy / "docs", ignore=shutil.ignore_patterns("tutorials"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples", "results", "src"):
        (copy / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-b", "dummy"]
    environment = {name: value for name, value in os.environ.items() if name != "OTHERHALF_DATA"}
    done = subprocess.run(
        [*command, copy / "docs", tmp_path / "out"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    made = (copy / "docs" / "tutorials").glob("*.rst")
    assert {page.stem for page in made} == {"index", *(path.stem for path in (DOCS / "gallery").glob("*.py"))}


def test_the_index_of_an_accented_symbol_stands_behind_it(monkeypatch):
    pytest.importorskip("sphinx", reason=WITHOUT)
    monkeypatch.syspath_prepend(DOCS / "_ext")
    mathml = importlib.import_module("mathml").mathml
    assert re.search(
        "<msub>.*<mover.*A.*ˆ.*</mover>.*<mi>o</mi>.*</msub>", mathml(r"\hat{A}_o", block=False), re.DOTALL
    )
    assert "munderover" in mathml(r"\sum_{i}^{n} i", block=True)  # limits stay above and below
