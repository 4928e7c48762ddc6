r"""The inputs of models over rows: products of the halves with the features, computed once.

Each input is an operator times another input, as :data:`SOURCES` says:

.. math::
    \hat{\mathbf{A}}_o\mathbf{X}, \quad \hat{\mathbf{A}}_t\mathbf{X}, \quad
    \hat{\mathbf{A}}_t(\hat{\mathbf{A}}_o\mathbf{X}), \quad \hat{\mathbf{A}}\mathbf{X}, \quad
    \hat{\mathbf{A}}(\hat{\mathbf{A}}\mathbf{X}), \dots

with :math:`\hat{\mathbf{A}}` the given edges; label messages and scores are beside them. The rows of a few
nodes need the rows of their neighbours only, and are the same to the bit.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from otherhalf.estimators.members.row_operators import RowOperators
from otherhalf.nn.propagation import needed_columns, propagate, propagate_rows
from otherhalf.nn.row_net import TERMS, RowBatch
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.row_blocks import RowBlocks, check_disk
from otherhalf.system.scratch import temporary_folder

if TYPE_CHECKING:
    from otherhalf.estimators.members.view import GraphView

MOST_IN_MEMORY = 1_000_000_000
"""Bytes of all inputs in single precision up to which they are in memory; above, they are in files, in half
precision."""

SOURCES: dict[str, tuple[str, str]] = {
    "o": ("homophilic", "x"),
    "t": ("heterophilic", "x"),
    "to": ("heterophilic", "o"),
    "given1": ("given", "x"),
    "given2": ("given", "given1"),
    "given3": ("given", "given2"),
    "out": ("out", "x"),
    "into": ("into", "x"),
}
"""Operator and source of each input."""

HOPS = ("given1", "given2", "given3")
DIRECTED_HOPS = ("out", "into")


def hop_names(*, directed: bool) -> tuple[str, ...]:
    """Return the further hops of a graph."""
    return HOPS + (DIRECTED_HOPS if directed else ())


def table_columns(features: int, classes: int, *, directed: bool, walks: int) -> int:
    """Return the number of columns of all inputs: features and their products, messages, and scores."""
    return features * (len(TERMS) + len(hop_names(directed=directed))) + classes * (walks + 1)


class RowInputs:
    """The precomputed rows of all nodes of a graph; each input is computed at its first use and then kept.

    Args:
        view: The graph as the members read it.
        folder: Folder for the files of large inputs; default: a temporary one, which is removed with them.
        most_in_memory: Bytes from which inputs are in files.
    """

    def __init__(
        self, view: GraphView, folder: Path | None = None, *, most_in_memory: int = MOST_IN_MEMORY
    ) -> None:
        if view.row_features is None:
            raise ValueError("models over rows need the features that they were fitted with")
        self.view, self.operators, self.features = view, RowOperators(view), view.row_features
        # Where the given edges alone are one side, their first product is a term of the convolution already.
        self.alone = next((n for n, parts in self.operators.sides.items() if parts == ("given",)), None)
        self.hops = hop_names(directed=view.graph.directed)
        self._blocks: dict[str, RowBlocks] = {}
        self._folder = folder
        self._dtype: np.dtype[np.float16] | np.dtype[np.float32] = np.dtype(np.float32)
        size = view.graph.num_nodes * self.columns * 4
        if size > most_in_memory:
            self._dtype = np.dtype(np.float16)
            if folder is None:
                stack = ExitStack()
                self._folder = stack.enter_context(temporary_folder())
                weakref.finalize(self, stack.close)
            assert self._folder is not None
            check_disk(self._folder, size // 2, "the precomputed rows")
        else:
            self._folder = None

    def _named(self, name: str) -> str:
        """Return the name of an input that is the same as another one."""
        return (
            {"homophilic": "o", "heterophilic": "t"}[self.alone] if name == "given1" and self.alone else name
        )

    def hops_of(self, *, convolves: bool) -> tuple[str, ...]:
        """Return the further hops: without those that are terms of the convolution, if it is read too."""
        return tuple(name for name in self.hops if not convolves or self._named(name) == name)

    @property
    def columns(self) -> int:
        """Number of columns of all inputs."""
        view = self.view
        return table_columns(
            self.features.width(view.graph.num_features),
            view.labels.classes,
            directed=view.graph.directed,
            walks=len(self.operators.walks),
        )

    def blocks(self, name: str) -> RowBlocks:
        """Return an input of all nodes."""
        name = self._named(name)
        if name not in self._blocks:
            if name in SOURCES:
                operator, source = SOURCES[name]
                x = self.blocks(source)
                self._blocks[name] = propagate(
                    self.operators.matrix(operator), x, self._empty(name, x.shape[1])
                )
            else:
                made = {"x": self._features, "messages": self._messages, "scores": self._scores}[name]()
                self._blocks[name] = self._empty(name, made.shape[1]).write_all(made)
        return self._blocks[name]

    def batch(self, nodes: IntArray, *, convolves: bool = True) -> RowBatch:
        """Return the rows of these nodes as :class:`~otherhalf.nn.row_net.RowNet` reads them.

        Args:
            nodes: The nodes.
            convolves: Whether to read more than the features and the further hops, which see the given edges
                only.
        """
        return self._batch(lambda name: self.blocks(name).take(nodes), convolves=convolves)

    def few(self, nodes: IntArray, *, convolves: bool = True) -> RowBatch:
        """Return the rows of a few nodes, computed from their neighbourhoods; the same bits."""
        return self._batch(lambda name: self._few(name, nodes), convolves=convolves)

    def _batch(self, read: Callable[[str], FloatArray], *, convolves: bool) -> RowBatch:
        hops = tuple(torch.from_numpy(read(name)) for name in self.hops_of(convolves=convolves))
        terms = {"x": torch.from_numpy(read("x"))}
        if not convolves:
            return RowBatch(terms, hops)
        terms |= {name: torch.from_numpy(read(name)) for name in self.terms if name != "x"}
        messages = torch.from_numpy(read("messages")) if self.operators.walks else None
        scores = torch.from_numpy(read("scores")) if self.view.has_scores else None
        return RowBatch(terms, hops, messages, scores)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of the convolution; those of an empty half are left out."""
        empty = {name for name, parts in self.operators.sides.items() if not parts}
        kept = [name for name in TERMS if name == "x" or SOURCES[name][0] not in empty]
        return tuple(name for name in kept if name != "to" or "o" in kept)

    def _few(self, name: str, nodes: IntArray) -> FloatArray:
        name = self._named(name)
        if name in self._blocks:
            return self._blocks[name].take(nodes)
        if name in SOURCES:
            operator, source = SOURCES[name]
            local, near = needed_columns(self.operators.rows(operator, nodes))
            rows = propagate_rows(local, self._few(source, near))
        else:
            made = {"x": self._few_features, "messages": self._few_messages, "scores": self._few_scores}
            rows = made[name](nodes)
        return rows.astype(self._dtype).astype(np.float32)

    def _few_features(self, nodes: IntArray) -> FloatArray:
        return self.features.of(self.view.graph, nodes)

    def _few_scores(self, nodes: IntArray) -> FloatArray:
        return self.view.scores_of(nodes)

    def _few_messages(self, nodes: IntArray) -> FloatArray:
        return np.hstack([self._few_message(walk, nodes) for walk in self.operators.walks])

    def _few_message(self, walk: tuple[str, ...], nodes: IntArray) -> FloatArray:
        labels = self.view.label_rows.numpy()
        local, near = needed_columns(self.operators.rows(walk[0], nodes))
        if len(walk) == 1:
            return propagate_rows(local, labels[near])
        second = self.operators.rows(walk[1], near)
        beyond, far = needed_columns(second)
        message = propagate_rows(local, propagate_rows(beyond, labels[far]))
        back = local.multiply(second[:, nodes].T.tocsr()).sum(axis=1)
        message -= np.asarray(back, dtype=np.float32) * labels[nodes]
        return message

    def _empty(self, name: str, columns: int) -> RowBlocks:
        place = None if self._folder is None else self._folder / name
        return RowBlocks(self.view.graph.num_nodes, columns, place, dtype=self._dtype)

    def _features(self) -> FloatArray:
        return self.features.of(self.view.graph)

    def _messages(self) -> FloatArray:
        labels = self.view.label_rows.numpy()
        return np.hstack([self._message(walk, labels) for walk in self.operators.walks])

    def _message(self, walk: tuple[str, ...], labels: FloatArray) -> FloatArray:
        message = labels
        for name in reversed(walk):
            message = propagate_rows(self.operators.matrix(name), message)
        if len(walk) > 1:
            first, second = (self.operators.matrix(name) for name in walk)
            known = self.view.labels.nodes
            back = first[known].multiply(second[:, known].T.tocsr()).sum(axis=1)
            message[known] -= np.asarray(back, dtype=np.float32) * labels[known]
        return message

    def _scores(self) -> FloatArray:
        found = self.view.found
        if found is None or found.scores is None:
            raise ValueError("the missing half has no scores")
        return found.scores
