"""Columns as the user knows them: which features are theirs, and what their cells were."""

import numpy as np
import pandas as pd
import pytest
from tests.report.fits import graph

from otherhalf import Graph
from otherhalf.report.cells import UserColumns

TABLE = pd.DataFrame(
    {
        "id": range(40),
        "label": np.random.default_rng(0).permutation(["a", "b"] * 20),
        "year": [1990.0 + i for i in range(39)] + [None],
        "income": [float(10 ** (i % 7)) for i in range(40)],
        "colour": (["red", "green", "blue", None] * 10),
        "member": [True, False] * 20,
        "tags": ["x;y", "y", "z;x", "x"] * 10,
        "when": [f"2020-01-{1 + i % 28:02d}" for i in range(40)],
    }
)
EDGES = pd.DataFrame({"source": range(39), "target": range(1, 40)})


@pytest.fixture(scope="module")
def encoded():
    made = Graph.from_frames(TABLE, EDGES, id="id", label="label")
    return made, UserColumns.of(made)


def test_cells_are_what_the_table_has(encoded):
    made, columns = encoded
    assert columns.names == ["year", "income", "colour", "member", "tags", "when"]
    x = made.x if isinstance(made.x, np.ndarray) else made.x.toarray()
    for row in (0, 1, 2, 3, 17, 39):
        cells = {name: columns.cell(x[row], place) for place, name in enumerate(columns.names)}
        year, colour = TABLE["year"][row], TABLE["colour"][row]
        assert cells["year"] == ("missing" if np.isnan(year) else f"{year:.0f}")
        assert float(cells["income"]) == pytest.approx(TABLE["income"][row], rel=1e-3)
        assert cells["colour"] == ("missing" if pd.isna(colour) else colour)
        assert cells["member"] == str(TABLE["member"][row]).lower()
        assert cells["when"] == "(date)"
        assert set(cells["tags"].split(", ")) == set(TABLE["tags"][row].split(";"))


def test_effects_of_features_are_added_up_by_column(encoded):
    made, columns = encoded
    effects = np.random.default_rng(0).normal(size=(3, made.num_features)).astype(np.float32)
    found = columns.summed(effects)
    owner = [column.name for column in made.reading.encoding.columns for _ in column.names]
    for place, name in enumerate(columns.names):
        mine = [feature for feature, other in enumerate(owner) if other == name]
        np.testing.assert_allclose(found[:, place], effects[:, mine].sum(axis=1), rtol=1e-5)


def test_features_without_a_table_are_columns_of_their_own():
    columns = UserColumns.of(graph())
    assert columns.names == [f"feature {place}" for place in range(6)]
    effects = np.arange(12, dtype=np.float32).reshape(2, 6)
    np.testing.assert_array_equal(columns.summed(effects), effects)
    assert columns.cell(np.array([0.0, 1.23456, 0, 0, 0, 0]), 1) == "1.2346"
    named = Graph(edges=[[0], [1]], x=np.eye(2), y=[0, 1], feature_names=["p", "q"])
    assert UserColumns.of(named).names == ["p", "q"]
