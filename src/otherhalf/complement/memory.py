"""The memory of finding the missing half, by both methods, and of the paper's classifier over both halves."""

from collections.abc import Iterator
from dataclasses import replace

from otherhalf.complement.block_search import flight_bytes
from otherhalf.complement.choice import KEPT_KERNELS
from otherhalf.complement.descriptions import DENSE_ENTRIES, PROJECTED, SMALL
from otherhalf.complement.embedding import by_blocks
from otherhalf.complement.encoder import AUTO_KINDS
from otherhalf.complement.kernel_half import MOST_TAUGHT
from otherhalf.complement.ranking import by_index
from otherhalf.complement.ridge import BLOCK_NODES
from otherhalf.complement.search import BLOCK_ENTRIES, fills
from otherhalf.complement.settings import AUTO, WITHOUT_NORM, ComplementSettings, KernelSettings
from otherhalf.complement.walks import KEPT
from otherhalf.nn.backbone import AUTO_TRUNK, Architecture
from otherhalf.nn.memory import FLOAT, NARROWER, Footprint, Sizes, input_parts, model_parts
from otherhalf.nn.models.registry import model_spec, training_stage
from otherhalf.system.need import Part, Stage

DENSE_DESCRIPTIONS = 7
"""Dense matrices ``[N, D]``: the features, and smoothed in five ways, one of them twice while it is made.
Each relation has one more."""

WALK_ENTRY = 48
"""Bytes of an entry of the rows of three walks: value and column as they are made, kept, and as unit rows."""

COLUMN = 24
"""Bytes of a column of sparse features: how many nodes have it, its mean and deviation. A matrix can claim
many more columns than it has entries."""

CHOICE_MATRICES = 33
"""Matrices of all pairs of the training nodes that the kernels are chosen with: distances, kernels, gradients
and the solution of the regression."""

SOLVED = 4.2
"""Matrices of all pairs of training nodes in the exact regression: the kernel, its mixture while it is made,
its Cholesky factor and its inverse."""

IDLE, MOST_IDLE = 4, 160e6
"""Matrices more that lie idle among kept ones, and their most bytes: large ones go back to the system."""

LANDMARK_SQUARES, PROJECTED_ROWS = 6, 3 * BLOCK_NODES
"""Matrices of landmarks times landmarks beside the projected kernel of training nodes (the kernel, the sum of
squares, copies and factors of both), and rows of the kernel that are being projected."""

SMOOTHED_COPIES, SMOOTHING_ENTRY = 3, 16
"""Matrices ``[N, D]`` while features are smoothed, and bytes of an entry of the matrix that smooths them."""

SEARCH_BLOCKS = 6.5
"""Blocks of similarities in the search: the mixture of kernels while it is made, and the selection."""

PRODUCT_BLOCKS = 5
"""Blocks of similarities where they are one product, of embeddings or raw features."""

FOUND = 12
"""Bytes of a place in the lists of the search by blocks: index and similarity."""

HALF_ENTRY = 100
"""Bytes of a pair of the missing half: its nodes and weight, its matrix and transpose, what makes them."""

INDEXED_ENTRY = 32
"""Bytes of an entry of the training nodes' features in the inverted index: rows, unit rows and columns."""

RANKED_PAIR = 150
"""Bytes of a pair in the ranking loss: position in a list, two entries, scores, gradients."""

GOAL_FOOTPRINT = Footprint(7, 12)
"""Matrices of the paper's classifier over both halves."""

FEWER_TRAIN = "take fewer training nodes"
SMALLER_K = "give a smaller k"


