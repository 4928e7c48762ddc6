"""What all kinds of columns have in common: learn from cells, apply to cells, write and read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from otherhalf.data.columns.cells import Cells
from otherhalf.system.arrays import FloatArray
from otherhalf.system.fields import from_dict, to_dict

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Column(ABC):
    """What was learned from one column of a table.

    Fields that are arrays are written as tensors, all others as JSON.

    Attributes:
        name: Name of the column.
        filled: Mean number of values other than 0 in a row of the result.
        missing: Whether the fit had gaps, so that there is a column for them.
    """

    kind: ClassVar[str]

    name: str
    filled: float
    missing: bool

    @classmethod
    @abstractmethod
    def learn(cls, column: pd.Series[Any] | Cells) -> Self:
        """Learn from the cells of a column; no label is read."""

    @abstractmethod
    def apply(self, column: pd.Series[Any] | Cells) -> FloatArray | sp.csr_matrix:
        """Return what these cells become, one row per cell. No value is NaN or infinite."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the result."""

    @property
    @abstractmethod
    def becomes(self) -> str:
        """What becomes of the column, in a few words."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know about how the column was read."""
        return ()

    def unreadable(self, column: pd.Series[Any] | Cells) -> list[str]:
        """Return the distinct texts that count as gaps because they do not fit the kind."""
        return []

    def unseen(self, column: pd.Series[Any] | Cells) -> list[str]:
        """Return the distinct texts that the fit did not have and that leave no trace in the result."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays, for JSON."""
        arrays = self._arrays()
        return {"kind": self.kind, **{key: v for key, v in to_dict(self).items() if key not in arrays}}

    def tensors(self) -> dict[str, Tensor]:
        """Return the arrays."""
        import torch

        return {name: torch.from_numpy(np.array(array)) for name, array in self._arrays().items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Return the column whose :meth:`to_dict` and :meth:`tensors` these are."""
        plain = {key: value for key, value in values.items() if key != "kind"}
        return from_dict(cls, {**plain, **{name: tensor.numpy() for name, tensor in tensors.items()}})

    def _arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        found = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def stack(*columns: Any) -> FloatArray:
    """Return one-dimensional arrays as the columns of one array."""
    return np.column_stack(columns).astype(np.float32)
