"""What DATA may be: a name, a file, a description of a synthetic graph, or two tables."""

import sqlite3
from contextlib import closing

import pytest

from otherhalf import InputError
from otherhalf.data.source import Columns, is_tables, open_data
from otherhalf.data.synthetic import contextual_sbm


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "people.csv").write_text("who,team,age,height\nann,a,30,1.7\nbob,b,40,1.8\ncy,a,50,1.9\n")
    (tmp_path / "knows.csv").write_text("since,from,to\n2001,ann,bob\n2002,cy,bob\n2003,bob,cy\n")
    return f"{tmp_path}/people.csv,{tmp_path}/knows.csv"


NAMED = {"label": "team", "source": "from", "target": "to"}


def test_tables_with_named_columns(tables):
    graph = open_data(tables, Columns(id="who", features="age", encode=False, **NAMED))
    assert graph.ids.tolist() == ["ann", "bob", "cy"]
    assert graph.x.tolist() == [[30], [40], [50]]
    assert graph.classes[graph.y].tolist() == ["a", "b", "a"]
    assert graph.edges.T.tolist() == [[0, 1], [1, 2]]
    assert graph.name == "people"


def test_directed(tables):
    graph = open_data(tables, Columns(directed=True, **NAMED))
    assert graph.edges.T.tolist() == [[0, 1], [1, 2], [2, 1]]


def test_space_around_the_comma(tables):
    assert open_data(tables.replace(",", " , "), Columns(**NAMED)).num_nodes == 3


def test_tables_whose_name_starts_like_a_synthetic_graph(tables, tmp_path):
    (tmp_path / "people.csv").rename(tmp_path / "csbm_people.csv")
    (tmp_path / "knows.csv").rename(tmp_path / "csbm_knows.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert open_data("csbm_people.csv,csbm_knows.csv", Columns(**NAMED)).num_nodes == 3


def test_tables_of_a_database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "my.sqlite")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'ann' AS id, 1.5 AS age UNION SELECT 'bob', 2.5")
        connection.execute("CREATE TABLE knows AS SELECT 3 AS weight, 'ann' AS source, 'bob' AS target")
        connection.commit()
    for data in ("my.sqlite::people,knows", "my.sqlite::people, my.sqlite::knows"):
        graph = open_data(data.replace("my.sqlite", f"{tmp_path}/my.sqlite"))
        assert (graph.ids.tolist(), graph.edges.tolist()) == (["ann", "bob"], [[0], [1]])
        assert graph.name == "my"


def test_several_tables_of_edges(tables, tmp_path):
    (tmp_path / "likes.csv").write_text("from,to\nann,cy\n")
    with pytest.warns(UserWarning, match=r"2 relations, which are told apart: knows \(2\), likes \(1\)"):
        graph = open_data(f"{tables} + {tmp_path}/likes.csv", Columns(label="team"))
    assert graph.edges.T.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graph.relations.edges.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]


def test_a_plus_in_the_name_of_a_file(tables, tmp_path):
    (tmp_path / "knows.csv").rename(tmp_path / "a+b.csv")
    assert open_data(tables.replace("knows", "a+b"), Columns(label="team")).num_edges == 2


def test_own_npz(tmp_path):
    graph = contextual_sbm(num_nodes=60, seed=1)
    graph.to_npz(tmp_path / "own.npz")
    assert open_data(str(tmp_path / "own.npz")).fingerprint == graph.fingerprint


def test_synthetic_with_commas():
    two = contextual_sbm(num_nodes=40, homophily=0.2)
    assert open_data("csbm:nodes=40,homophily=0.2").fingerprint == two.fingerprint
    three = contextual_sbm(num_nodes=40, homophily=0.2, seed=3)
    assert open_data("csbm:nodes=40,homophily=0.2,seed=3").fingerprint == three.fingerprint


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("nodes.csv", "nodes.csv is one table, and a graph needs two"),
        ("nodes.parquet", "as in nodes.parquet,edges.csv"),
        ("a.csv,b.csv,c.csv", "a.csv,b.csv,c.csv is not two files with one comma between them"),
        ("a.csv,", "is not two files with one comma"),
        ("a.csv,b.csv+", "names an edge table without a name"),
        ("gone.csv,edges.csv", "gone.csv does not exist"),
        ("nodes.xlsx,edges.xlsx", "nodes.xlsx is neither CSV nor Parquet by its ending"),
        ("gone.npz", "gone.npz does not exist"),
        ("coar", "there is no data set called 'coar': did you mean cora"),
        ("csbm:size=3", "'size' in 'csbm:size=3' is not known"),
    ],
)
def test_refusals(data, message):
    with pytest.raises(InputError, match=message):
        open_data(data)


@pytest.mark.parametrize("column", [{"id": "who"}, {"label": "x"}, {"directed": True}])
def test_columns_belong_to_tables(column):
    with pytest.raises(InputError, match="columns can be named for tables only"):
        open_data("csbm:nodes=60", Columns(**column))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("nodes.csv,edges.csv", True),
        ("nodes.CSV", True),
        ("my.sqlite::people", True),
        ("csbm:nodes=30,classes=2", False),
        ("cora", False),
        ("graph.npz", False),
    ],
)
def test_what_names_tables(data, expected):
    assert is_tables(data) is expected
