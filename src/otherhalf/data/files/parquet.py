"""Parquet files as tables."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from otherhalf.data.files.compressed import check_size, unreadable
from otherhalf.data.files.table import UNNAMED
from otherhalf.errors import InputError

_NUMBER = 8  # bytes
_COPIES = 3  # the values as Arrow has them, as pandas has them, and a column on its way


def read_parquet(path: Path) -> pd.DataFrame:
    """Return the table; an index that pandas wrote is a column like the others."""
    if find_spec("pyarrow") is None:
        raise InputError(f"reading {path} needs pyarrow: run `pip install otherhalf[io]`, or give a CSV file")
    from pyarrow import ArrowException, parquet

    try:
        metadata = parquet.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        names = schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{path} has two columns called {twice!r}: rename one")
        check_size(str(path), _bytes_of_numbers(metadata), _COPIES)
        texts = [column.path for column in _leaves(metadata) if _is_text(column)]
        if texts:  # as codes, because a few bytes can stand for a long text in every row
            with parquet.ParquetFile(path, read_dictionary=texts) as opened:
                coded = opened.read()
            coded.validate(full=True)  # pandas takes bytes that are no text as they are, and fails later
            check_size(str(path), _bytes_of_values(coded), _COPIES)
            del coded
        cells = pd.read_parquet(path, engine="pyarrow", partitioning=None)
    except InputError:
        raise
    # The last three: in what pandas has written about its columns.
    except (ArrowException, UnicodeError, TypeError, LookupError, AttributeError) as error:
        raise InputError(f"{path} is not a Parquet file, or it is damaged: write it again") from error
    except (ValueError, OverflowError) as error:  # such as a date in the year 275760
        raise InputError(f"{path} holds a value that cannot be read ({error}): correct it") from error
    except OSError as error:
        raise unreadable(path, error) from error
    if not isinstance(cells.index, pd.RangeIndex):
        cells = cells.reset_index(
            names=[name or f"{UNNAMED}{place}" for place, name in enumerate(cells.index.names)]
        )
    return cells


def _leaves(metadata: Any) -> list[Any]:
    """Return the columns of a file; those of lists and structures are its inner ones."""
    return [metadata.schema.column(place) for place in range(metadata.num_columns)]


def _is_text(column: Any) -> bool:
    return bool(column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL")


def _bytes_of_numbers(metadata: Any) -> int:
    """Return how many bytes all values take, each text counted as one number.

    The file can hold them in a few bytes: a number that is repeated is there once.
    """
    widths = [max(_NUMBER, column.length) for column in _leaves(metadata)]
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    return sum(
        group.column(place).num_values * width for group in groups for place, width in enumerate(widths)
    )


def _bytes_of_values(table: Any) -> int:
    """Return how many bytes the values of a table take when each coded text is written out."""
    from pyarrow import compute, types

    def count(values: Any) -> int:
        if types.is_struct(values.type):
            return sum(map(count, values.flatten()))
        if types.is_map(values.type):
            return count(values.keys) + count(values.items)
        if types.is_nested(values.type):
            return count(values.flatten())
        if types.is_dictionary(values.type):
            lengths = compute.binary_length(values.dictionary)
            return compute.sum(lengths.take(values.indices)).as_py() or 0
        return int(values.nbytes)

    return sum(count(chunk) for column in table.columns for chunk in column.chunks)
