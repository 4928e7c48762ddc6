"""CSV files as programs write them, and one sentence for every file that cannot be read."""

import gzip
import re

import pandas as pd
import pytest

from otherhalf.data.files import compressed, text
from otherhalf.data.files.text import TextTable
from otherhalf.errors import InputError
from otherhalf.system.memory import Room

TEXT = "id,label,a\n007,x,0.5\nv,y,1\n"


@pytest.fixture
def table(tmp_path):
    """Write a file and open it."""

    def write(content, name="t.csv", usual=","):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return TextTable(path, usual)

    return write


def refusal(open_and_read):
    with pytest.raises(InputError) as caught:
        open_and_read()
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestSeparators:
    @pytest.mark.parametrize(
        ("mark", "name"), [(",", ""), (";", "semicolons"), ("\t", "tabs"), ("|", "bars")]
    )
    def test_found_from_the_first_lines(self, table, mark, name):
        opened = table(TEXT.replace(",", mark))
        assert opened.columns == ["id", "label", "a"]
        assert opened.read(["id"])["a"].tolist() == [0.5, 1]
        path = opened.path
        assert opened.notes == ([f"The cells of {path} are separated by {name}."] if name else [])

    def test_signs_in_quoted_cells_and_in_text_do_not_count(self, table):
        opened = table('id;name, first;a\nu;"Doe; Jane";1\nv;Roe, R., Sr.;2\nw;x;3\n')
        assert opened.columns == ["id", "name, first", "a"]
        assert opened.read(["id"])["name, first"].tolist() == ["Doe; Jane", "Roe, R., Sr.", "x"]

    def test_quoted_cells_with_lines_in_them(self, table):
        opened = table('id,a,"b\nc"\n"u\nu",1,2\n')
        assert opened.columns == ["id", "a", "b\nc"]
        assert opened.read(["id"])["id"].tolist() == ["u\nu"]

    def test_one_column(self, table):
        assert table("id\nu\nv\n").columns == ["id"]

    def test_a_header_longer_than_the_sample(self, table):
        names = [f"column{i}" for i in range(20_000)]
        opened = table(";".join(names) + "\n" + ";".join(["1"] * 20_000) + "\n")
        assert opened.columns == names
        assert opened.read([]).shape == (1, 20_000)

    def test_cells_longer_than_the_sample(self, table):
        long = "x" * 300_000
        opened = table(f"id,a\n{long},1\nv,2\n")
        assert opened.read(["id"])["id"].str.len().tolist() == [300_000, 1]

    def test_decimal_commas_are_numbers(self, table):
        opened = table("id;a;b\n1,5;0,5;1\n2;2;3\n")
        rows = opened.read(["id"])
        assert (rows["id"].tolist(), rows["a"].tolist()) == (["1,5", "2"], [0.5, 2])
        assert opened.notes[-1].endswith("t.csv: the numbers in a have decimal commas.")

    def test_thousands_or_decimals_are_left_alone_and_said(self, table):
        opened = table('id,a\nu,"1,234"\nv,"2,345"\n')
        assert opened.read(["id"])["a"].tolist() == ["1,234", "2,345"]
        assert "the commas in a can separate decimals or thousands" in opened.notes[-1]


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
    def test_utf_8_needs_no_note(self, table, encoding):
        opened = table("id,å\nö,1\n".encode(encoding))
        assert (opened.columns, opened.read(["id"])["id"].tolist()) == (["id", "å"], ["ö"])
        assert opened.notes == []

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
    def test_wide_characters_by_their_mark(self, table, encoding):
        opened = table("id,å\nö,1\n".encode(encoding))
        assert (opened.columns, opened.read(["id"])["id"].tolist()) == (["id", "å"], ["ö"])
        assert opened.notes[0].endswith(f"was read in the encoding {encoding.upper()}.")

    def test_big_endian(self, table):
        content = "\ufeffid,a\nö,1\n".encode("utf-16-be")
        assert table(content).read(["id"])["id"].tolist() == ["ö"]

    def test_western_europe(self, table):
        opened = table("id,preis €\nMüller,1\n".encode("cp1252"))
        assert (opened.columns, opened.read(["id"])["id"].tolist()) == (["id", "preis €"], ["Müller"])
        assert len(opened.notes) == 1
        assert "is not UTF-8 and was read as cp1252 (Western Europe)" in opened.notes[0]

    def test_bytes_that_cp1252_lacks(self, table):
        opened = table(b"id,a\n\xe9\x81,1\n")
        assert opened.read(["id"])["id"].tolist() == ["é\x81"]
        assert "read as latin-1" in opened.notes[0]

    def test_found_late_in_the_file(self, table):
        opened = table(b"id,a\n" + b"u,1\n" * 100_000 + b"M\xfcller,2\n")
        assert opened.notes == []
        assert opened.read(["id"])["id"].iloc[-1] == "Müller"
        assert "cp1252" in opened.notes[0]

    def test_damaged(self, table):
        content = ("id,a\n" + "u,1\n" * 100_000).encode("utf-16")
        assert "is damaged UTF-16 text" in refusal(lambda: table(content + b"\x00\xd8").read(["id"]))

    def test_zero_bytes(self, table):
        assert "is not a text file (it holds zero bytes)" in refusal(lambda: table(b"id,a\n\0\0,1\n"))


