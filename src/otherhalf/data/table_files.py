"""Open a table by the ending of its file, or as a table of a database."""

from pathlib import Path

from otherhalf.data.files.compressed import PACKINGS, check_file, without_packing
from otherhalf.data.files.database import MARK, read_database_table
from otherhalf.data.files.json_lines import read_json_lines
from otherhalf.data.files.parquet import read_parquet
from otherhalf.data.files.table import MemoryTable, Table
from otherhalf.data.files.text import TextTable
from otherhalf.errors import InputError
from otherhalf.system.paths import user_path

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
_JSON_LINES = (".jsonl", ".ndjson")
TABLE_ENDINGS = (*SEPARATORS, *PARQUET, *_JSON_LINES, *PACKINGS)
"""How the names of tables end."""


def open_table(path: str | Path, notes: list[str] | None = None) -> Table:
    """Open a table: CSV (``.csv``, ``.tsv``), JSON lines (``.jsonl``, ``.ndjson``), Parquet or a database.

    CSV and JSON lines may be compressed.

    Args:
        path: The file, or ``file::table`` for a table of a SQLite or DuckDB file.
        notes: Sentences about what was decided, such as the encoding, are added here.
    """
    file, mark, table = str(path).partition(MARK)
    path = user_path(file)
    if mark:
        return MemoryTable(f"{path}{MARK}{table}", read_database_table(path, table), notes)
    ending = _ending_to_read(path)
    check_file(path, "a .csv or .parquet file")
    if ending in PARQUET:
        return MemoryTable(str(path), read_parquet(path), notes)
    if ending in _JSON_LINES:
        return MemoryTable(str(path), read_json_lines(path), notes)
    return TextTable(path, SEPARATORS[ending], notes)


def _ending_to_read(path: Path) -> str:
    ending = Path(without_packing(path.name)).suffix
    packed = path.suffix.lower() in PACKINGS
    if ending in SEPARATORS or ending in _JSON_LINES or (ending in PARQUET and not packed):
        return ending
    raise InputError(
        f"{path} is neither CSV nor Parquet by its ending: use .csv, .tsv, .csv.gz, .jsonl or .parquet"
    )
