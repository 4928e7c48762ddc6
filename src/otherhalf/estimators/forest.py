"""Forests of decision trees as plain arrays, which need no pickle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from otherhalf.errors import InputError
from otherhalf.nn.ops.compiled import Int32s, compiled, over_rows
from otherhalf.system.arrays import FloatArray

Doubles = npt.NDArray[np.float64]

BLOCK = 1024
"""Number of rows that go through all trees before the next rows do."""

USUAL_DEPTH = 16
"""Comparisons per row and tree, for the division among threads."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees over the columns of a table, and what a row gets in each leaf.

    The I inner nodes of all trees are numbered from 0, and so are the L leaves. A child, and the root of a
    tree, is the number of an inner node, or −1 − the number of a leaf. A leaf has entries, each a class and a
    value; most leaves of a forest hold few classes.

    Attributes:
        feature: ``[I]``: the column that an inner node compares.
        threshold: ``[I]``: rows with at most this value go left. In double precision, as scikit-learn has it.
        left: ``[I]``: the left child.
        right: ``[I]``: the right child.
        roots: ``[T]``: the root of each tree.
        starts: ``[L + 1]``: where the entries of each leaf start, and the end of the last.
        column: ``[V]``: the class of each entry.
        value: ``[V]``: its value: a probability, or an addend of the logit.
        baseline: ``[C]``: logits that boosted trees add to, −∞ for a class without training rows; None for a
            forest whose trees have one vote each.
        classes: C.
    """

    feature: Int32s
    threshold: Doubles
    left: Int32s
    right: Int32s
    roots: Int32s
    starts: Int32s
    column: Int32s
    value: npt.NDArray[Any]
    baseline: Doubles | None
    classes: int

    def probabilities(self, rows: npt.NDArray[Any]) -> FloatArray:
        """Return the ``[N, C]`` class probabilities of a table.

        Without a baseline they are the mean over the trees, and rows are compared in single precision; with
        one, the softmax of the sum, and rows are compared as they are. That is what scikit-learn does.
        """
        if rows.ndim != 2 or rows.shape[1] <= self.feature.max(initial=-1):  # compiled code would read beyond
            raise InputError(
                f"the table of this graph, of shape {rows.shape}, lacks columns that the trees compare: give "
                "a graph like the fitted one, or save the model again if it is damaged"
            )
        if self.baseline is None:
            rows = rows.astype(np.float32, copy=False)
        start = np.zeros(self.classes) if self.baseline is None else self.baseline
        sums = np.tile(start, (len(rows), 1))
        nodes = (self.feature, self.threshold, self.left, self.right, self.roots)
        leaves = (self.starts, self.column, self.value.astype(np.float64))
        for top in range(0, len(rows), BLOCK):
            block = np.array(rows[top : top + BLOCK], dtype=np.float64, order="C")
            each = np.arange(len(block) + 1, dtype=np.int32)
            out = sums[top : top + BLOCK]
            over_rows(add_leaves, each, len(self.roots) * USUAL_DEPTH, block, *nodes, *leaves, out)
        if self.baseline is None:
            return np.asarray(sums / len(self.roots), dtype=np.float32)
        sums = np.exp(sums - sums.max(axis=1, keepdims=True))
        return np.asarray(sums / sums.sum(axis=1, keepdims=True), dtype=np.float32)

    def tensors(self) -> dict[str, Tensor]:
        """Return the arrays, with the names that model folders use."""
        parts = {name: part for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        named = {f"forest/{name}": torch.from_numpy(part) for name, part in parts.items()}
        return {**named, "forest/classes": torch.tensor(self.classes)}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Forest:
        """Return the forest that :meth:`tensors` was called on."""
        parts: dict[str, Any] = {
            item.name: tensors[f"forest/{item.name}"].numpy()
            for item in fields(cls)
            if f"forest/{item.name}" in tensors
        }
        forest = cls(**{"baseline": None, **parts, "classes": int(parts["classes"])})
        forest._check()
        return forest

    def _check(self) -> None:
        """Raise ValueError if a tree has a loop or leads out of its arrays: compiled code would follow it."""
        inner, leaves = len(self.feature), len(self.starts) - 1
        sizes = [len(each) for each in (self.feature, self.threshold, self.left, self.right)]
        children = np.concatenate([self.left, self.right])
        parents = np.tile(np.arange(inner), 2)
        ends = np.concatenate([children, self.roots])
        steps = np.diff(self.starts)
        right = (
            len(set(sizes)) == 1
            and (len(self.roots) > 0 or self.baseline is not None)
            and len(self.column) == len(self.value)
            and all(self._dtypes())
            and ((children < 0) | (children > parents)).all()  # a child comes after its parent
            and ((ends < inner) & (ends >= -leaves)).all()
            and (self.feature >= 0).all()
            and (steps >= 0).all()
            and (self.starts[0], self.starts[-1]) == (0, len(self.column))
            and ((self.column >= 0) & (self.column < self.classes)).all()
            and (self.baseline is None or self.baseline.shape == (self.classes,))
        )
        if not right:
            raise ValueError("its trees are no trees")

    def _dtypes(self) -> Iterator[bool]:
        indices = (self.feature, self.left, self.right, self.roots, self.starts, self.column)
        yield from (each.ndim == 1 and each.dtype == np.int32 for each in indices)
        yield self.threshold.ndim == 1 and self.threshold.dtype == np.float64
        yield self.value.ndim == 1 and self.value.dtype.kind == "f"


@compiled(
    "void(i4[::1], f8[:, ::1], i4[::1], f8[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], f8[::1], "
    "f8[:, ::1], i8, i8)"
)
def add_leaves(
    each: Int32s,
    rows: Doubles,
    feature: Int32s,
    threshold: Doubles,
    left: Int32s,
    right: Int32s,
    roots: Int32s,
    starts: Int32s,
    column: Int32s,
    value: Doubles,
    out: Doubles,
    first: int,
    last: int,
) -> None:
    """Add to the rows ``first`` … ``last`` − 1 of ``out`` what they get in every tree, in order of the trees.

    ``each`` is not read: it only divides the rows among the threads.
    """
    for root in roots:
        for i in range(first, last):
            node = root
            while node >= 0:
                node = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
            for entry in range(starts[-1 - node], starts[-node]):
                out[i, column[entry]] += value[entry]
