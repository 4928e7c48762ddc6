"""The public names, and that neither importing them nor asking for help waits for torch."""

import importlib
import os
import subprocess
import sys
import time

import pytest

import otherhalf

HEAVY = ("torch", "torch_geometric", "sklearn", "pandas", "scipy", "matplotlib")


def python(code):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    seconds = time.perf_counter() - started
    assert done.returncode == 0, done.stderr
    return done.stdout, seconds


ASK_FOR_HELP = """
import sys
from otherhalf.cli.commands import main
sys.argv = ["otherhalf", {arguments}]
try:
    main()
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
"""


@pytest.mark.parametrize("name", otherhalf.__all__)
def test_every_name_resolves(name):
    assert getattr(otherhalf, name).__name__ == name
    assert name in dir(otherhalf)


def test_the_names_of_the_design():
    promised = {"load", "read_tables", "Graph", "split", "diagnose", "find_missing_half", "GOALClassifier"}
    assert promised <= set(otherhalf.__all__)
    assert otherhalf.GOALClassifier is importlib.import_module("otherhalf.estimators.goal").GOALClassifier


def test_other_names_do_not():
    with pytest.raises(AttributeError, match="module 'otherhalf' has no attribute 'GoalClassifier'"):
        otherhalf.GoalClassifier  # noqa: B018


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert otherhalf.__version__ == version("otherhalf")


def test_import_loads_nothing_heavy():
    out, _ = python(f"import sys, otherhalf; print([m for m in {HEAVY} if m in sys.modules])")
    assert out.strip() == "[]"


@pytest.mark.parametrize("arguments", ['"--help"', '"fit", "--help"'])
def test_help_loads_nothing_heavy(arguments):
    code = ASK_FOR_HELP.format(arguments=arguments) + f"print([m for m in {HEAVY} if m in sys.modules])"
    out, _ = python(code)
    assert out.strip().splitlines()[-1] == "[]"
    assert "Usage: otherhalf" in out


def test_help_takes_less_than_a_second():
    code = ASK_FOR_HELP.format(arguments='"--help"')
    assert min(python(code)[1] for _ in range(3)) < 1.0  # the best of three: other programs run as well


def test_help_names_every_command():
    out, _ = python(ASK_FOR_HELP.format(arguments='"--help"'))
    for command in ("diagnose", "complement", "fit", "predict", "datasets"):
        assert command in out


FIT = """
import sys
from otherhalf import GOALClassifier
print([m for m in sys.modules if m.startswith(("sklearn.ensemble", "sklearn.linear_model"))])
import numpy as np
from otherhalf import Graph, split
rng = np.random.default_rng(0)
edges = rng.integers(0, 40, (2, 120))
graph = Graph(x=rng.normal(size=(40, 5)), edges=edges, y=np.arange(40) % 2)
GOALClassifier({arguments}).fit(graph, split(graph, "uniform", seed=0))
print([m for m in {not_wanted} if m in sys.modules])
"""


@pytest.mark.parametrize(
    "arguments", ["fast=True", 'method="embedding", epochs=3, encoder={"kind": "gcn", "epochs": 3}']
)
def test_a_fit_loads_no_compiler_and_only_what_it_uses_of_scikit_learn(arguments):
    not_wanted = ("torch._dynamo", "torch._inductor", "torch_geometric", "sklearn.ensemble")
    out, _ = python(FIT.format(arguments=arguments, not_wanted=not_wanted))
    assert out.strip().splitlines() == ["[]", "[]"]
