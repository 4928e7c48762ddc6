"""For tests: graphs drawn by hypothesis, changes of a graph with a known effect, and checks of an estimator.

.. code-block:: python

    from hypothesis import given, strategies as st
    from otherhalf.testing import check_estimator, graphs, splits

    def test_my_estimator():
        check_estimator(MyClassifier())

    @given(st.data())
    def test_every_graph_gets_a_class_for_each_node(data):
        graph = data.draw(graphs(per_class=3))
        split = data.draw(splits(graph))
        assert len(MyClassifier().fit(graph, split).predict(graph)) == graph.num_nodes

:func:`graphs` and :func:`splits` need hypothesis (``pip install 'otherhalf[testing]'``); the rest does not.
"""

from typing import TYPE_CHECKING, Any

from otherhalf.testing.changes import edges_given_again as edges_given_again
from otherhalf.testing.changes import labels_permuted as labels_permuted
from otherhalf.testing.changes import relabelled as relabelled
from otherhalf.testing.changes import renumbered as renumbered
from otherhalf.testing.changes import with_lone_node as with_lone_node
from otherhalf.testing.checks import check_estimator as check_estimator

if TYPE_CHECKING:
    from otherhalf.testing.strategies import graphs as graphs
    from otherhalf.testing.strategies import splits as splits

DRAWN = ("graphs", "splits")
"""The names that need hypothesis, which is imported when one of them is used."""

__all__ = [
    "check_estimator",
    "edges_given_again",
    "graphs",
    "labels_permuted",
    "relabelled",
    "renumbered",
    "splits",
    "with_lone_node",
]


def __getattr__(name: str) -> Any:
    if name not in DRAWN:
        raise AttributeError(f"module 'otherhalf.testing' has no attribute {name!r}")
    from otherhalf.testing import strategies

    return getattr(strategies, name)
