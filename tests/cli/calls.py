"""What calls of commands answer, and tables to call them with."""

import json

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.synthetic import contextual_sbm

CSBM = "csbm:nodes=120,classes=3,features=6,homophily=0.1,signal=3"
SBM = contextual_sbm(num_nodes=180, num_classes=3, num_features=6, homophily=0.1, signal=5.0, seed=7)
KNOWN = 150
NAMES = np.array(["ant", "bee", "cat"])


def answer(outcome):
    """The one JSON object, which has to be all of standard output."""
    status, out, err = outcome
    assert status == 0, err
    assert err == ""
    assert out.count("\n") == 1
    result = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert isinstance(result, dict)
    return result


def refused(outcome, *fragments):
    """The one sentence, which has to be all that is printed."""
    status, out, err = outcome
    assert status == 2, err
    assert out == ""
    assert err.startswith("otherhalf: ")
    assert err.count("\n") == 1
    for fragment in fragments:
        assert fragment in err


def tables(folder, graph=SBM, nodes=KNOWN, order=None):
    """The first nodes of a graph as two tables with text for ids and classes; some labels are left out."""
    folder.mkdir(exist_ok=True)
    ids = np.array([f"n-{index}" for index in range(graph.num_nodes)])
    frame = pd.DataFrame(graph.x, columns=[f"x{c}" for c in range(graph.num_features)])
    frame.insert(0, "id", ids)
    frame["label"] = NAMES[graph.y]
    frame.loc[frame.index % 10 == 3, "label"] = ""
    frame = frame[:nodes]
    edges = graph.edges[:, (graph.edges < nodes).all(axis=0)]
    (frame if order is None else frame.iloc[order]).to_csv(folder / "nodes.csv", index=False)
    pd.DataFrame(ids[edges.T], columns=["source", "target"]).to_csv(folder / "edges.csv", index=False)
    return f"{folder}/nodes.csv,{folder}/edges.csv"
