"""The memory of fits and predictions: the stages of an ensemble, trees on a table, label propagation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from otherhalf.complement.memory import FEWER_TRAIN, embedding_stages, half_part, kernel_stages
from otherhalf.estimators.by_rows import TREE_COUNT, TREE_ROWS, goes_over_rows
from otherhalf.estimators.forest_fit import TREES
from otherhalf.estimators.graph_table import NEIGHBOUR_COLUMNS, WIDEST
from otherhalf.estimators.members.boosted import MOST_WORK
from otherhalf.estimators.members.row_features import PROJECTED
from otherhalf.estimators.members.row_features import WIDEST as WIDEST_ROWS
from otherhalf.estimators.members.row_inputs import MOST_IN_MEMORY
from otherhalf.estimators.members.row_inputs import table_columns as columns_of_rows
from otherhalf.estimators.settings import EnsembleSettings, Settings
from otherhalf.estimators.whole_graph import count_finishers, count_trainings, starters
from otherhalf.nn.complemented import MESSAGE_WIDTH
from otherhalf.nn.memory import (
    FEWER_CLASSES,
    FEWER_COLUMNS,
    FEWER_EDGES,
    FLOAT,
    Footprint,
    Sizes,
    input_parts,
    model_parts,
)
from otherhalf.nn.models.registry import parameter_count, training_stage
from otherhalf.nn.propagation import CHUNK
from otherhalf.system.need import Need, Part, Stage

TABLE_CELL = 12
"""Bytes of a cell of the graph as a table: in double precision while columns are joined, then in single."""

PROJECTION_COLUMNS = 60
"""Columns more while the features and the adjacency rows are projected."""

TREE_ROW, TREE_CLASS = 20, 1.2
"""Bytes of a tree for each training node, and for each of its classes: inner nodes and leaves. There are
fewer of them where the classes are easy to tell apart (0 to 44 bytes in all on five graphs of 3 to 15)."""

BOOSTED_ROW = 50
"""Bytes for each training node and class in boosting: scores, gradients and their sums."""

PROPAGATED = 20
"""Matrices ``[N, C]`` of label propagation: its states, the best so far, and what the steps leave."""

CLASSIFIER_FOOTPRINT = Footprint(4, 16)
"""Matrices of the classifier over both halves of the ensemble; it predicts from all hidden states."""

ROW_ENTRY, ROW_MATRICES = 8, 3
"""Bytes of an entry of a matrix that rows are propagated over, and the number of such matrices at a time."""

MESSAGES = 5
"""Matrices of all label messages: as they are, standardised, dropped, beside the states, their gradient."""

FAST = "give fast=True (--fast)"
WITHOUT_TREES = f"{FAST}, or leave them out: ensemble={{'trees': False}}"
OTHER_CANDIDATES = f"{FAST}, or name smaller models: ensemble={{'candidates': …}}"
WITHOUT_CLASSIFIER = "give a smaller hidden or fewer layers, or leave it out: ensemble={'classifier': False}"


def goal_need(sizes: Sizes, settings: Settings) -> Need:
    """Return the need of a GOALClassifier."""
    if settings.method == "embedding":
        return Need(tuple(embedding_stages(sizes, settings.complement, settings.goal.architecture)))
    return Need(tuple(_ensemble_stages(sizes, settings)))


def goal_prediction_need(sizes: Sizes, settings: Settings) -> Need:
    """Return what a GOALClassifier needs at least for a prediction: the inputs, the half, the table."""
    if settings.method == "embedding":
        k = max(settings.complement.k_homophily, settings.complement.k_heterophily)
        parts = *input_parts(sizes), half_part(sizes, 2 * k)
    else:
        table = _table_parts(sizes, own=False) if settings.ensemble.trees else input_parts(sizes)
        half = settings.ensemble.half != "none"
        parts = (*table, half_part(sizes, settings.kernel.k)) if half else table
    return Need((Stage("the inputs", parts),), "the prediction")


def extra_trees_stage(
    sizes: Sizes, trees: int, *, own: bool = False, scores: bool = False, fix: str = "give fewer trees"
) -> Stage:
    """Return the memory of extremely randomised trees on the graph as a table.

    Args:
        sizes: The graph.
        trees: Number of trees.
        own: Whether the columns are those of the nodes' own features.
        scores: Whether scores of the missing half are among the columns.
        fix: What makes the forest smaller.
    """
    forest = Part("the trees", trees * sizes.train * (TREE_ROW + TREE_CLASS * sizes.classes), fix)
    return Stage("the forest", (*_table_parts(sizes, own=own, scores=scores), forest))


def boosted_stage(sizes: Sizes, *, own: bool = False, scores: bool = False) -> Stage:
    """Return the memory of boosted trees on the graph as a table; the arguments are as above."""
    rows = sizes.train * (sizes.classes * BOOSTED_ROW + table_columns(sizes, own=own, scores=scores))
    return Stage(
        "boosting",
        (*_table_parts(sizes, own=own, scores=scores), Part("the training rows", rows, FEWER_TRAIN)),
    )


def logistic_stage(sizes: Sizes, *, own: bool = False) -> Stage:
    """Return the memory of logistic regression on the graph as a table."""
    rows = (sizes.nodes + sizes.train) * table_columns(sizes, own=own) * FLOAT
    return Stage(
        "the logistic regression",
        (*_table_parts(sizes, own=own), Part("the standardised table", rows, FEWER_COLUMNS)),
    )


def propagation_stage(sizes: Sizes) -> Stage:
    """Return the memory of label propagation. It reads no feature, but features are checked before."""
    states = sizes.nodes * sizes.classes * FLOAT * PROPAGATED
    inputs = input_parts(sizes, ("normalized", "mean"))
    return Stage("the label propagation", (*inputs, Part("the states", states, FEWER_CLASSES)))


def table_columns(sizes: Sizes, *, own: bool = False, scores: bool = False) -> int:
    """Return the number of columns of :mod:`~otherhalf.estimators.graph_table`."""
    features, classes = min(sizes.features, WIDEST), sizes.classes
    if own:
        return features + 1
    ways = 2 if sizes.directed else 0
    columns = 3 * features + 4 + NEIGHBOUR_COLUMNS + 3 * classes + ways * (features + classes)
    columns += sizes.relations * max(1, ways) * (1 + features + classes)
    return columns + (classes if scores else 0)


def _table_parts(sizes: Sizes, *, own: bool, scores: bool = False) -> tuple[Part, ...]:
    cells = sizes.nodes * (table_columns(sizes, own=own, scores=scores) + PROJECTION_COLUMNS)
    return *input_parts(sizes), Part("the graph as a table", cells * TABLE_CELL, FEWER_COLUMNS)


def _ensemble_stages(sizes: Sizes, settings: Settings) -> Iterator[Stage]:
    """Yield the stages of the method ``kernel``: the missing half, then the members one after the other."""
    chosen, n = settings.ensemble, sizes.nodes
    half, found = chosen.half != "none", chosen.half == "found"
    if found:
        yield from kernel_stages(sizes, settings.kernel)
    if goes_over_rows(n, sizes.edges, chosen):
        yield from _row_stages(sizes, settings)
        return
    count = count_trainings(n, sizes.train, 0, chosen)
    started = starters(settings) if chosen.plain else []
    largest = max((parameter_count(e.kind, sizes, e.architecture, e.own_options) for e in started), default=0)
    finishers = min(count_finishers(n, chosen), len(started))
    trained = Part("the trained models", count * finishers * largest * FLOAT, OTHER_CANDIDATES)
    kept = (half_part(sizes, settings.kernel.k), trained) if half else (trained,)
    for each in _member_stages(sizes, settings):
        yield each.beside(*kept)


def member_need(sizes: Sizes, settings: Settings) -> int:
    """Return the bytes of the largest training of a member, in a process that keeps no other."""
    half = half_part(sizes, settings.kernel.k).size if settings.ensemble.half != "none" else 0
    return int(half + max((each.size for each in _member_stages(sizes, settings)), default=0))


def _member_stages(sizes: Sizes, settings: Settings) -> Iterator[Stage]:
    """Yield the trainings of the members, without what is kept beside them."""
    chosen = settings.ensemble
    half, found = chosen.half != "none", chosen.half == "found"
    if chosen.propagation:
        yield propagation_stage(sizes)
    if chosen.trees:
        yield extra_trees_stage(sizes, TREES, scores=found, fix=WITHOUT_TREES)
        if sizes.train * sizes.classes <= MOST_WORK:
            yield boosted_stage(sizes, scores=found)
    if chosen.classifier:
        yield _classifier_stage(sizes, settings, half=half)
    for each in starters(settings) if chosen.plain else []:
        stage = training_stage(each.kind, sizes, each.architecture, each.own_options, fix=OTHER_CANDIDATES)
        yield Stage(f"the training of {each.name}", stage.parts)


def _row_stages(sizes: Sizes, settings: Settings) -> Iterator[Stage]:
    """Yield the stages of the members over rows."""
    chosen, found = settings.ensemble, settings.ensemble.half == "found"
    kept = (half_part(sizes, settings.kernel.k),) if chosen.half != "none" else ()
    if chosen.propagation:
        yield propagation_stage(sizes).beside(*kept)
    if chosen.trees:
        sample = replace(sizes, train=min(sizes.train, TREE_ROWS))
        yield extra_trees_stage(sample, TREE_COUNT, scores=found, fix=WITHOUT_TREES).beside(*kept)
    cells = sizes.nodes * row_columns(sizes, chosen)
    held = cells * FLOAT if cells * FLOAT <= MOST_IN_MEMORY else cells * FLOAT / 2
    # Of all walks, each by itself and side by side, before they are rows.
    messages = 2 * sizes.nodes * _walk_count(sizes, chosen) * sizes.classes * FLOAT
    matrices = sizes.edge_entries * ROW_MATRICES * ROW_ENTRY + sizes.nodes * CHUNK * FLOAT * 3
    yield Stage(
        "the training over rows",
        (
            *input_parts(sizes),
            *kept,
            Part("the precomputed rows", held, FEWER_COLUMNS),
            Part("the matrices of the halves", matrices, FEWER_EDGES),
            Part("the label messages", messages, FEWER_CLASSES),
        ),
    )


def row_columns(sizes: Sizes, settings: EnsembleSettings) -> int:
    """Return the number of columns of the precomputed rows."""
    features = (PROJECTED if sizes.features > WIDEST_ROWS else sizes.features) + 2 * settings.magnitudes
    walks = _walk_count(sizes, settings)
    return columns_of_rows(features, sizes.classes, directed=sizes.directed, walks=walks)


def _walk_count(sizes: Sizes, settings: EnsembleSettings) -> int:
    """Return the number of walks of label messages."""
    ways = 2 + (4 if sizes.directed else 0) + (3 if settings.half != "none" else 0)
    return ways if settings.messages else 0


def row_disk(sizes: Sizes, settings: Settings) -> int:
    """Return the bytes of temporary files that a fit writes: the precomputed rows, if they are large."""
    if settings.method == "embedding" or not goes_over_rows(sizes.nodes, sizes.edges, settings.ensemble):
        return 0
    size = sizes.nodes * row_columns(sizes, settings.ensemble) * FLOAT
    return size // 2 if size > MOST_IN_MEMORY else 0


def _classifier_stage(sizes: Sizes, settings: Settings, *, half: bool) -> Stage:
    """Return the memory of the classifier over both halves."""
    architecture = replace(settings.goal.architecture, trunk="features", output="linear")
    parts = model_parts(sizes, CLASSIFIER_FOOTPRINT, architecture, {}, fix=WITHOUT_CLASSIFIER)
    walks = (2 + (4 if sizes.directed else 0) + (3 if half else 0)) if settings.ensemble.messages else 0
    messages = sizes.nodes * (walks * sizes.classes + MESSAGE_WIDTH) * FLOAT * MESSAGES
    return Stage(
        "the classifier over both halves",
        (*input_parts(sizes, ("mean",)), *parts, Part("the label messages", messages, FEWER_CLASSES)),
    )