def kernel_stages(sizes: Sizes, settings: KernelSettings) -> Iterator[Stage]:
    """Yield the memory of the choice of kernels, of the regression and of the search by leave-one-out."""
    n, train = sizes.nodes, sizes.train
    graph = input_parts(sizes)
    cells = n * sizes.features
    if cells > DENSE_ENTRIES and sizes.features > PROJECTED:
        cells = n * PROJECTED
    dense, walks = cells * FLOAT, n * min(KEPT, n) * WALK_ENTRY
    every = dense * (DENSE_DESCRIPTIONS + sizes.relations) + walks * (1 + sizes.relations)
    # Above some size the kernels are chosen with the rows of a sample; smoothing needs all features.
    beyond = max(0.0, 1 - SMALL / n) if n else 0.0
    smoothed = beyond * (dense * SMOOTHED_COPIES + sizes.edge_entries * SMOOTHING_ENTRY)
    described = Part(
        "the descriptions of nodes", every * (1 - beyond) + smoothed, "take fewer feature columns"
    )
    columns = Part("the counts of columns", sizes.features * COLUMN, "take fewer feature columns")
    chosen = min(train, settings.nodes) ** 2 * FLOAT * CHOICE_MATRICES
    kernels = Part("the kernels", chosen, "give fast=True (--fast)")
    yield Stage("the choice of kernels", (*graph, described, columns, kernels))
    if train <= settings.exact:
        square = train**2 * FLOAT
        solved = SOLVED * square + min(IDLE * square, MOST_IDLE)
    else:
        rows = min(train, MOST_TAUGHT) + LANDMARK_SQUARES * settings.landmarks + PROJECTED_ROWS
        solved = rows * settings.landmarks * FLOAT
    kept = described._replace(size=every * KEPT_KERNELS / (DENSE_DESCRIPTIONS + KEPT_KERNELS))
    yield Stage("the regression", (*graph, kept, Part("the kernel of training nodes", solved, FEWER_TRAIN)))
    candidates = min(train, settings.max_candidates)
    block = min(max(BLOCK_ENTRIES, candidates), n * candidates) * FLOAT * SEARCH_BLOCKS
    yield Stage(
        "the search of the missing half",
        (
            *graph,
            kept,
            Part("the similarities", block, "give a smaller max_candidates"),
            half_part(sizes, settings.k),
        ),
    )


def half_part(sizes: Sizes, k: int) -> Part:
    """Return the missing half that joins every node to K others."""
    return Part("the missing half", sizes.nodes * k * HALF_ENTRY, SMALLER_K)


def embedding_stages(
    sizes: Sizes, settings: ComplementSettings, classifier: Architecture | None = None
) -> Iterator[Stage]:
    """Yield the memory of encoder, head and search, and of the classifier over both halves, if given."""
    n, encoder, head = sizes.nodes, settings.encoder, settings.head
    kinds = AUTO_KINDS if encoder.kind == AUTO else (encoder.kind,)
    models = ["gcn" if kind == WITHOUT_NORM else kind for kind in kinds]
    for model in dict.fromkeys(models):
        yield training_stage(model, sizes, encoder.architecture, encoder.own_options)
    graph = input_parts(sizes, {name for model in models for name in model_spec(model).operators})
    pairs = sizes.train * 2 * head.ranking_k * RANKED_PAIR
    ranked = _ranking_bytes(sizes, min(sizes.train, head.max_candidates))
    similar = "give a smaller max_candidates"
    k = max(settings.k_homophily, settings.k_heterophily)
    yield Stage(
        "the training of the head",
        (
            *graph,
            Part("the ranking lists", pairs, "give a smaller ranking_k, or take fewer training nodes"),
            Part("the similarities", ranked, similar),
        ),
    )
    # Each of the K pairs of a node is in the matrix twice: the half is undirected.
    half = half_part(sizes, 2 * k)
    candidates = min(n, settings.max_candidates)
    found = _search_bytes(n, candidates, min(k, candidates), head.width)
    yield Stage("the search of the missing half", (*graph, Part("the similarities", found, similar), half))
    if classifier is not None:
        rows = any(model_spec(model).reads_adjacency_rows for model in models)
        own = _with_trunk(classifier, rows=rows)
        parts = model_parts(sizes, GOAL_FOOTPRINT, own, {}, row_maps=int(rows), fix=NARROWER)
        yield Stage("the classifier over both halves", (*graph, half, *parts))


def _ranking_bytes(sizes: Sizes, candidates: int) -> float:
    """Return the bytes of the ranking lists while they are made, by an inverted index or by products."""
    sparse = sizes.entries is not None and not fills(sizes.entries, (sizes.nodes, sizes.features))
    if sparse and sizes.entries and by_index(sizes.train, candidates):
        return sizes.entries * INDEXED_ENTRY * sizes.train / sizes.nodes
    return min(BLOCK_ENTRIES, sizes.train * candidates) * FLOAT * PRODUCT_BLOCKS


def _search_bytes(nodes: int, candidates: int, k: int, width: int) -> float:
    """Return the bytes of the search over an embedding, plain or by blocks."""
    if not by_blocks(nodes * candidates, k):
        return min(BLOCK_ENTRIES, nodes * candidates) * FLOAT * PRODUCT_BLOCKS
    sampled = candidates * width * FLOAT if candidates < nodes else 0
    return nodes * k * FOUND + flight_bytes(k, width, candidates) + sampled


def _with_trunk(classifier: Architecture, *, rows: bool) -> Architecture:
    """Return the architecture with the largest trunk that ``auto`` can mean."""
    if classifier.trunk != AUTO_TRUNK:
        return classifier
    return replace(
        classifier, trunk="features+neighbours" if rows else "none", output="linear" if rows else "layer"
    )
