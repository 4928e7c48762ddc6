import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.data.catalog import load
from otherhalf.data.splits import split
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split

RANDOM = ("uniform", "stratified", "quota")


def graph_of(y, **options) -> Graph:
    """A path with the given labels; −1 is unknown."""
    n = len(y)
    return Graph(edges=[list(range(n - 1)), list(range(1, n))], x=np.ones((n, 1)), y=np.array(y), **options)


def sizes(parts: Split) -> tuple[int, int, int]:
    return len(parts.train), len(parts.val), len(parts.test)


def table(graph: Graph, parts: Split) -> list[list[int]]:
    """For every class how many nodes are in train, val and test."""
    counts = [
        np.bincount(graph.y[p], minlength=graph.num_classes) for p in (parts.train, parts.val, parts.test)
    ]
    return np.array(counts).T.tolist()


labels = st.lists(st.integers(-1, 4), min_size=30, max_size=80).filter(lambda y: len(set(y) - {-1}) > 1)


@given(labels, st.sampled_from(RANDOM), st.integers(0, 1000))
@settings(deadline=None)
def test_parts_are_disjoint_and_cover_the_labelled_nodes(y, kind, seed):
    graph = graph_of(y)
    try:
        parts = split(graph, kind, seed)
    except InputError:
        # Many unknown labels can leave a part empty; that many labelled nodes never do.
        assert len(graph.labelled) < 15 or kind == "quota"
        return
    together = np.concatenate([parts.train, parts.val, parts.test])
    np.testing.assert_array_equal(np.sort(together), graph.labelled)
    assert (parts.kind, parts.seed) == (kind, seed)


@given(labels, st.sampled_from(["uniform", "stratified"]), st.integers(0, 1000))
@settings(deadline=None)
def test_sizes_are_the_ratios(y, kind, seed):
    y = [max(label, 0) for label in y] + list(range(5)) * 3  # all labelled, no class of fewer than three
    n = len(y)
    train, val, test = sizes(split(graph_of(y), kind, seed))
    assert abs(train - 0.6 * n) <= 0.5
    assert abs(val - 0.2 * n) <= 1
    assert abs(test - 0.2 * n) <= 1
    assert train + val + test == n


@given(labels, st.integers(0, 1000))
@settings(deadline=None)
def test_stratified_keeps_the_proportion_of_every_class(y, seed):
    y = [max(label, 0) for label in y] + list(range(5)) * 5  # so that no rule for small classes applies
    graph = graph_of(y)
    for train, val, test in table(graph, split(graph, "stratified", seed)):
        size = train + val + test
        assert abs(train - 0.6 * size) < 1
        assert abs(val - 0.2 * size) < 1.5
        assert abs(test - 0.2 * size) < 1.5
        assert train > 0
        assert test > 0


@pytest.mark.parametrize("kind", RANDOM)
def test_the_seed_alone_decides(kind):
    graph = graph_of([0, 1, 2] * 20)
    first = split(graph, kind, seed=3)
    np.random.seed(0)  # noqa: NPY002
    again, other = split(graph, kind, seed=3), split(graph, kind, seed=4)
    for part in ("train", "val", "test"):
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
        assert not np.array_equal(getattr(first, part), getattr(other, part))


def test_uniform_puts_every_node_everywhere_as_often_as_it_should():
    graph = graph_of([0] * 9 + [1])
    runs = [split(graph, seed=s) for s in range(600)]
    assert sizes(runs[0]) == (6, 2, 2)
    for part, share in (("train", 0.6), ("val", 0.2), ("test", 0.2)):
        often = np.bincount(np.concatenate([getattr(r, part) for r in runs]), minlength=10) / 600
        np.testing.assert_allclose(often, share, atol=5 * np.sqrt(share * (1 - share) / 600))


def test_stratified_by_hand():
    """Ten nodes divide into 6, 2, 2 and twenty into 12, 4, 4."""
    graph = graph_of([0] * 10 + [1] * 20)
    assert table(graph, split(graph, "stratified")) == [[6, 2, 2], [12, 4, 4]]


def test_stratified_small_classes():
    """One node trains; two are one to train and one to test; the large class makes up the totals."""
    graph = graph_of([0] * 30 + [1] + [2] * 2)
    parts = split(graph, "stratified", seed=1)
    assert sizes(parts) == (20, 6, 7)  # round(19.8), round(26.4) − 20, 33 − 26
    assert table(graph, parts) == [[18, 6, 6], [1, 0, 0], [1, 0, 1]]


