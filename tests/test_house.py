"""The structure of the package: modules in place, imports in one direction, mirrored tests, plain words."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "otherhalf"

LINES = [
    ("errors", "system"),
    ("graph",),
    ("data",),
    ("diagnosis",),
    ("nn",),
    ("training",),
    ("complement",),
    ("cluster",),
    ("estimators",),
    ("pyg", "spectral"),
    ("testing",),
    ("report",),
    ("experiments",),
    ("cli",),
]
"""The design's list: a module imports only from its own line and the lines above it."""

OUTSIDE = ("testing", "experiments", "report", "cli")
"""What the library itself never imports."""

CONVENIENCES = {
    ("otherhalf.graph", "otherhalf.data.convert"): "Graph.from_pyg, from_networkx and from_scipy",
    ("otherhalf.graph", "otherhalf.data.npz"): "Graph.to_npz",
    ("otherhalf.graph", "otherhalf.data.graph_html"): "a Graph in a notebook",
    ("otherhalf.estimators.goal", "otherhalf.report.notebook"): "GOALClassifier.report",
}
"""Imports inside functions that point downwards, and why: users expect these methods on the value."""


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    named = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of this package that a file imports, inside functions too, but not for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} has a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & known.keys() or {node.module}
    return {name for name in found if name.split(".")[0] == "otherhalf"}


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """What every module imports, less the conveniences."""
    known = modules()
    return {
        name: {other for other in imports(path, known) if (name, other) not in CONVENIENCES}
        for name, path in known.items()
        if name not in ("otherhalf", "otherhalf.__main__")  # the public names, looked up when they are used
    }


def line_of(module: str) -> int:
    room = module.split(".")[1]
    return next(index for index, line in enumerate(LINES) if room in line)


def cycle(graph: dict[str, set[str]]) -> list[str] | None:
    """One cycle of imports, if there is any."""
    state: dict[str, str] = {}

    def visit(name: str, way: list[str]) -> list[str] | None:
        state[name] = "open"
        for other in sorted(graph.get(name, ())):
            if state.get(other) == "open":
                return [*way, name, other]
            if other not in state and (closed := visit(other, [*way, name])):
                return closed
        state[name] = "done"
        return None

    for name in graph:
        if name not in state and (closed := visit(name, [])):
            return closed
    return None


# ---------------------------------------------------------------------- the tree


def test_the_root_holds_only_what_the_design_puts_there():
    files = {path.name for path in SOURCE.iterdir() if path.is_file()}
    assert files == {
        "__init__.py",
        "__main__.py",
        "errors.py",
        "graph.py",
        "py.typed",
        "pyg.py",
        "spectral.py",
    }
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms | {Path(name).stem for name in files} - {"__init__", "__main__", "py"} == {
        room for line in LINES for room in line
    }


def test_every_test_mirrors_a_module_and_every_module_has_its_test():
    expected = set()
    for name, path in modules().items():
        if path.name not in ("__init__.py", "__main__.py"):
            *rooms, module = name.split(".")[1:]
            expected.add("/".join([*rooms, f"test_{module}.py"]))
    tests = {str(path.relative_to(ROOT / "tests")) for path in (ROOT / "tests").rglob("test_*.py")}
    in_rooms = {path for path in tests if "/" in path and not path.startswith("campaign/")}
    assert sorted(expected - tests) == []
    assert sorted(in_rooms - expected - EVIDENCE) == []


EVIDENCE = {"experiments/test_record_keys.py"}
"""Tests of the records, which mirror no module."""


def test_no_file_holds_two_ideas():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in SOURCE.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 320
    }
    assert long == {}


# ---------------------------------------------------------------------- imports


def test_imports_go_up_only(graph):
    down = [
        (name, other) for name, others in graph.items() for other in others if line_of(other) > line_of(name)
    ]
    assert down == []


def test_no_cycle_of_imports(graph):
    assert cycle(graph) is None


def test_the_library_does_not_know_what_is_made_with_it(graph):
    wrong = [
        (name, other)
        for name, others in graph.items()
        for other in others
        if name.split(".")[1] not in OUTSIDE and other.split(".")[1] in OUTSIDE
    ]
    assert wrong == []


def test_the_runner_does_not_know_what_it_runs(graph):
    others = tuple(
        f"otherhalf.experiments.{name}" for name in ("paper", "tuning", "tasks", "workbench", "compare")
    )
    wrong = [
        (name, other)
        for name, imported in graph.items()
        for other in imported
        if name.startswith("otherhalf.experiments.runner.") and other.startswith(others)
    ]
    assert wrong == []


def test_the_exceptions_are_still_needed():
    known = modules()
    for name, other in CONVENIENCES:
        assert other in imports(known[name], known)


def test_a_cycle_would_be_noticed():
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


# ---------------------------------------------------------------------- words

GONE = [
    *(
        r"\bSkeleton\b",
        r"\bShape\b",
        r"\bLab\b",
        r"\bSubject\b",
        r"\bWALKS\b",
        r"\bwalks_of\b",
        r"\bWITH_ROWS\b",
    ),
    *(
        r"\bPAPERS\b",
        r"\bRIVALS\b",
        r"\bOWN\b(?! =)",
        r"\baside\b",
        r"\bput down\b",
        r"\bthe face\b",
        r"\bmanners\b",
    ),
    *(
        r"\bat the door\b",
        r"\bTold \(",
        r"\bplain_job\b",
        r"\bplain_number\b",
        r"\bread_found\b",
        r"\bown_folder\b",
    ),
    *(r"\b(the|same|whose) frame\b", r"\bframes\b", r"\bfit_classifier\b", r"\bboth_halves\b"),
    *(r"\bhalf a (file|model|table)\b", r"\bsettle\(", r"\ba say\b", r"\bencoder's say\b"),
]
"""Words of earlier versions that have one plain name now."""


def test_the_old_words_are_gone():
    hits = defaultdict(list)
    files = [*SOURCE.rglob("*.py"), *(ROOT / "examples").glob("*.py"), *(ROOT / "scripts").glob("*.py")]
    for path in [*files, *(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]:
        if path.name in ("results.md", "trials.md", "CHANGELOG.md"):  # records of what was
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for word in GONE:
                if re.search(word, line):
                    hits[word].append(f"{path.relative_to(ROOT)}:{number}")
    assert dict(hits) == {}


def test_the_page_for_contributors_shows_the_same_order():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = page.split("src/otherhalf/\n")[1].split("\n\n")[0]
    shown = [re.findall(r"([a-z]+)(?:/|\.py)", line[:26]) for line in tree.splitlines()]
    assert shown == [list(line) for line in LINES]