class TestCells:
    def test_a_column_read_as_text_keeps_zeros_and_names_that_look_like_gaps(self, table):
        rows = table("id,a\n007,NA\nNA,7\n,\n").read(["id"])
        assert rows["id"].tolist()[:2] == ["007", "NA"]
        assert rows["a"].tolist()[1] == 7
        assert rows.isna().to_numpy().tolist() == [[False, True], [False, False], [True, True]]

    def test_spaces_around_column_names_do_not_count(self, table):
        assert table("id , a\nu,1\n").columns == ["id", "a"]

    def test_columns_without_name(self, table):
        opened = table(",id,,a\n0,u,1,2\n")
        assert opened.columns == ["Unnamed: 0", "id", "Unnamed: 2", "a"]
        assert opened.read(["id"])["a"].tolist() == [2]

    def test_empty_lines_above_the_names(self, table):
        opened = table("\n\nid,a\nu,1\n")
        assert (opened.columns, opened.read(["id"])["a"].tolist()) == (["id", "a"], [1])

    def test_the_first_rows_are_text(self, table):
        assert table("id,a\nu,1\nv,2\n").first_rows(1)["a"].tolist() == ["1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv is empty: give a table with column names"),
        ("\n\n", "t.csv is empty"),
        ("id,a\n", "t.csv has column names but no rows: add the data"),
        ("id,a,b,a\n1,2,3,4\n", "t.csv has two columns called 'a': rename one"),
        ("id,a\n10,1\n20,2,3\n", r"not a well-formed table \(Expected 2 fields in line 3"),
        ("id,a\n10,1,2\n20,2,3\n", "have more cells than there are column names"),
        ('id,a\n10,"1\n', r"not a well-formed table \(EOF inside string"),
    ],
)
def test_wrong_tables(table, text, message):
    assert re.search(message, refusal(lambda: table(text).read(["id"])))


def test_damaged_gzip(table):
    complete = gzip.compress(("id,a\n" + "".join(f"{i},{i * i}\n" for i in range(50000))).encode())
    for content in (b"id,a\n1,2\n", complete[: len(complete) // 2]):
        assert "t.csv.gz cannot be read" in refusal(lambda c=content: table(c, "t.csv.gz").read(["id"]))


class TestShortRows:
    def test_they_are_said_with_the_first_line(self, table):
        opened = table('id,label,a\nu,x,1\n"v\nv",y\n\nw\nt,z,3\n')
        assert opened.read(["id", "label"])["a"].isna().tolist() == [False, True, True, False]
        (note,) = opened.notes
        assert "2 rows have fewer cells" in note
        assert "line 4" in note

    def test_an_empty_last_cell_is_no_short_row(self, table):
        opened = table("id,label,a\nu,x,1\nv,y,\n")
        opened.read(["id"])
        assert opened.notes == []

    def test_in_another_encoding_compressed_with_tabs(self, table):
        content = gzip.compress("id\tlabel\ta\nü\tx\t1\nv\ty\n".encode("cp1252"))
        opened = table(content, "t.tsv.gz", "\t")
        opened.read(["id"])
        assert any("1 row has fewer cells" in note for note in opened.notes)


class TestSize:
    def test_a_table_that_the_memory_cannot_hold(self, table, monkeypatch):
        opened = table("id,a\n" + "u1,2\n" * 20_000)
        monkeypatch.setattr(compressed, "room", lambda: Room(10**6, "a limit"))
        assert len(opened.first_rows(5)) == 5
        message = refusal(lambda: opened.read(["id"]))
        assert "has 0 MB, which take about 17 times as much memory, and 1 MB are free, by a limit" in message
        monkeypatch.setattr(compressed, "room", lambda: Room(2 * 10**6, "a limit"))
        assert len(opened.read(["id"])) == 20_000

    def test_one_that_is_larger_than_its_file(self, table, monkeypatch):
        opened = table(gzip.compress(b"id,a\n" + b"u1,2\n" * 200_000), "t.csv.gz")
        monkeypatch.setattr(compressed, "room", lambda: Room(10**6, "a limit"))
        monkeypatch.setattr(compressed, "_BLOCK", 4096)
        assert "t.csv.gz unpacks to more than 0 MB" in refusal(lambda: opened.read(["id"]))

    @pytest.mark.parametrize("content", [b"id,a\n" + b"x" * 10**6, b"x" * 10**6])
    def test_lines_without_end(self, table, monkeypatch, content):
        monkeypatch.setattr(text, "_LONGEST_SAMPLE", 10**5)
        message = refusal(lambda: table(content))
        assert "the first two lines of" in message
        assert "have more than 0 MB: give a table with one row in each line" in message

    def test_old_line_ends(self, table):
        assert table(b"id,a\r" + b"u1,2\r" * 100_000)._bytes_of_row < 6

    def test_memory_that_pandas_does_not_get(self, table, monkeypatch):
        opened = table(TEXT)

        def short_of_memory(*_, **__):
            raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")

        monkeypatch.setattr(pd, "read_csv", short_of_memory)
        with pytest.raises(MemoryError, match="out of memory"):
            opened.read(["id"])
