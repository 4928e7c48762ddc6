"""Open a table by the ending of its file."""

from pathlib import Path

from otherhalf.data.files.compressed import PACKINGS, check_file, without_packing
from otherhalf.data.files.parquet import read_parquet
from otherhalf.data.files.table import MemoryTable, Table
from otherhalf.data.files.text import TextTable
from otherhalf.errors import InputError

SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
TABLE_ENDINGS = (*SEPARATORS, *_PARQUET, *PACKINGS)
"""How the names of tables end."""


def open_table(path: str | Path, notes: list[str] | None = None) -> Table:
    """Open a table: CSV (``.csv``, ``.tsv``, also compressed) or Parquet.

    Args:
        path: The file.
        notes: Sentences about what was decided, such as the encoding, are added here.
    """
    path = Path(path).expanduser()
    ending = _ending_to_read(path)
    check_file(path, "a .csv or .parquet file")
    if ending in _PARQUET:
        return MemoryTable(str(path), read_parquet(path), notes)
    return TextTable(path, SEPARATORS[ending], notes)


def _ending_to_read(path: Path) -> str:
    ending = Path(without_packing(path.name)).suffix
    if ending in SEPARATORS or (ending in _PARQUET and path.suffix.lower() not in PACKINGS):
        return ending
    raise InputError(f"{path} is neither CSV nor Parquet by its ending: use .csv, .tsv, .csv.gz or .parquet")


def file_ending(path: Path) -> str:
    """Return the ending of a table to write, without .gz. Raise InputError for other endings."""
    name = path.name.lower()
    packed = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in SEPARATORS or (ending in _PARQUET and not packed):
        return ending
    raise InputError(f"{path} is neither CSV nor Parquet by its ending: use .csv, .tsv, .csv.gz or .parquet")
