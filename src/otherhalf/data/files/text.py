"""CSV files as they are: any separator, any usual encoding, compressed or not."""

from __future__ import annotations

import codecs
import csv
import io
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from otherhalf.data.files.compressed import DAMAGED, open_bytes, unreadable
from otherhalf.data.files.numbers import read_decimal_commas
from otherhalf.data.files.table import UNNAMED, Table
from otherhalf.data.notes import listing
from otherhalf.errors import InputError
from otherhalf.system.memory import in_bytes

# What means "no number" in a feature column. In ids and labels only the empty cell does, because "NA" and
# "None" can be names of a node or a class.
_NO_NUMBER = ["", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>", "#N/A"]

SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = [  # the longer marks first: that of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_OLD_ENCODINGS = ("cp1252", "latin-1")
_SAMPLE_BYTES, _SAMPLE_ROWS = 2**16, 50
_BYTES_OF_NUMBER, _BYTES_OF_TEXT = 20, 60
_LONGEST_SAMPLE = 2**27  # of two lines; a file without line ends would otherwise be read as one line


class TextTable(Table):
    """A CSV file. Its encoding and its separator are found from its first lines.

    Args:
        path: The file, which may be compressed.
        usual: The separator that the ending of the file promises.
        notes: Sentences about what was found are added here.
    """

    def __init__(self, path: Path, usual: str, notes: list[str] | None = None) -> None:
        self.path = path
        try:
            sample, complete = _sample(path)
        except DAMAGED as error:
            raise unreadable(path, error) from error
        self.encoding = next((name for mark, name in _MARKS if sample.startswith(mark)), "utf-8")
        self._bytes_of_row = len(sample) / max(1, _lines(sample))
        text = self._decode(sample, complete)
        self.separator, header = self._separator_and_header(text, complete, usual)
        super().__init__(str(path), _column_names(header), notes)
        if self.encoding.startswith(("utf-16", "utf-32")):
            self.notes.append(f"{path} was read in the encoding {self.encoding.upper()}.")
        elif self.encoding in _OLD_ENCODINGS:
            self._note_encoding()
        if self.separator != usual:
            self.notes.append(f"The cells of {path} are separated by {SEPARATOR_NAMES[self.separator]}.")

    # ------------------------------------------------------------------ encoding and separator

    def _decode(self, sample: bytes, complete: bool) -> str:
        if self.encoding == "utf-8" and b"\0" in sample:
            raise InputError(f"{self.path} is not a text file (it holds zero bytes): save it as CSV in UTF-8")
        for encoding in (self.encoding, *(_OLD_ENCODINGS if self.encoding == "utf-8" else ())):
            try:
                text: str = codecs.getincrementaldecoder(encoding)().decode(sample, final=complete)
            except UnicodeError:
                continue
            self.encoding = encoding
            return text
        raise self._damaged_text()

    def _damaged_text(self) -> InputError:
        return InputError(f"{self.path} is damaged {self.encoding.upper()} text: save it as CSV in UTF-8")

    def _note_encoding(self) -> None:
        self.notes.append(
            f"{self.path} is not UTF-8 and was read as {self.encoding} (Western Europe): check that the "
            "names look right, or save it in UTF-8."
        )

    def _separator_and_header(self, text: str, complete: bool, usual: str) -> tuple[str, list[str]]:
        """Return the separator that gives most lines as many cells as the first, and the first line."""
        best = None
        for separator in sorted(SEPARATOR_NAMES, key=lambda mark: mark != usual):
            rows = _parsed(text, separator, complete)
            if not rows:
                raise InputError(f"{self.path} is empty: give a table with column names in its first line")
            width = len(rows[0])
            alike = sum(len(row) == width for row in rows) / len(rows)
            score = (width > 1, alike, width)
            if best is None or score > best[0]:
                best = (score, separator, rows[0])
        assert best is not None
        return best[1], best[2]

    # ------------------------------------------------------------------ cells

    def _rows(self, text: set[str], count: int | None) -> pd.DataFrame:
        cells = self._in_any_encoding(
            0 if count is not None else self._copies(text),
            nrows=count,
            dtype=dict.fromkeys(text, str),
            na_values={name: [""] if name in text else _NO_NUMBER for name in self.columns},
        )
        if count is not None:
            return cells
        if len(cells) and cells[self.columns[-1]].isna().any():
            self._note_short_rows()
        cells, changed, unclear = read_decimal_commas(cells, text, self.separator)
        if changed:
            self.notes.append(f"{self.path}: the numbers in {listing(changed)} have decimal commas.")
        if unclear:
            self.notes.append(
                f"{self.path}: the commas in {listing(unclear)} can separate decimals or thousands, and were "
                "not taken as decimal commas: write the numbers with points or without commas."
            )
        return cells

    def _note_short_rows(self) -> None:
        """Say how many rows end before the last column: pandas fills them up without a word."""
        first, number = 0, 0
        with open_bytes(self.path) as opened, io.TextIOWrapper(opened, self.encoding, newline="") as lines:
            rows = csv.reader(lines, delimiter=self.separator, skipinitialspace=True)
            with suppress(csv.Error):  # a cell longer than that module reads: the rows before it are counted
                for row in rows:
                    if 0 < len(row) < len(self.columns):
                        first, number = first or rows.line_num, number + 1
        if number:
            has = "1 row has" if number == 1 else f"{number:,} rows have"
            self.notes.append(
                f"{self.path}: {has} fewer cells than there are columns (the first ends in line {first:,}); "
                "what is missing at the end counts as empty."
            )

    def _copies(self, text: set[str]) -> float:
        """Return about how many times the bytes of the file the table takes while it is read.

        A number takes 20 bytes and a text 60, however short they are: pandas keeps the places of all cells.
        """
        as_text = sum(column in text for column in self.columns)
        cells = _BYTES_OF_TEXT * as_text + _BYTES_OF_NUMBER * (len(self.columns) - as_text)
        return max(2.0, 1 + cells / self._bytes_of_row)

    def _in_any_encoding(self, copies: float, **options: Any) -> pd.DataFrame:
        try:
            return self._parse(self.encoding, copies, options)
        except UnicodeError:
            if self.encoding != "utf-8" and self.encoding not in _OLD_ENCODINGS:
                raise self._damaged_text() from None
        for self.encoding in _OLD_ENCODINGS:
            try:
                cells = self._parse(self.encoding, copies, options)
            except UnicodeError:
                continue
            self._note_encoding()
            return cells
        raise AssertionError("latin-1 decodes every byte")

    def _parse(self, encoding: str, copies: float, options: dict[str, Any]) -> pd.DataFrame:
        try:
            with warnings.catch_warnings(), open_bytes(self.path, copies) as opened:
                # pandas only warns when it drops the cells beyond the last column name.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                cells: pd.DataFrame = pd.read_csv(
                    opened,
                    sep=self.separator,
                    header=0,
                    names=self.columns,
                    index_col=False,
                    keep_default_na=False,
                    skipinitialspace=True,
                    low_memory=False,
                    encoding=encoding,
                    **options,
                )
            return cells
        except pd.errors.ParserWarning as error:
            raise InputError(
                f"the rows of {self.path} have more cells than there are column names: "
                f"name every column in the first line and drop {SEPARATOR_NAMES[self.separator]} "
                "at the ends of lines"
            ) from error
        except (pd.errors.ParserError, csv.Error) as error:
            reason = str(error).strip().removeprefix("Error tokenizing data. C error: ")
            if "out of memory" in reason:
                raise MemoryError(reason) from error
            raise InputError(
                f"{self.path} is not a well-formed table ({reason}): correct that line"
            ) from error
        except UnicodeError:
            raise
        except DAMAGED as error:
            raise unreadable(self.path, error) from error


def _sample(path: Path) -> tuple[bytes, bool]:
    """Return the beginning of the file, at least two lines of it, and whether that is all of it."""
    with open_bytes(path) as opened:
        sample, lines = io.BytesIO(), 0
        while part := opened.read(_SAMPLE_BYTES):
            sample.write(part)
            lines += _lines(part)
            if lines > 2:
                return sample.getvalue(), False
            if sample.tell() > _LONGEST_SAMPLE:
                raise InputError(
                    f"the first two lines of {path} have more than {in_bytes(_LONGEST_SAMPLE)}: give a table "
                    "with one row in each line"
                )
    return sample.getvalue(), True


def _lines(part: bytes) -> int:
    return max(part.count(b"\n"), part.count(b"\r"))


def _parsed(text: str, separator: str, complete: bool) -> list[list[str]]:
    """Return the first lines of the text as cells, without empty lines and without a line that was cut."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS:
                return rows[:-1]
    except csv.Error:  # a cell longer than that module reads; pandas reads it
        return rows or [text.split("\n", maxsplit=1)[0].split(separator)]
    return rows if complete or len(rows) < 2 else rows[:-1]


def _column_names(header: list[str]) -> list[str]:
    return [name.strip() or f"{UNNAMED}{place}" for place, name in enumerate(header)]
