"""Parquet files as tables."""

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from otherhalf.data.files.compressed import unreadable
from otherhalf.data.files.table import UNNAMED
from otherhalf.errors import InputError


def read_parquet(path: Path) -> pd.DataFrame:
    """Return the table; an index that pandas wrote is a column like the others."""
    if find_spec("pyarrow") is None:
        raise InputError(f"reading {path} needs pyarrow: run `pip install otherhalf[io]`, or give a CSV file")
    from pyarrow import ArrowException, parquet

    try:
        schema = parquet.read_schema(path)
        names = schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{path} has two columns called {twice!r}: rename one")
        texts = [field.name for field in schema if str(field.type).endswith(("string", "string_view"))]
        if texts:  # pandas takes bytes that are no text as they are, and fails later
            parquet.read_table(path, columns=texts).validate(full=True)
        cells = pd.read_parquet(path, engine="pyarrow")
    except InputError:
        raise
    except (ArrowException, UnicodeError, TypeError) as error:  # TypeError: in the words of pandas inside
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
