"""What the README shows runs as it stands."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from otherhalf.cli.commands import main
from otherhalf.data.synthetic import contextual_sbm

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_example_is_ten_lines():
    assert len([line for line in blocks("python")[0].splitlines() if line]) == 10


@pytest.mark.parametrize("number", [0, 1])
def test_python_blocks_run(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks("python")[number], "README.md", "exec"), {})
    if number == 0:
        assert (tmp_path / "run" / "model.json").is_file()
        assert "heterophily-prone" in capsys.readouterr().out


def test_own_tables(tmp_path, monkeypatch, capsys):
    graph = contextual_sbm(num_nodes=200, num_classes=2, num_features=4, seed=0)
    names = np.array([f"p{i}" for i in range(graph.num_nodes)])
    nodes = pd.DataFrame(graph.x, columns=["a", "b", "c", "d"])
    nodes.insert(0, "paper", names)
    nodes["field"] = np.array(["biology", "physics"])[graph.y]
    nodes.loc[:9, "field"] = ""  # ten papers whose field is not known
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    ends = {"from": names[graph.edges[0]], "to": names[graph.edges[1]]}
    pd.DataFrame(ends).to_csv(tmp_path / "edges.csv", index=False)
    monkeypatch.chdir(tmp_path)

    commands = [shlex.split(line, comments=True) for line in blocks("sh")[1].splitlines() if line]
    names_of_commands = [words[1] for words in commands]
    assert names_of_commands == ["inspect", "diagnose", "complement", "fit", "predict", "report"]
    for words in commands:
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as leaving:
            main()
        assert not leaving.value.code, capsys.readouterr().err

    found = pd.read_csv("predictions.csv")
    assert found["paper"].tolist() == names[:10].tolist()  # those whose field is not known
    truth = np.array(["biology", "physics"])[graph.y]
    assert (found["prediction"] == truth[:10]).mean() >= 0.7
    everyone = pd.read_csv("run/predictions.csv")
    assert everyone["paper"].tolist() == names.tolist()
    assert set(everyone["prediction"]) == {"biology", "physics"}
    assert set(pd.read_csv("half.csv")["source"]) <= set(names)
    assert "otherhalf report" in Path("page.html").read_text(encoding="utf-8")
    assert {"model.json", "result.json", "predictions.csv", "half.csv"} <= {
        path.name for path in Path("run").iterdir()
    }


def test_the_files_it_points_to_exist():
    root = Path(__file__).parent.parent
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", README):
        assert (root / target).is_file(), target
