"""The summary of a fit: what it says of a result, also of one that knows less."""

import numpy as np
import pytest
from tests.report.fits import fitted, graph, parts

from otherhalf import GOALClassifier, Graph, Split, split
from otherhalf.cli.fit_details import Details
from otherhalf.cli.fit_summary import summarize
from otherhalf.estimators.run_folder import fit_into, result_of

WORTH = {"title": "accuracy", "with": 0.9, "without": 0.8, "random": None}


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def result():
    return {**result_of(fitted(), graph(), parts()), "simple": []}


def text_of(result, details=None):
    return " ".join(str(summarize(result, details)).split())


def rows_of(result, heading, details=None):
    """The rows of the table with this heading."""
    lines = str(summarize(result, details)).splitlines()
    place = next(number for number, line in enumerate(lines) if line.strip().startswith(heading))
    return [line.strip() for line in lines[place + 1 : lines.index("", place)]]


def test_the_score_comes_first(result):
    text = text_of(result, Details(intervals={"accuracy": (0.25, 0.75)}))
    test, val = result["test_accuracy"], result["val_accuracy"]
    assert text.startswith(
        f"Test accuracy is {test:.2%} (95 % interval 25.00% to 75.00%); validation accuracy is {val:.2%}."
    )
    assert text_of(result).startswith(f"Test accuracy is {test:.2%}; validation")


def test_another_metric(result):
    other = {**result, "metric": "log_loss"}
    value = result["metrics"]["test"]["log_loss"]
    assert text_of(other).startswith(f"Test log loss is {value:.4f}; validation log loss is ")


def test_no_test_labels():
    everyone = Split(parts().train, parts().val, [])
    result = result_of(fitted(), graph(), everyone)
    text = text_of(result)
    assert text.startswith("Validation accuracy is ")
    assert "; no test node has a label." in text
    assert f"on {len(parts().val)} validation nodes" in text


def test_metrics_with_intervals_beside_the_majority_class(result):
    nodes = len(parts().test)
    (row,) = (
        row
        for row in rows_of(result, f"on {nodes} test nodes", Details(intervals={"macro_f1": (0.1, 0.2)}))
        if row.startswith("macro F1")
    )
    value, majority = (result[each]["test"]["macro_f1"] for each in ("metrics", "majority"))
    assert row.split()[2:] == [f"{value:.4f}", "0.100", "to", "0.200", f"{majority:.4f}"]


def test_members_have_bars_for_their_weights(result):
    member = {"member": "GCN", "validation": 0.5, "weight": 0.25, "seconds": 1.25}
    other = {"member": "a\x1b[2J", "validation": 0.4, "weight": 0.0, "seconds": 0.0}
    rows = rows_of({**result, "leaderboard": [member, other]}, "member of the model")
    assert rows == [
        "GCN                      0.5000      1.2    0.25  ██████",
        "a\\x1b[2J                 0.4000      0.0    0.00",
    ]


def test_simple_models(result):
    row = {"title": "Majority class", "validation": 0.4, "test": None, "seconds": 0.0, "better": True}
    known = {**result, "simple": [row, {**row, "test": 0.25, "better": False}]}
    assert [each.split()[2:] for each in rows_of(known, "simple model")] == [
        ["0.4000", "0.0"],
        ["0.4000", "0.0", "0.2500"],
    ]
    assert "Majority class alone has 0.4000 on validation (accuracy), the blend has" in text_of(known)
    assert "simple model" not in text_of(result)


def test_groups_by_degree(result):
    groups = [{"label": "1", "nodes": 8, "value": 0.5}, {"label": "2 and more", "nodes": 16, "value": 1.0}]
    known = Details(by_degree=groups, group_metric="accuracy")
    assert rows_of(result, "by number of neighbours", known) == [
        f"1                            8    0.5000  {'█' * 12}",
        f"2 and more                  16    1.0000  {'█' * 24}",
    ]
    losses = Details(by_degree=groups, group_metric="log loss")
    assert "█" not in "".join(rows_of(result, "by number of neighbours", losses))
    assert "by number" not in text_of(result, Details(by_degree=groups[:1], group_metric="accuracy"))


