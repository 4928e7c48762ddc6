"""The memory of finding the missing half: what each stage grows with, and the sentence if it is too much."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import otherhalf.complement.memory as memory
import otherhalf.system.need as need
from otherhalf import InputError, find_missing_half, split
from otherhalf.complement.memory import embedding_stages, kernel_stages
from otherhalf.complement.settings import KernelSettings
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.presets import EMBEDDING
from otherhalf.nn.memory import Sizes
from otherhalf.system.memory import Room

SIZES = Sizes(nodes=10_000, edges=50_000, features=100, classes=4, train=3_000)
KERNEL, COMPLEMENT = KernelSettings(), EMBEDDING.complement


def part(stages, stage, name):
    """The bytes of a part of a stage."""
    return next(p.size for each in stages if each.name == stage for p in each.parts if p.name == name)


def kernel_of(sizes=SIZES, settings=KERNEL):
    return list(kernel_stages(sizes, settings))


def test_the_stages_of_the_kernel_half():
    stages = kernel_of()
    assert [each.name for each in stages] == [
        "the choice of kernels",
        "the regression",
        "the search of the missing half",
    ]
    assert part(stages, "the choice of kernels", "the kernels") == 1500**2 * 4 * memory.CHOICE_MATRICES
    assert (
        part(stages, "the search of the missing half", "the missing half") == 10_000 * 10 * memory.HALF_ENTRY
    )


def test_small_matrices_of_the_regression_lie_idle_and_large_ones_go_back_to_the_system():
    def solved(train):
        return part(kernel_of(replace(SIZES, train=train)), "the regression", "the kernel of training nodes")

    assert solved(1000) == pytest.approx((memory.SOLVED + memory.IDLE) * 1000**2 * 4)
    assert solved(10_000) == pytest.approx(memory.SOLVED * 10_000**2 * 4 + memory.MOST_IDLE)


def test_with_landmarks_the_regression_grows_with_the_training_nodes_and_not_with_their_square():
    def solved(train):
        return part(kernel_of(replace(SIZES, train=train)), "the regression", "the kernel of training nodes")

    assert solved(20_001) - solved(20_000) == KERNEL.landmarks * 4
    assert solved(600_000) == solved(memory.MOST_TAUGHT)  # a sample of them
    assert solved(20_000) < memory.SOLVED * 20_000**2 * 4


def test_many_features_are_projected():
    wide = kernel_of(replace(SIZES, nodes=5_000, features=100_000))
    assert part(wide, "the choice of kernels", "the descriptions of nodes") == pytest.approx(
        5_000 * (512 * 4 * 7 + 64 * memory.WALK_ENTRY)
    )


def test_on_a_large_graph_the_kernels_are_chosen_with_the_rows_of_a_sample():
    def described(nodes):
        large = kernel_of(replace(SIZES, nodes=nodes, features=64))
        return part(large, "the choice of kernels", "the descriptions of nodes")

    each = (described(2_000_000) - described(1_000_000)) / 1_000_000
    assert each == pytest.approx(64 * 4 * memory.SMOOTHED_COPIES, rel=1e-3)
    assert described(8_192) == pytest.approx(8_192 * (64 * 4 * 7 + 64 * memory.WALK_ENTRY))


def test_columns_that_a_sparse_matrix_only_claims_take_memory_too():
    claimed = kernel_of(replace(SIZES, features=2**31 - 2))
    assert part(claimed, "the choice of kernels", "the counts of columns") > 16 * 2**31


def test_every_encoder_is_a_stage():
    names = [each.name for each in embedding_stages(SIZES, COMPLEMENT, EMBEDDING.goal.architecture)]
    assert names == [
        "the training of MLP",
        "the training of GCN",
        "the training of MLP over adjacency rows",
        "the training of the head",
        "the search of the missing half",
        "the classifier over both halves",
    ]
    gcn = replace(COMPLEMENT, encoder=replace(COMPLEMENT.encoder, kind="gcn"))
    assert [each.name for each in embedding_stages(SIZES, gcn)][:2] == [
        "the training of GCN",
        "the training of the head",
    ]


def test_a_classifier_over_adjacency_rows_has_a_parameter_row_per_node():
    def parameters(kind):
        settings = replace(COMPLEMENT, encoder=replace(COMPLEMENT.encoder, kind=kind))
        stages = list(embedding_stages(SIZES, settings, EMBEDDING.goal.architecture))
        return part(stages, "the classifier over both halves", "the parameters")

    assert parameters("structure") - parameters("gcn") > 10_000 * 64 * 4 * 6


def test_the_search_by_blocks_grows_with_the_nodes_and_not_with_the_pairs():
    def searched(nodes, k=10, most=200_000):
        settings = replace(COMPLEMENT, k_homophily=k, k_heterophily=k, max_candidates=most)
        stages = list(embedding_stages(replace(SIZES, nodes=nodes), settings))
        return part(stages, "the search of the missing half", "the similarities")

    assert searched(1000) == 1000**2 * 4 * memory.PRODUCT_BLOCKS
    assert searched(200_000) - searched(100_000) == 100_000 * 10 * 12
    assert searched(200_000, most=100_000) - searched(200_000) == 100_000 * 64 * 4  # rows of the sample
    assert searched(100_000, k=1000) == memory.BLOCK_ENTRIES * 4 * memory.PRODUCT_BLOCKS


def test_ranking_lists_of_sparse_features_need_an_index_and_no_blocks():
    def ranked(**sizes):
        stages = list(embedding_stages(replace(SIZES, **sizes), COMPLEMENT))
        return part(stages, "the training of the head", "the similarities")

    plain = 4000**2 * 4 * memory.PRODUCT_BLOCKS
    assert ranked(train=4000) == plain
    assert ranked(train=4000, entries=20_000) == 20_000 * memory.INDEXED_ENTRY * 0.4
    assert ranked(train=4000, entries=40_000) == plain  # 4 % of the matrix: its rows become dense
    assert ranked(train=3000, entries=20_000) == 3000**2 * 4 * memory.PRODUCT_BLOCKS  # few pairs


@given(
    st.sampled_from(["nodes", "edges", "features", "classes", "train", "relations"]), st.integers(1, 10**5)
)
def test_more_of_anything_needs_at_least_as_much(what, more):
    # Not above the limits: landmarks, projections and the search by blocks need less than what they replace.
    sizes = Sizes(nodes=5000, edges=1000, features=10, classes=3, train=500)
    more = min(more, 10_000) if what == "train" else more
    larger = replace(sizes, **{what: getattr(sizes, what) + more})
    for stages in (kernel_stages, embedding_stages):
        settings = KERNEL if stages is kernel_stages else COMPLEMENT
        for before, after in zip(stages(sizes, settings), stages(larger, settings), strict=True):
            assert after.size >= before.size


@pytest.mark.parametrize("method", ["kernel", "embedding"])
def test_a_search_that_needs_too_much_is_refused_in_one_sentence(method, monkeypatch):
    monkeypatch.setattr(need, "room", lambda: Room(1000, "the machine"))
    graph = contextual_sbm(num_nodes=200, num_features=8, seed=0)
    with pytest.raises(InputError, match=r"the fit needs about \d+ MB and 0 MB are free, by the machine"):
        find_missing_half(graph, split(graph, seed=0), method=method)
