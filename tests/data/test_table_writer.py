"""Tables in every format that is written, completely or not at all."""

import csv
import os

import pandas as pd
import pytest

from otherhalf.data import table_writer
from otherhalf.data.table_writer import check_table_file, write_table
from otherhalf.errors import InputError

TABLE = pd.DataFrame({"id": ["007", "b,c"], "weight": [0.25, 1.0]})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet", "t.pq", "t.CSV"])
def test_every_format_holds_the_same_table(tmp_path, name):
    path = tmp_path / "new" / name
    write_table(str(path), TABLE)
    if path.suffix in (".parquet", ".pq"):
        found = pd.read_parquet(path)
    else:
        found = pd.read_csv(path, dtype={"id": str}, sep="\t" if ".tsv" in name else ",")
    pd.testing.assert_frame_equal(found, TABLE)
    assert [file.name for file in path.parent.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "ending"), [("a.csv", ".csv"), ("b.TSV.gz", ".tsv"), ("c.d.parquet", ".parquet")]
)
def test_the_check_returns_the_ending_and_writes_nothing(tmp_path, name, ending):
    assert check_table_file(tmp_path / "new" / name) == ending
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("name", ["a.csv.bz2", "a.xlsx", "a", "a.parquet.gz"])
def test_what_is_not_written(tmp_path, name):
    with pytest.raises(InputError, match=rf"{name} is neither CSV nor Parquet by its ending: use \.csv"):
        check_table_file(tmp_path / name)


def test_a_folder_in_place_of_the_file(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(InputError, match=r"t\.csv is a folder: give the name of a file"):
        write_table(tmp_path / "t.csv", TABLE)


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        InputError, match=r"file is no folder that can be written to .*: choose another folder"
    ):
        write_table(tmp_path / "file" / "t.csv", TABLE)


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setattr(table_writer, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs pyarrow: run `pip install otherhalf\[io\]`"):
        write_table(tmp_path / "t.parquet", TABLE)
    write_table(tmp_path / "t.csv", TABLE)


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(5, "broken")

    path = tmp_path / "t.csv"
    path.write_text("old")
    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(InputError, match=r"t\.csv cannot be written \(broken\)"):
        write_table(path, TABLE)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_no_cell_is_a_formula_to_a_spreadsheet(tmp_path):
    cells = ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "\n=1", "＝1", "-5", "+1e3", "a=b", "", None]
    table = pd.DataFrame({"=id": cells, "p": range(12)})
    write_table(tmp_path / "plain.csv", table)
    assert pd.read_csv(tmp_path / "plain.csv")["=id"][0] == "=1+1"
    write_table(tmp_path / "safe.csv", table, spreadsheet_safe=True)
    read = pd.read_csv(tmp_path / "safe.csv", dtype=str, keep_default_na=False)
    assert list(read.columns) == ["'=id", "p"]
    safe = ["'=1+1", "'+cmd", "'-x", "'@SUM(A1)", "'\t=1", "'\n=1", "'＝1", "-5", "+1e3", "a=b", "", ""]
    assert read["'=id"].tolist() == safe
    write_table(tmp_path / "t.parquet", table, spreadsheet_safe=True)  # no spreadsheet reads formulas there
    assert pd.read_parquet(tmp_path / "t.parquet")["=id"].tolist()[:-1] == cells[:-1]


@pytest.mark.parametrize("between", [";", ",", "\t", "|"])
def test_no_other_separator_begins_a_cell_with_a_formula(tmp_path, between):
    table = pd.DataFrame({f"id{between}=1": [f"x{between}=1+1"], "p": [0.5]})
    write_table(tmp_path / "safe.csv", table, spreadsheet_safe=True)
    lines = (tmp_path / "safe.csv").read_text().splitlines()
    for row in csv.reader(lines, delimiter=between):  # as a spreadsheet of another country reads it
        assert not any(cell.startswith("=") for cell in row)
    assert pd.read_csv(tmp_path / "safe.csv").iloc[0].tolist() == [f"x{between}=1+1", 0.5]


def test_a_write_protected_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("old")
    path.chmod(0o444)
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write everything
    with pytest.raises(InputError, match=r"t\.csv is write-protected: give another name, or allow writing"):
        write_table(path, TABLE)
    assert path.read_text() == "old"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_table_has_the_permissions_of_the_old_one(tmp_path):
    path = tmp_path / "t.csv"
    write_table(path, TABLE)
    path.chmod(0o600)
    write_table(path, TABLE)
    assert path.stat().st_mode & 0o777 == 0o600
