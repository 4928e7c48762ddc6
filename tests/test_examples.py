"""The stories of the examples run end to end, and a messy table goes through three commands."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from otherhalf.experiments.runner.models import SIMPLE, title_of

EXAMPLES = Path(__file__).parent.parent / "examples"
MESSY = EXAMPLES / "messy"
OLD, AGAIN = "GOAL of Debian 11", "GOAL, fitted again"


def tell(story: str) -> str:
    """Return what a story prints."""
    command = [sys.executable, EXAMPLES / f"{story}.py", "--fast"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def scores(printed: str) -> dict[str, float]:
    """Return the rows of the table: title and score."""
    rows = re.findall(r"^   (\S.{61}) +(\d+\.\d)$", printed, flags=re.MULTILINE)
    return {title.strip(): float(score) for title, score in rows}


def check_table(table: dict[str, float], printed: str) -> None:
    assert set(table) == {"GOAL", "GOAL, numbers only", *map(title_of, SIMPLE)}
    assert table["GOAL"] > table["GOAL, numbers only"]
    assert table["GOAL"] > max(table[title_of(name)] for name in ("majority", "logistic-own", "boosted-own"))
    gain = re.search(r"are worth ([+-]\d+\.\d) points", printed)
    assert float(gain[1]) == pytest.approx(table["GOAL"] - table["GOAL, numbers only"], abs=0.11)


def test_mixed_columns():
    printed = tell("mixed_columns")
    check_table(scores(printed), printed)
    columns = dict(re.findall(r"^   (\w+) +(\w+) +\d+ gaps ", printed, flags=re.MULTILINE))
    kinds = {
        "description": "text",
        "tags": "tags",
        "team": "category",
        "tests": "boolean",
        "snapshot": "date",
    }
    assert kinds.items() <= columns.items()


def test_a_rare_class():
    printed = tell("rare_class")
    check_table(scores(printed), printed)
    assert "The metric is average precision, because" in printed
    even, chosen = re.findall(r"(\d+) said to be daemons, (\d+) of them right; there are (\d+)", printed)
    assert int(chosen[1]) > int(even[1])
    assert even[2] == chosen[2]


def test_the_growing_graph():
    table = scores(tell("growing_graph"))
    goal = [f"{title}{columns}" for title in (OLD, AGAIN) for columns in ("", ", numbers only")]
    assert set(table) == {*goal, *(f"{title_of(name)}, fitted again" for name in SIMPLE)}
    for title in (OLD, AGAIN):
        assert table[title] > table[f"{title}, numbers only"]
    # Without a new fit it is better than all but one of the simple models that one would fit again; the last,
    # boosted trees on the graph, is within the noise of 303 nodes. Fitted again it is better than all.
    simple = sorted(table[f"{title_of(name)}, fitted again"] for name in SIMPLE)
    assert table[OLD] > simple[-2]
    assert table[AGAIN] > simple[-1]


@pytest.mark.parametrize("name", ["programs", "tools", "science"])
def test_the_tables_are_whole(name):
    nodes = pd.read_csv(EXAMPLES / "data" / f"{name}_nodes.csv")
    edges = pd.read_csv(EXAMPLES / "data" / f"{name}_edges.csv")
    assert nodes["package"].is_unique
    assert set(edges["source"]) | set(edges["target"]) <= set(nodes["package"])
    assert (edges["weight"] >= 1).all()


def test_the_tables_are_small_and_have_no_address():
    tables = list(EXAMPLES.rglob("*.csv"))
    assert len(tables) == 8
    assert sum(path.stat().st_size for path in tables) < 1.7e6
    for path in tables:
        assert not re.search(r"[\w.+-]+@[\w-]+\.\w+", path.read_text(encoding="utf-8-sig"))


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """What the three commands print on the messy table, and the folder they write to."""
    folder = tmp_path_factory.mktemp("messy")
    data = f"{MESSY / 'nodes.csv'},{MESSY / 'edges.csv'}"
    commands = {
        "inspect": ["inspect", data, "--label", "Section"],
        "fit": ["fit", data, "--label", "Section", "--fast", "--out", "run"],
        "predict": ["predict", "run", data, "--out", "predictions.csv"],
    }
    printed = {}
    for name, words in commands.items():
        command = [sys.executable, "-m", "otherhalf", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600)
        assert done.returncode == 0, done.stderr
        printed[name] = done.stdout + done.stderr
    return printed, folder


def test_inspect_shows_every_kind_of_a_messy_table(messy):
    printed, _ = messy
    lines = printed["inspect"].splitlines()
    shown = {"Description": "text", "Size (MB)": "number", "Any machine": "boolean", "Snapshot": "date"}
    shown |= {"Maintained by": "category", "Tags": "tags", "Origin": "constant"}
    for column, kind in shown.items():
        assert any(re.match(rf" +{re.escape(column)} +{kind} ", line) for line in lines), column


def test_fit_says_what_it_decided_on_a_messy_table(messy):
    printed, _ = messy
    nodes, edges = (pd.read_csv(MESSY / f"{name}.csv", sep=";") for name in ("nodes", "edges"))
    unknown = ~(edges["from"].isin(nodes["Package"]) & edges["to"].isin(nodes["Package"]))
    pairs = {frozenset(pair) for pair in edges.loc[~unknown, ["from", "to"]].itertuples(index=False)}
    wrong = (nodes["Source (MB)"] == "large").sum()
    repeats = (~unknown).sum() - len(pairs)
    assert min(unknown.sum(), wrong, repeats) > 1
    for decision in (
        "nodes.csv are separated by semicolons",
        "edges.csv are separated by semicolons",
        "Size (MB) have decimal commas",
        f"'Source (MB)': {wrong} cells are no number and count as a gap: 'large'",
        "'Origin': left out: all its values are the same",
        "weight have decimal commas",
        f"dropped {unknown.sum()} of {len(edges)} edges because an end is not among the node ids",
        "the column 'weight' was taken as the weights",
        f"dropped {repeats} repeated edges",
    ):
        assert decision in printed["fit"], decision


def test_predict_labels_what_had_no_label(messy):
    _, folder = messy
    nodes = pd.read_csv(MESSY / "nodes.csv", sep=";")
    found = pd.read_csv(folder / "predictions.csv")
    assert found["Package"].tolist() == nodes.loc[nodes["Section"].isna(), "Package"].tolist()
    assert set(found["prediction"]) <= {"database", "mail"}
