"""The promises of SECURITY.md that can be tried on the package as a whole."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "otherhalf"

DANGEROUS = {"eval", "exec", "os.system", "os.popen", "torch.load", "pickle.load", "pickle.loads"}
"""Calls that can run what a file says."""

PICKLE = {
    "cluster/remote.py": "what the driver of a cluster sends to its workers, which run its code anyhow",
    "data/formats/old_pickle.py": "Planetoid's originals, with an unpickler of its own",
    "estimators/in_processes.py": "a fitted graph that this process sends to its own workers",
    "system/compiled.py": "the error of numba's own cache, which is code and no data",
    "system/workers.py": "what a process and its own workers send each other, through their own pipe",
    "testing/checks.py": "whether an estimator survives a copy in memory",
}
"""The modules that may name pickle, and why."""


def trees():
    for path in SOURCE.rglob("*.py"):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_pickle_is_named_where_it_is_needed_and_nowhere_else():
    modules = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
    found = set()
    for name, tree in trees():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if modules & {each.split(".")[0] for each in names}:
                found.add(name)
    assert found == set(PICKLE)


def test_nothing_that_runs_what_a_file_says_is_called():
    calls = {
        (name, ast.unparse(node.func))
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in DANGEROUS
    }
    assert calls == {
        ("testing/checks.py", "pickle.loads"),  # of what it has just written
        ("cluster/remote.py", "pickle.loads"),  # of what the driver sent, not of a file
        ("estimators/in_processes.py", "pickle.loads"),  # of what this process sends to its workers
        ("system/workers.py", "pickle.loads"),  # likewise, and of what they answer
    }


def test_arrays_are_read_without_pickles():
    for name, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load"):
                options = {option.arg: ast.unparse(option.value) for option in node.keywords}
                assert options.get("allow_pickle", "False") == "False", name
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert ast.unparse(node.value) == "False", name


WATCHED = """
import json, os, sys
events = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        mode, flags = arguments[1] or "", arguments[2] or 0
        if set(mode) & set("wax+") or flags & (os.O_WRONLY | os.O_RDWR):
            events.append(["write", os.path.abspath(os.fsdecode(arguments[0]))])
    elif event in ("socket.connect", "socket.getaddrinfo", "os.system", "subprocess.Popen"):
        events.append([event, str(arguments[-1])])
sys.addaudithook(watch)
from otherhalf.cli import main
for words in (["fit", "nodes.csv,edges.csv", "--fast", "--out", "run"],
              ["predict", "run", "nodes.csv,edges.csv", "--out", "predictions.csv"]):
    sys.argv = ["otherhalf", *words]
    try:
        main()
    except SystemExit as stop:
        assert stop.code in (0, None), stop.code
with open("events.json", "w") as file:
    json.dump(events, file)
"""
"""A fit and a prediction; Python tells every file, address and process that they open."""


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    rows = [f"n{i},{i % 3},{i * i % 7},{'ab'[i % 2]}" for i in range(24)]
    (folder / "nodes.csv").write_text("\n".join(["id,x,z,label", *rows, ""]))
    edges = [f"n{i},n{(i + step) % 24}" for i in range(24) for step in (1, 2)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges, ""]))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for name, place in (("HOME", "home"), ("TMPDIR", "temporary")):
        (folder / place).mkdir()
        environment[name] = str(folder / place)
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads((folder / "events.json").read_text())


def test_a_fit_and_a_prediction_write_where_they_were_told_to(events):
    folder, seen = events
    given = {"nodes.csv", "edges.csv", "home", "temporary", "events.json"}
    assert {path.name for path in folder.iterdir()} - given == {"run", "predictions.csv"}
    left = [*(folder / "home").rglob("*"), *(folder / "temporary").rglob("*")]
    assert [path for path in left if path.is_file()] == []  # torch leaves an empty folder
    written = {Path(path) for event, path in seen if event == "write"}
    outside = {path for path in written if not path.is_relative_to(folder)} - {Path(os.devnull)}
    assert {path for path in outside if "__pycache__" not in path.parts} == set()  # compiled code


def test_a_fit_and_a_prediction_use_no_network(events):
    assert [event for event in events[1] if event[0].startswith("socket")] == []


def test_every_test_and_option_that_the_page_names_exists():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for path in re.findall(r"`(tests/[\w/.]+)`", page):
        assert (ROOT / path).exists(), path
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    for name in re.findall(r"`(OTHERHALF_\w+|--[\w-]+)`", page):
        assert name.removeprefix("--").replace("-", "_") in source, name
