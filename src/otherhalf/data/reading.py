"""How a user's tables are read: what their columns mean, and what a model keeps of it for the next tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from otherhalf.data.columns.choices import split_names
from otherhalf.data.columns.encoding import ColumnEncoding, new_columns
from otherhalf.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Columns:
    """What the columns of the user's tables mean; None stands for the default of :func:`read_tables`."""

    id: str | None = None
    label: str | None = None
    features: Sequence[str] | str | None = None
    source: str | None = None
    target: str | None = None
    directed: bool = False
    unknown_edges: str = "drop"
    split_column: str | None = None
    split_time: str | None = None
    weight: str | bool | None = None
    relation: str | bool | None = None
    exclude: Sequence[str] | str | None = None
    kinds: Mapping[str, str] | str | None = None
    encode: bool = True

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> Columns:
        """Return the columns among the arguments of a function that has all of them by these names."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    def over(self, earlier: Columns) -> Columns:
        """Return these columns, with the earlier ones where nothing is said here."""
        said = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
        return replace(earlier, **said)


@dataclass(frozen=True, eq=False)
class Reading:
    """How tables were read for a fit; the same reading makes features of the same meaning from other tables.

    Attributes:
        columns: What the columns mean, with the names that the reader found. They are defaults for the next
            tables, whose ids or ends of edges may have other names.
        encoding: What became of the columns of features; None if their numbers were taken as they are.
        text: Columns of features that were text. A text file is read so again: otherwise 007 would become the
            number 7 in a table in which every cell of its column looks like a number.
        unused: Columns that were no features where numbers were taken as they are; None if an older version
            did not write it. An encoding knows them itself.
    """

    columns: Columns
    encoding: ColumnEncoding | None
    text: tuple[str, ...] = ()
    unused: tuple[str, ...] | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of each feature: of the encoded columns, or of the columns whose numbers were taken."""
        if self.encoding is not None:
            return self.encoding.names
        return tuple(split_names(self.columns.features or ()))

    def check_new(self, columns: Sequence[str]) -> None:
        """Raise InputError if columns are among those of a table that the fit did not have."""
        known = {*self.feature_names, *(columns if self.unused is None else self.unused)}
        new = [column for column in columns if column not in known]
        if new:
            raise InputError(new_columns(new))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the arrays, for JSON."""
        encoding = None if self.encoding is None else self.encoding.to_dict()
        # What the encoding was told is in the encoding.
        columns = replace(self.columns, exclude=None, kinds=None)
        return {
            "version": FORMAT_VERSION,
            "columns": asdict(columns),
            "encoding": encoding,
            "text": list(self.text),
            **({} if self.unused is None else {"unused": list(self.unused)}),
        }

    def tensors(self) -> dict[str, Tensor]:
        """Return the arrays, with the names that files use."""
        return {} if self.encoding is None else self.encoding.tensors()

    @classmethod
    def from_parts(cls, values: Mapping[str, Any] | None, tensors: Mapping[str, Tensor]) -> Reading | None:
        """Return the reading that was written with :meth:`to_dict` and :meth:`tensors`; None for nothing."""
        if values is None:
            return None
        if values["version"] > FORMAT_VERSION:
            raise InputError(
                f"the reading of tables has format {values['version']} and this otherhalf reads up to "
                f"{FORMAT_VERSION}: upgrade otherhalf"
            )
        encoding = values["encoding"]
        return cls(
            Columns(**values["columns"]),
            None if encoding is None else ColumnEncoding.from_parts(encoding, tensors),
            tuple(values.get("text", ())),
            None if values.get("unused") is None else tuple(values["unused"]),
        )


AS_NUMBERS = Reading(Columns(encode=False), None)
"""The reading of a fit that had no tables: numbers are taken as they are."""


def check_same_features(fitted: Reading | None, given: Reading | None) -> None:
    """Raise InputError if the features of a graph from tables do not mean what those of the fit mean.

    Args:
        fitted: The reading of the fit; None if its graph did not come from tables.
        given: The reading of the graph; None if its features were given as numbers, which cannot be checked.
    """
    if given is None or given.encoding == (fitted and fitted.encoding):
        return
    if fitted is None or fitted.encoding is None:
        raise InputError(
            "the columns of this graph were encoded, and the model was fitted to numbers as they are: read "
            "its tables with encode=False"
        )
    raise InputError(
        "the columns of this graph were not encoded as those of the fit, so its features mean something "
        "else: read its tables with reading=model.reading_"
    )
