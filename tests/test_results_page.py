"""docs/results.md, its figures and the table of the README agree with the records."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "results_page.py"
PAGES = ("docs/results.md", "README.md")


def run(script, *words):
    return subprocess.run([sys.executable, script, *words], capture_output=True, text=True)


def test_the_page_is_not_stale():
    done = run(SCRIPT, "--check")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def copy(tmp_path):
    """A copy of the script and of its pages, with an empty store."""
    for folder in ("scripts", "docs", "results/runs", "results/figures"):
        (tmp_path / folder).mkdir(parents=True)
    script = tmp_path / "scripts" / SCRIPT.name
    script.write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    for name in PAGES:
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    return script


@pytest.mark.parametrize(
    ("name", "cell", "other"),
    [
        ("docs/results.md", "| MLP | – |", "| MLP | 99.00 |"),
        ("README.md", "| 88.75 | – |", "| 88.75 | 99.00 |"),
    ],
)
def test_a_stale_page_fails(copy, name, cell, other):
    page = copy.parents[1] / name
    assert run(copy).returncode == 0  # written from an empty store
    assert run(copy, "--check").returncode == 0
    text = page.read_text(encoding="utf-8")
    assert cell in text
    page.write_text(text.replace(cell, other, 1), encoding="utf-8")
    done = run(copy, "--check")
    assert done.returncode == 1
    assert f"{page.name} is not what results/runs says: run python scripts/results_page.py" in done.stderr


def test_a_table_without_a_place(copy):
    page = copy.parents[1] / "docs" / "results.md"
    page.write_text(page.read_text(encoding="utf-8").replace("<!-- ablation -->", ""), encoding="utf-8")
    done = run(copy)
    assert done.returncode == 1
    assert "results.md has no place for ablation" in done.stderr


def test_a_stale_figure_fails(copy):
    root = copy.parents[1]
    shutil.copytree(ROOT / "results" / "runs" / "diagnose", root / "results" / "runs" / "diagnose")
    assert run(copy).returncode == 0
    assert run(copy, "--check").returncode == 0
    figure = root / "results" / "figures" / "cosine.svg"
    figure.write_text(figure.read_text(encoding="utf-8").replace("<path", "<g/><path", 1), encoding="utf-8")
    done = run(copy, "--check")
    assert done.returncode == 1
    assert "cosine.svg is not what results/runs says" in done.stderr