def test_stratified_tests_every_class_of_two():
    graph = graph_of([0] * 30 + [1, 2, 3, 4, 5] * 2)
    counts = table(graph, split(graph, "stratified"))
    assert counts[1:] == [[1, 0, 1]] * 5
    assert np.sum(counts, axis=0).tolist() == [24, 8, 8]


def test_quota_by_hand():
    """N = 20, C = 2: round(0.6·20/2) = 6 from each class, or all 4 of the small one; 4 validate; 6 test."""
    graph = graph_of([0] * 16 + [1] * 4)
    parts = split(graph, "quota")
    assert sizes(parts) == (10, 4, 6)
    assert table(graph, parts) == [[6, 4, 6], [4, 0, 0]]


def test_quota_counts_labelled_nodes_and_present_classes():
    """Unknown labels and a class nobody has leave N = 20 and C = 2: six of each class train."""
    graph = graph_of([-1] * 30 + [0] * 10 + [2] * 10, classes=["a", "b", "c"])
    parts = split(graph, "quota")
    assert sizes(parts) == (12, 4, 4)
    assert np.bincount(graph.y[parts.train]).tolist() == [6, 0, 6]


def test_ratios():
    graph = graph_of([0, 1] * 50)
    for kind in RANDOM:
        assert sizes(split(graph, kind, ratios=(0.5, 0.25, 0.25))) == (50, 25, 25)


def test_fixed_splits_by_number_without_unlabelled_nodes():
    own = (Split(train=[0, 1], val=[2], test=[3, 4]), Split(train=[4, 3], val=[2, 5], test=[0]))
    graph = graph_of([0, 1, 0, 1, 0, -1], fixed_splits=own)
    parts = split(graph, "fixed", seed=1)
    assert [p.tolist() for p in (parts.train, parts.val, parts.test)] == [[3, 4], [2], [0]]
    assert (parts.kind, parts.seed) == ("fixed", 1)


@pytest.mark.parametrize(
    ("y", "arguments", "sentence"),
    [
        ([0, 1] * 5, {"kind": "random"}, "'random': choose one of uniform, stratified, quota, fixed"),
        ([0, 1] * 5, {"seed": -1}, "seed must be an integer ≥ 0, not -1"),
        ([0, 1] * 5, {"seed": 0.5}, "≥ 0, not 0.5"),
        ([0, 1] * 5, {"ratios": (0.6, 0.2, 0.3)}, "three positive numbers with sum 1"),
        ([0, 1] * 5, {"ratios": (1.2, -0.1, -0.1)}, "three positive numbers with sum 1"),
        ([0, 1] * 5, {"ratios": (0.8, 0.2)}, "three positive numbers with sum 1"),
        ([0, 1] * 5, {"ratios": (float("nan"), 0.5, 0.5)}, "three positive numbers with sum 1"),
        ([0, 0, 0, 0, 0], {}, "at least two classes"),
        ([-1, -1, -1], {}, "no node has a label"),
        ([0, 1, -1], {}, "with 2 labelled nodes the uniform split leaves"),
        ([0, 1, 2, 3, 4, 5], {"kind": "stratified"}, "leaves val and test empty: label more nodes"),
        ([0, 1] * 5, {"kind": "fixed"}, "without fixed splits: choose uniform, stratified or quota"),
    ],
)
def test_wrong_input_gets_one_sentence_with_the_fix(y, arguments, sentence):
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        split(graph_of(y), **arguments)


def test_a_fixed_split_that_is_not_there():
    graph = graph_of([0, 1, 0], fixed_splits=(Split(train=[0], val=[1], test=[2]),))
    with pytest.raises(InputError, match=r"1 fixed split.* no number 1: give a seed from 0 to 0"):
        split(graph, "fixed", seed=1)


def test_quota_on_real_data_empties_small_classes_from_the_test_set(data_dir):
    """Cora keeps 5 of its 7 classes in the test set, Actor 4 of 5."""
    for name, kept in (("cora", 5), ("actor", 4)):
        graph = load(data_dir / f"{name}.npz")
        assert len(np.unique(graph.y[split(graph, "quota").test])) == kept
