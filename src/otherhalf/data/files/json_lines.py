"""JSON lines as tables: one object per line, its keys are the columns."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from otherhalf.data.files.compressed import DAMAGED, open_bytes, unreadable
from otherhalf.data.files.json_text import parse_json
from otherhalf.errors import InputError

_COPIES = 10  # the memory of Python's objects as a multiple of their text


def read_json_lines(path: Path) -> pd.DataFrame:
    """Return the table; a key that a line lacks is an empty cell, and integers stay exact."""
    rows: list[dict[str, Any]] = []
    try:
        with open_bytes(path, _COPIES) as opened:
            for number, line in enumerate(opened.read().decode("utf-8-sig").split("\n"), start=1):
                if line.strip():
                    rows.append(_row(path, number, line))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: save it in the encoding UTF-8") from error
    except DAMAGED as error:
        raise unreadable(path, error) from error
    if not rows:
        raise InputError(f"{path} is empty: give one JSON object per line")
    return typed(rows)


def typed(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table. Columns of one type have it; those with gaps keep their integers exact."""
    columns = dict.fromkeys(str(key) for row in rows for key in row)
    cells = {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in columns}
    return pd.DataFrame({name: _typed_column(column) for name, column in cells.items()})


def _typed_column(column: Any) -> Any:
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "decimal":
        return column.astype(float)
    if kind in ("boolean", "integer") and column.isna().any():
        return column  # as float64, large integers would be rounded
    return column.infer_objects()


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = parse_json(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {number} is not JSON: give one JSON object per line") from error
    except ValueError as error:
        raise InputError(f"{path}: line {number} cannot be used ({error}): correct it") from error
    if not isinstance(row, dict):
        raise InputError(
            f'{path}: line {number} is no JSON object: give objects such as {{"id": 1, "label": "a"}}'
        )
    return row
