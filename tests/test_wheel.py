"""The wheel holds all that a user needs: it works away from the repository."""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRY_EMPTY = "OTHERHALF_EMPTY_ENVIRONMENT"


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this tree, built with the builder that is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # building writes into the tree
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, source)
    (built,) = folder.glob("otherhalf-*.whl")
    return built


def fit_and_report(python, folder, environment):
    """Fit and write a page with an installed package; return where that package is."""
    command = [python, "-m", "otherhalf"]
    data = "csbm:nodes=120,classes=2,features=4"
    told = run(*command, "fit", data, "--fast", "--out", "run", "--json", cwd=folder, env=environment)
    assert 0 <= json.loads(told)["test_accuracy"] <= 1
    run(*command, "report", "run", "--out", "page.html", cwd=folder, env=environment)
    assert "</html>" in (folder / "page.html").read_text(encoding="utf-8")
    where = "import otherhalf; print(otherhalf.__file__)"
    return Path(run(python, "-c", where, cwd=folder, env=environment).strip())


def test_every_file_of_the_package_is_in_it(wheel):
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("otherhalf/")}
    kept = [path for path in (ROOT / "src" / "otherhalf").rglob("*") if path.is_file()]
    ours = {str(path.relative_to(ROOT / "src")) for path in kept if "__pycache__" not in path.parts}
    assert inside == ours
    assert {"otherhalf/py.typed", "otherhalf/report/assets/explorer.js"} <= inside


def test_it_fits_and_reports_away_from_the_repository(wheel, tmp_path):
    """Beside the dependencies of this environment, but not with its source."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    (tmp_path / "work").mkdir()
    used = fit_and_report(sys.executable, tmp_path / "work", environment)
    assert used.is_relative_to(tmp_path / "installed")


@pytest.mark.skipif(
    TRY_EMPTY not in os.environ, reason=f"downloads every dependency; `make wheel` sets {TRY_EMPTY}=1"
)
def test_it_fits_and_reports_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    (tmp_path / "work").mkdir()
    used = fit_and_report(python, tmp_path / "work", environment)
    assert used.is_relative_to(tmp_path / "empty")