def test_what_is_confused(result):
    largest = [{"true": "a\n", "predicted": each, "nodes": 2} for each in "bcde"]
    per_class = [
        {"class": "x", "recall": None, "nodes": 0},
        {"class": "y", "recall": 0.25, "nodes": 8},
        {"class": "z", "recall": 0.5, "nodes": 8},
    ]
    found = {**result["evaluation"]["test"], "largest": largest, "per_class": per_class}
    text = text_of({**result, "evaluation": {"test": found}})
    assert (
        r"Most often wrong: 'a\n' taken for 'b' (2), 'a\n' taken for 'c' (2), 'a\n' taken for 'd' (2)."
        in text
    )
    assert "Of the class 'y', 25% of 8 nodes are found." in text
    assert "Most often wrong" not in text_of({**result, "evaluation": {"test": {**found, "largest": []}}})


def test_the_half_and_its_worth(result):
    words = "joined by a; by b; by c; by d"
    half = {"missing_half": "homophily", "missing_half_edges": 1234, "missing_half_words": words}
    text = text_of({**result, **half, "missing_half_test_homophily": 0.5}, Details(worth=WORTH))
    assert (
        "The missing homophilic half has 1,234 edges, of which 50% are within a class at test nodes "
        "(joined by a; by b; by c; and 1 more way). The accuracy is 0.9000 with it, 0.8000 without it, "
        "unknown with a random half."
    ) in text
    assert "It was fitted without the missing half." in text_of({**result, "missing_half": None})


def test_what_contradicts_is_said(result):
    text = text_of(
        {**result, "contradiction": True, "tendency": "homophily", "ks": 0.3}, Details("A verdict.")
    )
    assert "A verdict. It is homophily-prone by D = 0.300, but heterophily-prone by its labels." in text
    assert "The labels contradict D. `--follow` chooses:" in text


def test_what_was_written(result, tmp_path, monkeypatch):
    written = {**result, "out": "run", "half_rows": 12, "missing_half": "homophily"}
    files = "run has the model, result.json and predictions.csv"
    assert f"{files[:-20]}, predictions.csv and half.csv (12 edges of the missing half)." in text_of(written)
    assert "predictions.csv, report.json and half.csv (12" in text_of({**written, "report": True})
    large = text_of({**written, "half_rows": None})
    assert f"{files}." in large
    assert "more than 1,000,000 edges and was not written: `otherhalf complement --out half.parquet`" in large
    assert text_of({**written, "missing_half": None, "half_rows": None}).endswith(f"{files}.")


def test_a_result_of_an_older_version(result):
    new = {"metric", "metric_reason", "metrics", "majority", "evaluation", "threshold", "simple"}
    old = {key: value for key, value in result.items() if key not in new}
    lines, known = (str(summarize(each)).splitlines() for each in (old, result))
    assert lines[0] == known[0]
    assert [line for line in lines if line in known] == lines


def test_a_rare_class():
    rng = np.random.default_rng(0)
    y = (np.arange(200) % 20 == 0).astype(int)
    graph = Graph(edges=rng.integers(0, 200, (2, 400)), x=rng.normal(size=(200, 4)) + y[:, None], y=y)
    model = GOALClassifier(encoder="mlp", epochs=3, hidden=4, metric="auto")
    text = text_of(fit_into(model, graph, split(graph, "stratified"), None))
    assert text.startswith("Test average precision is 0.")
    assert "The metric is average precision, because the rarer of the two classes has only 5.0%" in text


@pytest.mark.parametrize("columns", [20, 40, 60, 80])
def test_any_width(result, columns, monkeypatch):
    """Lines are not wider than the terminal, except tables of numbers on one that is very narrow."""
    monkeypatch.setenv("COLUMNS", str(columns))
    wide = [line for line in str(summarize(result)).splitlines() if len(line) > columns]
    assert not wide or columns < 60
    assert all(line.startswith("  ") for line in wide)
