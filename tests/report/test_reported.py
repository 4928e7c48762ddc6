"""What a report is about."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.fits import by_hand, fitted, graph, parts, reported

from otherhalf import Graph, InputError, Split
from otherhalf.report.reported import Reported


def test_predictions_and_parts():
    fit = reported()
    np.testing.assert_array_equal(graph().classes[fit.predicted], fitted().predict(graph()))
    assert {letter: int((fit.part == letter).sum()) for letter in "tvse"} == {
        "t": len(parts().train),
        "v": len(parts().val),
        "s": len(parts().test),
        "e": 0,
    }
    assert fit.judged_part == "test"
    np.testing.assert_array_equal(fit.judged, np.sort(parts().test))


def test_validation_nodes_judge_where_no_test_node_has_a_label():
    fit = by_hand([0, 1, 0, 1, -1], [(0, 1)], train=[0, 1], val=[3, 2], test=[4])
    assert fit.judged_part == "val"
    assert fit.judged.tolist() == [2, 3]


def test_nodes_in_another_order_are_found_by_their_ids():
    known = graph()
    order = np.random.default_rng(0).permutation(known.num_nodes)
    place = np.argsort(order)
    other = Graph(
        edges=place[known.edges], x=known.x[order], y=known.y[order], ids=known.ids[order], name=known.name
    )
    moved = Split(*(place[part] for part in (parts().train, parts().val, parts().test)))
    fit, first = Reported.of(fitted(), other, moved), reported()
    assert fit.graph.ids.tolist() == known.ids.tolist()
    assert sorted(fit.split.test) == sorted(parts().test)
    np.testing.assert_allclose(fit.probabilities, first.probabilities, atol=1e-5)
    assert (fit.part == first.part).all()


def test_another_graph_is_refused():
    with pytest.raises(InputError, match="the classes of the model"):
        Reported.of(fitted(), replace(graph(), classes=np.array(["x", "y", "z"])), parts())
    known = graph()
    grown = Graph(
        edges=known.edges,
        x=np.concatenate([known.x, known.x[:1]]),
        y=np.append(known.y, -1),
        ids=[*known.ids, "new"],
        classes=known.classes,
    )
    with pytest.raises(InputError, match="151 nodes and the model was fitted to 150"):
        Reported.of(fitted(), grown, parts())
