"""What the README shows runs as it stands."""

from pathlib import Path

import pandas as pd
from tests.pages import ROOT, blocks, commands, run_command, run_python, write_tables

README = blocks(ROOT / "README.md")
PYTHON = [block.code for block in README if block.language == "python"]


def test_the_python_example_is_ten_lines():
    assert len([line for line in PYTHON[0].splitlines() if line]) == 10


def test_the_python_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = PYTHON
    printed = run_python(example, {}, "README.md")
    assert (tmp_path / "run" / "model.json").is_file()
    assert "heterophily-prone" in printed


def test_the_commands_run(tmp_path, monkeypatch):
    names, fields = write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    (shown,) = [list(commands(block)) for block in README if block.language == "sh" and not block.not_run]
    assert [words[1] for words in shown] == ["fit", "report"]
    for words in shown:
        run_command(words)
    found = pd.read_csv("run/predictions.csv")
    assert found["paper"].tolist() == names.tolist()
    assert (found["prediction"] == fields)[:10].mean() >= 0.7  # those whose field is not known
    assert set(pd.read_csv("run/half.csv")["source"]) <= set(names)
    assert "</html>" in Path("page.html").read_text(encoding="utf-8")


def test_it_is_one_screen():
    """Tables and code included; a screen of a desktop scrolls twice at most."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 70
