"""What the README shows runs as it stands."""

from pathlib import Path

import pandas as pd
import pytest
from tests.pages import ROOT, blocks, commands, run_command, run_python, write_tables

README = blocks(ROOT / "README.md")
PYTHON = [block.code for block in README if block.language == "python"]


def test_the_python_example_is_ten_lines():
    assert len([line for line in PYTHON[0].splitlines() if line]) == 10


@pytest.mark.parametrize("number", [0, 1])
def test_python_blocks_run(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run_python(PYTHON[number], {}, "README.md")
    if number == 0:
        assert (tmp_path / "run" / "model.json").is_file()
        assert "heterophily-prone" in printed


def test_own_tables(tmp_path, monkeypatch):
    names, fields = write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    (shown,) = [list(commands(block)) for block in README if block.language == "sh" and not block.not_run]
    assert [words[1] for words in shown] == ["inspect", "diagnose", "complement", "fit", "predict", "report"]
    for words in shown:
        run_command(words)

    found = pd.read_csv("predictions.csv")
    assert found["paper"].tolist() == names[:10].tolist()  # those whose field is not known
    assert (found["prediction"] == fields[:10]).mean() >= 0.7
    everyone = pd.read_csv("run/predictions.csv")
    assert everyone["paper"].tolist() == names.tolist()
    assert set(everyone["prediction"]) == {"biology", "physics"}
    assert set(pd.read_csv("half.csv")["source"]) <= set(names)
    assert "otherhalf report" in Path("page.html").read_text(encoding="utf-8")
    assert {"model.json", "result.json", "predictions.csv", "half.csv"} <= {
        path.name for path in Path("run").iterdir()
    }
