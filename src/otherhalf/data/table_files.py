"""Read CSV and Parquet files as pandas tables, with one sentence for every way to fail."""

import csv
import warnings
import zlib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from otherhalf.errors import InputError

# What means "no number" in a feature column. In ids and labels only the empty cell does, because "NA" and
# "None" can be names of a node or a class.
_NO_NUMBER = ["", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>", "#N/A"]

_UNNAMED = "Unnamed: "  # what pandas calls a column of a CSV file that has no name
SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")


class TableFile:
    """A table on disk whose column names are known before its cells are read.

    The names come first because they decide how the cells are read: an id column must be read as text,
    or the id 007 would become the number 7.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._frame: pd.DataFrame | None = None
        ending = file_ending(self.path)
        if not self.path.exists():
            raise InputError(f"{self.path} does not exist: check the path")
        if not self.path.is_file():
            raise InputError(f"{self.path} is not a file: give the path of a .csv or .parquet file")
        if ending in _PARQUET:
            self._frame = self._read_parquet()
            self.columns = [str(name) for name in self._frame.columns]
        else:
            self.separator = SEPARATORS[ending]
            self.columns = [str(name) for name in self._read_csv(nrows=0).columns]
            self._check_separator()
        if len(set(self.columns)) < len(self.columns):
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            raise InputError(f"{self.path} has two columns called {twice!r}: rename one")

    def read(self, text: Iterable[str]) -> pd.DataFrame:
        """Return all rows. The columns ``text`` of a CSV file stay text and do not become numbers."""
        if self._frame is None:
            text = set(text)
            self._frame = self._read_csv(
                dtype=dict.fromkeys(text, str),
                na_values={name: [""] if name in text else _NO_NUMBER for name in self.columns},
            )
        if len(self._frame) == 0:
            raise InputError(f"{self.path} has column names but no rows: add the data")
        return self._frame

    def unnamed(self, column: str) -> bool:
        """Return whether the column has no name, like the row numbers that pandas writes by default."""
        return column.startswith(_UNNAMED)

    def _read_csv(self, **options: Any) -> pd.DataFrame:
        try:
            with warnings.catch_warnings():
                # pandas only warns when it drops the cells beyond the last column name.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                frame: pd.DataFrame = pd.read_csv(
                    self.path,
                    sep=self.separator,
                    index_col=False,
                    keep_default_na=False,
                    skipinitialspace=True,
                    low_memory=False,
                    encoding="utf-8-sig",
                    **options,
                )
            return frame
        except pd.errors.EmptyDataError as error:
            raise InputError(
                f"{self.path} is empty: give a table with column names in its first line"
            ) from error
        except pd.errors.ParserWarning as error:
            raise InputError(
                f"the rows of {self.path} have more cells than there are column names: "
                "name every column in the first line and drop commas at the ends of lines"
            ) from error
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.path} is not UTF-8 text: save it as CSV in the encoding UTF-8"
            ) from error
        except (pd.errors.ParserError, csv.Error) as error:
            reason = str(error).strip().removeprefix("Error tokenizing data. C error: ")
            raise InputError(
                f"{self.path} is not a well-formed table ({reason}): correct that line"
            ) from error
        except (OSError, EOFError, zlib.error) as error:
            raise self._unreadable(error) from error

    def _read_parquet(self) -> pd.DataFrame:
        if find_spec("pyarrow") is None:
            raise InputError(
                f"reading {self.path} needs pyarrow: run `pip install otherhalf[io]`, or give a CSV file"
            )
        from pyarrow import ArrowException

        try:
            frame = pd.read_parquet(self.path, engine="pyarrow")
        except ArrowException as error:
            raise InputError(
                f"{self.path} is not a Parquet file, or it is damaged: write it again"
            ) from error
        except OSError as error:
            raise self._unreadable(error) from error
        # pandas keeps the index separate; here it is a column like the others.
        if not isinstance(frame.index, pd.RangeIndex):
            frame = frame.reset_index(
                names=[name or f"{_UNNAMED}{i}" for i, name in enumerate(frame.index.names)]
            )
        return frame.set_axis(frame.columns.map(str), axis="columns")

    def _unreadable(self, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or error
        return InputError(f"{self.path} cannot be read ({reason}): check its permissions, or write it again")

    def _check_separator(self) -> None:
        if len(self.columns) > 1:
            return
        for mark, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"), (",", "commas")):
            if mark in self.columns[0]:
                raise InputError(
                    f"the cells of {self.path} are separated by {name}: "
                    "separate them by commas (.csv) or by tabs (.tsv)"
                )


def file_ending(path: Path) -> str:
    """Return the ending that tells the format of a table, without .gz. Raise InputError for other endings."""
    name = path.name.lower()
    packed = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in SEPARATORS or (ending in _PARQUET and not packed):
        return ending
    raise InputError(f"{path} is neither CSV nor Parquet by its ending: use .csv, .tsv, .csv.gz or .parquet")
