"""Write a table in a format that other programs read: CSV or Parquet, by the ending of the file."""

import csv
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from otherhalf.data.table_files import PARQUET, SEPARATORS
from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write, check_place
from otherhalf.system.paths import user_path

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a cell begins with that a spreadsheet may compute; it skips a tab or a line end, and in East Asia also
takes wide signs.
"""


def check_table_file(path: str | Path) -> str:
    """Return the ending of a table's path, without .gz; raise InputError if no table can be written there.

    Call it before long work, not after it.
    """
    path = user_path(path)
    name = path.name.lower()
    packed = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in SEPARATORS and (ending not in PARQUET or packed):
        raise InputError(
            f"{path} is neither CSV nor Parquet by its ending: use .csv, .tsv, .csv.gz or .parquet"
        )
    if ending in PARQUET and find_spec("pyarrow") is None:
        raise InputError(
            f"writing {path} needs pyarrow: run `pip install otherhalf[io]`, or write a .csv file instead"
        )
    check_place(path)
    return ending


def write_table(path: str | Path, table: pd.DataFrame, *, spreadsheet_safe: bool = False) -> None:
    """Write a table, completely or not at all: ``.csv``, ``.tsv`` (also ``.gz``) or ``.parquet``.

    A spreadsheet takes text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, and computes it.
    With ``spreadsheet_safe`` such text, unless it is a number, has an apostrophe before it in CSV files, and
    all text is in quotes: in some countries a spreadsheet takes a semicolon for the end of a cell.
    """
    path = user_path(path)
    ending = check_table_file(path)
    if spreadsheet_safe and ending in SEPARATORS:
        table = table.map(_without_formula).rename(columns=_without_formula)
    try:
        with atomic_write(path) as temporary:
            if ending in SEPARATORS:
                quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if spreadsheet_safe else csv.QUOTE_MINIMAL
                table.to_csv(  # compressed if it ends in .gz
                    temporary, index=False, sep=SEPARATORS[ending], compression="infer", quoting=quoting
                )
            else:
                table.to_parquet(temporary, index=False, engine="pyarrow")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}): choose another folder"
        ) from error


def _without_formula(cell: Any) -> Any:
    """Return a cell so that a spreadsheet takes it for text or a number, never for a formula."""
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
