from decimal import Decimal

import pandas as pd
import pytest

from otherhalf.data.files import compressed, parquet
from otherhalf.data.files.parquet import read_parquet
from otherhalf.errors import InputError
from otherhalf.system.memory import Room


def test_a_named_index_is_a_column(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2]}, index=pd.Index(["u", "v"], name="id")).to_parquet(path)
    assert read_parquet(path)["id"].tolist() == ["u", "v"]


def test_an_index_without_name_is_a_column_without_name(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1]}, index=[17]).to_parquet(path)
    assert read_parquet(path).columns.tolist() == ["Unnamed: 0", "a"]


def test_not_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text("id,a\n")
    with pytest.raises(
        InputError, match=r"t.parquet is not a Parquet file, or it is damaged: write it again"
    ):
        read_parquet(path)


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"t.parquet needs pyarrow: run `pip install otherhalf\[io\]`"):
        read_parquet(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (lambda pa: pa.table([[1], [2]], names=["a", "a"]), "has two columns called 'a': rename one"),
        (lambda pa: pa.table({"day": pa.array([10**8], pa.date32())}), "holds a value that cannot be read"),
    ],
)
def test_tables_that_pandas_cannot_hold(tmp_path, table, message):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as arrow_parquet

    arrow_parquet.write_table(table(pa), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=message):
        read_parquet(tmp_path / "t.parquet")


def test_bytes_that_are_no_text_are_damage(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"id": ["first", "second"]}).to_parquet(path, compression=None)
    path.write_bytes(path.read_bytes().replace(b"second", b"sec\xffnd"))
    with pytest.raises(InputError, match="damaged"):
        read_parquet(path)


@pytest.mark.parametrize("wrong", [b'"xame"', b'"Name"'])
def test_damage_in_what_pandas_says_of_its_columns(tmp_path, wrong):
    from pyarrow import parquet as arrow_parquet

    path = tmp_path / "t.parquet"
    pd.DataFrame({"id": ["first", "second"]}).to_parquet(path, compression=None)
    metadata = arrow_parquet.read_schema(path).metadata[b"pandas"]
    table = arrow_parquet.read_table(path)
    changed = table.replace_schema_metadata({b"pandas": metadata.replace(b'"name"', wrong)})
    arrow_parquet.write_table(changed, path)
    with pytest.raises(InputError, match="damaged"):
        read_parquet(path)


def repeated(pa, value, rows):
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([value]))


@pytest.mark.parametrize(
    "column",
    [
        lambda pa: repeated(pa, "x" * 10**5, 1000),
        lambda pa: pa.array([["x" * 1000] * 100] * 1000),
        lambda pa: pa.array([{"a": {"b": "x" * 10**5}}] * 1000),
        lambda pa: pa.array([[("k", "x" * 10**5)]] * 1000, pa.map_(pa.string(), pa.string())),
        lambda pa: pa.array([b"x" * 10**5] * 1000, pa.binary(10**5)),
        lambda pa: pa.array([7] * 15 * 10**6),
    ],
)
def test_a_small_file_that_becomes_large_is_not_read(tmp_path, monkeypatch, column):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as arrow_parquet

    path = tmp_path / "t.parquet"
    arrow_parquet.write_table(pa.table({"a": column(pa)}), path, store_schema=False)
    assert path.stat().st_size < 10**6
    monkeypatch.setattr(compressed, "room", lambda: Room(10**8, "a limit"))
    monkeypatch.setattr(pd, "read_parquet", lambda *_, **__: pytest.fail("it is read"))
    with pytest.raises(InputError, match=r"t.parquet has 1\d\d MB, which take about 3 times as much memory"):
        read_parquet(path)


def test_decimals_codes_lists_and_bytes_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as arrow_parquet

    table = pa.table(
        {
            "a": pa.array([Decimal("1.50"), None], pa.decimal128(20, 2)),
            "b": repeated(pa, "x", 2),
            "c": pa.array([["u"], None]),
            "d": pa.array([b"x", None], pa.large_binary()),
        }
    )
    arrow_parquet.write_table(table, tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet")["b"].tolist() == ["x", "x"]
