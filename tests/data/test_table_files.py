"""Tables by the ending of their file."""

import bz2
import lzma
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

from otherhalf.data.table_files import open_table
from otherhalf.errors import InputError

TABLE = pd.DataFrame({"id": ["007", "v"], "label": ["x", "y"], "a": [0.5, 1.0]})


def read(path):
    return open_table(path).read(["id"])


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq", ".CSV"])
def test_every_format_gives_the_same_table(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    if ending in (".parquet", ".pq"):
        TABLE.to_parquet(path)
    else:
        TABLE.to_csv(path, index=False, sep="\t" if ".tsv" in ending else ",")
    notes = []
    table = open_table(str(path), notes)
    assert (table.name, table.columns, notes) == (str(path), ["id", "label", "a"], [])
    assert read(path).to_dict("list") == TABLE.to_dict("list")


@pytest.mark.parametrize(("ending", "pack"), [(".bz2", bz2.compress), (".xz", lzma.compress)])
def test_other_packings(tmp_path, ending, pack):
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(pack(TABLE.to_csv(index=False).encode()))
    assert read(path).to_dict("list") == TABLE.to_dict("list")


def test_json_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    TABLE.to_json(path, orient="records", lines=True)
    assert read(path).to_dict("list") == TABLE.to_dict("list")


def test_a_table_of_a_database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "d.db")) as connection:
        TABLE.to_sql("my table", connection, index=False)
    table = open_table(f"{tmp_path}/d.db::my table")
    assert table.name == f"{tmp_path}/d.db::my table"
    assert table.read([]).to_dict("list") == TABLE.to_dict("list")


def test_notes_reach_the_caller(tmp_path):
    path = tmp_path / "t.csv"
    TABLE.to_csv(path, index=False, sep=";")
    notes = []
    open_table(path, notes)
    assert notes == [f"The cells of {path} are separated by semicolons."]


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match=r"no.csv does not exist: check the path"):
        read(tmp_path / "no.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder.csv is a folder and not a file"):
        read(tmp_path / "folder.csv")


@pytest.mark.parametrize("name", ["n.xlsx", "n", "n.parquet.gz"])
def test_other_formats(tmp_path, name):
    with pytest.raises(InputError, match=f"{name} is neither CSV nor Parquet by its ending: use .csv"):
        read(tmp_path / name)
