"""CSV and Parquet files as tables, and one sentence for every file that cannot be read."""

import gzip
import re
from pathlib import Path

import pandas as pd
import pytest

from otherhalf.data import table_files
from otherhalf.data.table_files import TableFile, file_ending
from otherhalf.errors import InputError

TEXT = "id,label,a\n007,x,0.5\nv,y,1\n"


def read(path, text=("id",)):
    return TableFile(path).read(text)


def refusal(path):
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq", ".CSV"])
def test_every_format_gives_the_same_table(tmp_path, ending):
    table = pd.DataFrame({"id": ["007", "v"], "label": ["x", "y"], "a": [0.5, 1.0]})
    path = tmp_path / f"t{ending}"
    if ending in (".parquet", ".pq"):
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in ending else ",")
    assert TableFile(str(path)).columns == ["id", "label", "a"]
    assert read(path).to_dict("list") == table.to_dict("list")


def test_a_column_read_as_text_keeps_zeros_and_names_that_look_like_gaps(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,a\n007,NA\nNA,7\n,\n")
    table = read(path)
    assert table["id"].tolist()[:2] == ["007", "NA"]
    assert table["a"].tolist()[1] == 7
    assert table.isna().to_numpy().tolist() == [[False, True], [False, False], [True, True]]


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT, encoding="utf-8-sig")
    assert TableFile(path).columns[0] == "id"


def test_a_named_index_in_parquet_is_a_column(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2]}, index=pd.Index(["u", "v"], name="id")).to_parquet(path)
    assert read(path)["id"].tolist() == ["u", "v"]


def test_an_index_without_name_is_a_column_without_name(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1]}, index=[17]).to_parquet(path)
    file = TableFile(path)
    assert [file.unnamed(column) for column in file.columns] == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv is empty: give a table with column names"),
        ("\n\n", "t.csv is empty"),
        ("id,a\n", "t.csv has column names but no rows: add the data"),
        ("id;a\n10;1\n", "are separated by semicolons: separate them by commas"),
        ("s\tt\n10\t20\n", "the cells of .*t.csv are separated by tabs"),
        ("id,a\n10,1\n20,2,3\n", r"not a well-formed table \(Expected 2 fields in line 3"),
        ("id,a\n10,1,2\n20,2,3\n", "have more cells than there are column names"),
        ('id,a\n10,"1\n', r"not a well-formed table \(EOF inside string"),
    ],
)
def test_wrong_tables(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert re.search(message, refusal(path))


def test_missing_file_and_folder(tmp_path):
    assert refusal(tmp_path / "no.csv").endswith("no.csv does not exist: check the path")
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv is not a file" in refusal(tmp_path / "folder.csv")


@pytest.mark.parametrize("name", ["n.xlsx", "n", "n.parquet.gz"])
def test_other_formats(tmp_path, name):
    (tmp_path / name).write_text(TEXT)
    message = refusal(tmp_path / name)
    assert "is neither CSV nor Parquet by its ending: use .csv, .tsv, .csv.gz or .parquet" in message


@pytest.mark.parametrize(
    ("name", "ending"), [("a.csv", ".csv"), ("b.TSV.gz", ".tsv"), ("c.d.parquet", ".parquet")]
)
def test_file_ending(name, ending):
    assert file_ending(Path(name)) == ending


def test_other_encodings(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("id,a\nå,1\n".encode("latin-1"))
    assert "t.csv is not UTF-8 text: save it as CSV in the encoding UTF-8" in refusal(path)


def test_damaged_gzip(tmp_path):
    complete = gzip.compress(("id,a\n" + "".join(f"{i},{i * i}\n" for i in range(5000))).encode())
    for content in (b"id,a\n1,2\n", complete[: len(complete) // 2]):
        path = tmp_path / "t.csv.gz"
        path.write_bytes(content)
        assert "t.csv.gz cannot be read" in refusal(path)


def test_not_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text(TEXT)
    assert "t.parquet is not a Parquet file, or it is damaged: write it again" in refusal(path)


def test_without_pyarrow(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_text("")
    monkeypatch.setattr(table_files, "find_spec", lambda name: None)
    assert "t.parquet needs pyarrow: run `pip install otherhalf[io]`" in refusal(path)
