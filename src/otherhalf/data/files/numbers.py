"""Numbers in text files that are written with a decimal comma."""

from typing import Any

import pandas as pd

_NUMBER = r"[+-]?[0-9]+(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?"
# 0,125 and 12,34 and 1234,567 are decimals; 1,234 can also be a thousand and 234.
_SURELY_DECIMAL = r"[+-]?(?:0+,[0-9]+|[0-9]{4,},[0-9]+|[0-9]+,(?:[0-9]{1,2}|[0-9]{4,}))(?:[eE].*)?"


def read_decimal_commas(
    cells: pd.DataFrame, text: set[str], separator: str
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Turn columns of numbers with decimal commas into numbers.

    In a table that is separated by commas, 1,234 in quotation marks can be 1.234 or 1234. Such a column
    stays text if no cell of it decides that.

    Returns:
        The table, the columns that were changed, and the columns that stay text because they have two
        meanings.
    """
    changed: dict[str, pd.Series[Any]] = {}
    unclear = []
    for column in cells.columns:
        if column in text or not pd.api.types.is_string_dtype(cells[column]):
            continue
        values = cells[column].dropna().astype(str).str.strip()
        with_comma = values[values.str.contains(",", regex=False)]
        if len(with_comma) == 0 or not values.str.fullmatch(_NUMBER).all():
            continue
        if separator == "," and not with_comma.str.fullmatch(_SURELY_DECIMAL).any():
            unclear.append(column)
            continue
        numbers = pd.to_numeric(values.str.replace(",", ".", regex=False)).astype(float)
        changed[column] = numbers.reindex(cells.index)
    return cells.assign(**changed) if changed else cells, list(changed), unclear
