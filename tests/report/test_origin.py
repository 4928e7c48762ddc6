"""How a fit was made, and what its data are."""

import json
from datetime import UTC, datetime

import pandas as pd
from tests.report.fits import fitted, graph, parts, reported

from otherhalf import BaselineClassifier, Graph, Split
from otherhalf.report.origin import column_rows, graph_facts, machine, made
from otherhalf.report.reported import Reported
from otherhalf.system.version import VERSION


def test_what_made_it():
    found = made(reported(), {"peak_memory_mb": 123.456, "run": "abc"}, "otherhalf fit x")
    assert found["version"] == VERSION
    when = datetime.strptime(found["when"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - when).total_seconds()) < 60
    assert found["fingerprint"] == graph().fingerprint
    assert (found["command"], found["run"], found["peak_memory_mb"]) == ("otherhalf fit x", "abc", 123.5)
    assert (found["preset"], found["method"], found["seed"]) == ("best", "kernel", 0)
    assert found["settings"]["ensemble"]["candidates"] == ["GCN"]
    assert found["seconds"].keys() == fitted().seconds_.keys()
    json.dumps(found, allow_nan=False)
    assert "Python 3" in machine()


def test_a_baseline_has_its_kind():
    model = BaselineClassifier("mlp", epochs=1).fit(graph(), parts())
    found = made(Reported.of(model, graph(), parts()), {}, "")
    assert (found["preset"], found["method"], found["peak_memory_mb"]) == ("", "mlp", None)


def test_sizes_of_the_graph():
    y = ["b", "a", None, "b", None]
    known = Graph(edges=[[0, 1], [1, 2]], x=[[0.0]] * 5, y=y, directed=True, weights=[1.0, 2.0])
    found = graph_facts(known, Split([0], [1], [3]))
    assert found["classes"] == ["a", "b"]
    assert found["class_counts"] == [1, 2]
    assert (found["nodes"], found["edges"], found["labelled"], found["isolated"]) == (5, 2, 3, 2)
    assert found["directed"]
    assert found["weighted"]
    assert found["parts"] == {"train": 1, "val": 1, "test": 1}


def test_columns_of_a_table():
    nodes = pd.DataFrame({"id": range(30), "label": ["a", "b"] * 15, "year": [None, *range(29)]})
    nodes["colour"] = ["red", "green", "blue"] * 10
    edges = pd.DataFrame({"source": range(29), "target": range(1, 30)})
    rows = {row["name"]: row for row in column_rows(Graph.from_frames(nodes, edges))}
    assert list(rows) == ["year", "colour"]
    assert (rows["year"]["kind"], rows["year"]["missing"], rows["year"]["features"]) == ("number", 1, 2)
    assert rows["colour"]["features"] == 3
    assert rows["colour"]["cells"] == "3 different"
    assert column_rows(graph()) == []
