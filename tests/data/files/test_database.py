"""Tables of real SQLite files. DuckDB is imitated by SQLite where it is not installed."""

import sqlite3
import sys
from contextlib import closing
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from otherhalf.data.files import database as database_module
from otherhalf.data.files.database import read_database_table
from otherhalf.errors import InputError
from otherhalf.system.memory import Room


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "odd name?#%.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE nodes (id INTEGER, label TEXT, a REAL, big INTEGER, "x y" BLOB)')
        connection.execute("INSERT INTO nodes VALUES (1, 'p', 0.5, 9007199254740993, NULL)")
        connection.execute("INSERT INTO nodes VALUES (2, NULL, 2, NULL, NULL)")
        connection.execute('CREATE TABLE "my ""edges""; DROP TABLE nodes" (s, t)')
        connection.execute('INSERT INTO "my ""edges""; DROP TABLE nodes" VALUES (1, 2)')
        connection.execute("CREATE VIEW named AS SELECT id, a FROM nodes WHERE label IS NOT NULL")
        connection.execute("CREATE TABLE empty (a)")
        connection.commit()
    return path


def test_cells_keep_their_types(database):
    table = read_database_table(database, "nodes")
    assert table.columns.tolist() == ["id", "label", "a", "big", "x y"]
    assert (table["id"].tolist(), table["a"].tolist()) == ([1, 2], [0.5, 2])
    assert table["big"].tolist()[0] == 9007199254740993  # float64 would round it
    assert table["label"].isna().tolist() == [False, True]


def test_names_are_quoted(database):
    assert read_database_table(database, 'my "edges"; DROP TABLE nodes')["t"].tolist() == [2]
    assert len(read_database_table(database, "nodes")) == 2


def test_views_and_other_spellings(database):
    assert read_database_table(database, "NAMED")["id"].tolist() == [1]


def test_an_empty_table_has_its_columns(database):
    assert read_database_table(database, "empty").columns.tolist() == ["a"]


def test_nothing_is_written(database):
    before = database.read_bytes()
    read_database_table(database, "nodes")
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


@pytest.mark.parametrize("name", ["edges", "nodes; DROP TABLE nodes", 'nodes" --', ""])
def test_other_tables(database, name):
    with pytest.raises(InputError, match=r"has no table .*: its tables are empty, my .*, named, nodes"):
        read_database_table(database, name)


def test_damaged_and_other_files(database, tmp_path):
    content = database.read_bytes()
    database.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    with pytest.raises(InputError, match="cannot be read as SQLite"):
        read_database_table(database, "nodes")
    other = tmp_path / "o.db"
    other.write_text("id,a\n")
    with pytest.raises(InputError, match=r"o.db is neither a SQLite nor a DuckDB file"):
        read_database_table(other, "nodes")
    with pytest.raises(InputError, match=r"gone.db does not exist"):
        read_database_table(tmp_path / "gone.db", "nodes")


class TestDuckDB:
    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "d.duckdb"
        path.write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 100)
        return path

    def test_without_duckdb(self, file, monkeypatch):
        monkeypatch.setattr("otherhalf.data.files.database.find_spec", lambda name: None)
        with pytest.raises(InputError, match=r"needs duckdb: run `pip install otherhalf\[io\]`"):
            read_database_table(file, "nodes")

    def test_the_calls(self, file, database, monkeypatch):
        """The module is asked for what DuckDB offers; SQLite answers."""
        opened = []

        def connect(path, read_only, config):
            opened.append((path, read_only, config))
            connection = sqlite3.connect(database)
            connection.execute("ATTACH ':memory:' AS information_schema")
            connection.execute("CREATE TABLE information_schema.tables AS SELECT 'nodes' AS table_name")
            return connection

        module = ModuleType("duckdb")
        module.__spec__ = ModuleSpec("duckdb", None)
        module.connect, module.Error = connect, sqlite3.Error
        monkeypatch.setitem(sys.modules, "duckdb", module)
        assert read_database_table(file, "nodes")["id"].tolist() == [1, 2]
        assert opened == [(str(file), True, {"enable_external_access": "false"})]

    def test_a_real_file(self, tmp_path):
        duckdb = pytest.importorskip("duckdb")
        path = tmp_path / "real.duckdb"
        with closing(duckdb.connect(str(path))) as connection:
            connection.execute('CREATE TABLE "my nodes" AS SELECT 1 AS id, 0.5 AS a')
        assert read_database_table(path, "my nodes").to_dict("list") == {"id": [1], "a": [0.5]}

    def test_a_view_reads_no_other_file(self, tmp_path):
        """It could read any file that the user can read, and addresses on the network."""
        duckdb = pytest.importorskip("duckdb")
        path, other = tmp_path / "real.duckdb", tmp_path / "other.csv"
        other.write_text("id,a\nsecret,1\n")
        with closing(duckdb.connect(str(path))) as connection:
            connection.execute(f"CREATE VIEW nodes AS SELECT * FROM read_csv('{other}')")
        with pytest.raises(InputError, match=r"real.duckdb cannot be read as DuckDB \(Permission Error"):
            read_database_table(path, "nodes")


def test_a_view_with_one_column_twice(tmp_path):
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as connection:
        connection.execute("CREATE TABLE a (id, x)")
        connection.execute("CREATE VIEW v AS SELECT id, x, x FROM a")
        connection.commit()
    with pytest.raises(InputError, match=r"d.sqlite::v has two columns called 'x': rename one"):
        read_database_table(tmp_path / "d.sqlite", "v")


def test_a_name_that_is_no_text(database):
    """One changed byte in the list of tables."""
    database.write_bytes(database.read_bytes().replace(b"named", b"nam\xa0d"))
    with pytest.raises(InputError, match="cannot be read as SQLite"):
        read_database_table(database, "nodes")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_view_without_end(tmp_path, monkeypatch, kind):
    path = tmp_path / "g.db"
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c"
    if kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE VIEW nodes AS {endless}")
    else:
        duckdb = pytest.importorskip("duckdb")
        with closing(duckdb.connect(str(path))) as connection:
            connection.execute("CREATE VIEW nodes AS SELECT range AS id FROM range(100000000000)")
    monkeypatch.setattr(database_module, "room", lambda: Room(10**6, "a limit"))
    with pytest.raises(InputError, match=r"g.db::nodes has more than .* which take about 2 times"):
        read_database_table(path, "nodes")
