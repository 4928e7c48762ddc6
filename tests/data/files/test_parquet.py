import pandas as pd
import pytest

from otherhalf.data.files import parquet
from otherhalf.data.files.parquet import read_parquet
from otherhalf.errors import InputError


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
