"""Trees on the graph as a table, as an estimator: a strong baseline that is no neural network."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.forest import Forest
from otherhalf.estimators.forest_fit import TREES, fit_boosted_trees, fit_extra_trees
from otherhalf.estimators.graph_table import GraphTable
from otherhalf.estimators.memory import boosted_stage, extra_trees_stage
from otherhalf.estimators.saved_arrays import saved_labels
from otherhalf.estimators.settings import check_settings
from otherhalf.graph import Graph
from otherhalf.nn.inputs import SCALINGS
from otherhalf.nn.label_messages import label_rows
from otherhalf.nn.memory import Sizes
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.fields import integer, one_of, setting
from otherhalf.system.need import Need
from otherhalf.system.seeds import generator
from otherhalf.training.checkpoint import History
from otherhalf.training.class_weights import CLASS_WEIGHT, ClassWeight, by_name
from otherhalf.training.supervised import Supervision

KINDS = ("extra", "boosted")
COLUMNS = ("graph", "own")


@dataclass(frozen=True)
class TreesSettings:
    """All settings of a TreesClassifier."""

    kind: str = setting("extra", one_of(*KINDS))
    scaling: str = setting("auto", one_of(*SCALINGS))
    trees: int = setting(TREES, integer(1))
    leaf: int = setting(2, integer(1))
    columns: str = setting("graph", one_of(*COLUMNS), late=True)
    class_weight: Mapping[str, float] | str | None = setting(None, CLASS_WEIGHT, late=True)


class TreesClassifier(NodeClassifier):
    """Trees over a table with one row per node (:mod:`~otherhalf.estimators.graph_table`).

    The labels of the training nodes are among the columns, but no node's own label is in its row. Labels of
    validation nodes only choose the number of iterations of ``boosted``.

    Args:
        kind: ``extra``: extremely randomised trees; ``boosted``: gradient boosting.
        seed: Seed of all random numbers.
        metric: Metric of :meth:`score`.
        device: ``cpu`` or ``cuda``; trees are fitted on the CPU in any case.
        scaling: Scaling of the features: ``auto``, ``none``, ``row`` or ``standard``.
        trees: Number of trees; of ``boosted``, the largest number of iterations.
        leaf: Least number of training nodes in a leaf.
        columns: ``graph``: all columns of the table; ``own``: those of the node's own features.
        class_weight: How much a node of each class counts: ``balanced`` (every class the same), or a
            dictionary from classes to weights. Default: every node the same.

    After ``fit``: ``classes_``, ``settings_``, ``history_`` (without epochs), ``seconds_``.
    """

    settings_type = TreesSettings

    kind: str
    scaling: str
    trees: int
    leaf: int
    columns: str
    class_weight: ClassWeight
    _table: GraphTable
    _forest: Forest
    _labels: tuple[IntArray, IntArray]  # the training nodes and their class codes

    def __init__(
        self,
        kind: str = "extra",
        *,
        seed: int = 0,
        metric: str = "accuracy",
        device: str = "cpu",
        scaling: str = "auto",
        trees: int = TREES,
        leaf: int = 2,
        columns: str = "graph",
        class_weight: ClassWeight = None,
    ) -> None:
        self._store(locals())

    def resolved_settings(self, data_set: str = "") -> TreesSettings:
        """Return the settings of a fit of any graph; raise InputError if one of them is not allowed."""
        generator(self.seed)  # raises InputError if it is not a seed
        settings = TreesSettings(
            self.kind, self.scaling, self.trees, self.leaf, self.columns, by_name(self.class_weight)
        )
        check_settings(settings)
        return settings

    def _need(self, sizes: Sizes, settings: TreesSettings) -> Need:
        own = settings.columns == "own"
        if settings.kind == "extra":
            return Need((extra_trees_stage(sizes, settings.trees, own=own),))
        return Need((boosted_stage(sizes, own=own),))

    def _fit(
        self, prepared: PreparedGraph, settings: TreesSettings, supervision: Supervision
    ) -> dict[str, Any]:
        started, split, y = time.perf_counter(), supervision.split, prepared.graph.y
        graph, codes, classes = prepared.scaled_graph, y[split.train], prepared.graph.num_classes
        table = GraphTable.fit(graph, self.seed)
        labels = label_rows(codes, split.train, graph.num_nodes, classes)
        rows = _rows(table, graph, labels, settings.columns)
        prepared.derived["table"] = rows
        tabled = time.perf_counter()
        taught = rows[split.train], codes, classes, self.seed
        by_class = supervision.class_weights
        if settings.kind == "extra":
            forest, _ = fit_extra_trees(
                *taught, trees=settings.trees, leaf=settings.leaf, class_weights=by_class
            )
        else:
            judged = rows[split.val], y[split.val]
            forest = fit_boosted_trees(
                *taught, *judged, iterations=settings.trees, leaf=settings.leaf, class_weights=by_class
            )
        seconds = {"table": tabled - started, "train": time.perf_counter() - tabled}
        learned = {
            "_table": table,
            "_forest": forest,
            "_labels": (np.array(split.train), np.array(codes)),
        }
        return {**learned, "history_": {"classifier": History(done=True)}, "seconds_": seconds}

    def _probabilities(self, prepared: PreparedGraph) -> FloatArray:
        if "table" not in prepared.derived:
            graph = prepared.scaled_graph
            nodes, codes = self._labels
            labels = label_rows(codes, nodes, graph.num_nodes, len(self.classes_))
            prepared.derived["table"] = _rows(self._table, graph, labels, self.settings_.columns)
        return self._forest.probabilities(prepared.derived["table"])

    def _parts(self) -> dict[str, nn.Module]:
        return {}

    def _tensors(self) -> dict[str, Tensor]:
        nodes, codes = (torch.from_numpy(part) for part in self._labels)
        return {
            **self._table.tensors(),
            **self._forest.tensors(),
            "labels/nodes": nodes,
            "labels/codes": codes,
        }

    def _restore(self, description: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self._table, self._forest = GraphTable.from_tensors(tensors), Forest.from_tensors(tensors)
        _, classes, known = self._sizes
        self._labels = saved_labels(tensors, known, classes)


def _rows(table: GraphTable, graph: Graph, labels: Tensor, columns: str) -> FloatArray:
    return table.own(graph) if columns == "own" else table.rows(graph, labels)
