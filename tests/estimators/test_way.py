"""Both methods are ways with the same face."""

from tests.estimators.members.conftest import GRAPH, PARTS, view_of

from otherhalf.estimators.embedding_way import EmbeddingWay
from otherhalf.estimators.kernel_way import KernelWay
from otherhalf.estimators.way import HALF_FIELDS, Way, half_description


def test_both_methods_are_ways():
    assert issubclass(EmbeddingWay, Way)
    assert issubclass(KernelWay, Way)


def test_a_half_is_described_by_everything_but_its_arrays():
    half = view_of(GRAPH, PARTS).found.half
    described = half_description(half)
    assert set(described) == set(HALF_FIELDS)
    assert described["method"] == "kernel"
    assert described["words"] == half.words
