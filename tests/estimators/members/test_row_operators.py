"""Operators by name: those of full batches, of all nodes or of a few."""

import numpy as np
import pytest
from tests.estimators.members.conftest import GRAPH, PARTS, view_of

from otherhalf import Graph
from otherhalf.estimators.members.row_operators import RowOperators

DIRECTED = Graph(GRAPH.edges, GRAPH.x, GRAPH.y, directed=True, classes=GRAPH.classes)


@pytest.fixture(scope="module", params=["homophily", "heterophily", "both"])
def each(request):
    return view_of(GRAPH if request.param != "both" else DIRECTED, PARTS, kind=request.param)


def test_the_sides_are_those_of_full_batches(each):
    operators = RowOperators(each)
    for name in ("homophilic", "heterophilic"):
        expected = getattr(each.halves, name).matrix.to_dense().numpy()
        assert np.allclose(operators.matrix(name).toarray(), expected, atol=1e-7)
        assert expected.any()


def test_rows_of_a_few_nodes_are_those_of_the_whole(each):
    whole, few, nodes = RowOperators(each), RowOperators(each), np.array([3, 150, 7])
    names = {name for walk in whole.walks for name in walk} | {"given", "homophilic", "heterophilic"}
    for name in sorted(names):
        rows = few.rows(name, nodes)
        assert np.array_equal(rows.toarray(), whole.matrix(name)[nodes].toarray()), name
    assert few._matrices == {}
    assert np.array_equal(whole.rows("given", nodes).toarray(), whole.matrix("given")[nodes].toarray())
    whole.forget()
    assert whole._matrices == {}


def test_without_a_half_one_side_is_empty(view_without_half):
    operators = RowOperators(view_without_half)
    assert operators.kinds == ()
    assert operators.sides == {"homophilic": (), "heterophilic": ("given",)}
    assert operators.walks == [("mean",), ("mean", "mean")]
