"""Tables in memory: the same graph and the same messages as from files."""

import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from otherhalf import Graph
from otherhalf.data import from_frames as module
from otherhalf.data.source import open_data
from otherhalf.data.tables import read_tables
from otherhalf.errors import InputError

NODES = pd.DataFrame({"id": ["u", "v", "w"], "label": ["a", "b", None], "x": [1.5, 2.5, 3.5]})
EDGES = pd.DataFrame({"weight": [1, 2], "source": ["u", "w"], "target": ["v", "v"]})
ENDS = "the edge table: the edges go from the column 'source' to 'target'."


class OnlyInterchange:
    def __init__(self, table):
        self._table = table

    def __dataframe__(self, *options, **more):
        return self._table.__dataframe__(*options, **more)


class OnlyArrowStream:
    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, schema=None):
        return self._table.__arrow_c_stream__(schema)


class LikeDuckDB:
    """A relation, which gives an Arrow table when asked."""

    def __init__(self, table):
        self._table = table

    def arrow(self):
        import pyarrow as pa

        return pa.Table.from_pandas(self._table)


class LikePolars:
    def __init__(self, table):
        self._table = table

    def to_pandas(self):
        return self._table.copy()


def plain(nodes, edges, **options):
    """The graph with its numbers as they are, so that they can be compared."""
    return Graph.from_frames(nodes, edges, encode=False, **options)


def check(graph):
    assert graph.weights.tolist() == [1, 2]
    assert (graph.ids.tolist(), graph.edges.tolist()) == (["u", "v", "w"], [[0, 1], [1, 2]])
    assert (graph.y.tolist(), graph.classes.tolist()) == ([0, 1, -1], ["a", "b"])
    assert graph.x.tolist() == [[1.5], [2.5], [3.5]]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda table: table,
        lambda table: table.to_dict("list"),
        OnlyInterchange,
        OnlyArrowStream,
        LikeDuckDB,
        LikePolars,
    ],
)
def test_every_kind_of_table(wrap):
    notes = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(plain(wrap(NODES), wrap(EDGES), weight="weight", name="mine", notes=notes))
    assert notes == [ENDS]


def test_polars():
    polars = pytest.importorskip("polars")
    check(plain(polars.from_pandas(NODES), polars.from_pandas(EDGES)))


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    nodes, edges = NODES, EDGES  # noqa: F841  # found by name
    check(plain(duckdb.sql("FROM nodes"), duckdb.sql("FROM edges")))


def test_several_tables_of_a_duckdb_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "my.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM (VALUES ('u', 1.5), ('v', 2)) AS t(id, x)")
        connection.execute("CREATE TABLE knows AS SELECT 'u' AS source, 'v' AS target, 0.25 AS weight")
        connection.execute("CREATE TABLE likes AS SELECT 'v' AS source, 'u' AS target")
    notes = []
    graph = read_tables(f"{path}::people", [f"{path}::knows", f"{path}::likes"], notes=notes)
    assert (graph.ids.tolist(), graph.x.tolist()) == (["u", "v"], [[-1], [1]])  # scaled
    assert (graph.edges.tolist(), graph.weights.tolist()) == ([[0], [1]], [1.25])
    assert graph.relations.names == ("knows", "likes")
    with pytest.warns(UserWarning, match="are told apart"):
        assert open_data(f"{path}::people,knows+likes").fingerprint == graph.fingerprint


@pytest.mark.parametrize("kind", ["mapping", "list"])
def test_several_tables_are_several_relations(kind):
    tables = {"likes": EDGES, "knows": {"source": ["u"], "target": ["v"]}}
    notes = []
    graph = Graph.from_frames(NODES, tables if kind == "mapping" else list(tables.values()), notes=notes)
    assert graph.relations.names == (("knows", "likes") if kind == "mapping" else ("1", "2"))
    assert graph.weights.tolist() == [2, 2]
    likes = "likes" if kind == "mapping" else "1"
    assert graph.relations.values([likes]).tolist() == [1, 2]
    both = Graph.from_frames(NODES, tables, relation=False, notes=notes)
    assert both.relations is None


def test_large_integers_beside_gaps_stay_exact():
    pa = pytest.importorskip("pyarrow")
    nodes = pa.table({"id": [1, 2, 3], "label": [2**60, 2**60 + 1, None], "x": [1, 2, 3]})
    graph = Graph.from_frames(nodes, {"s": [1], "t": [2]})
    assert graph.classes.tolist() == [2**60, 2**60 + 1]


class TestIndex:
    def test_a_named_index_is_the_id(self):
        check(plain(NODES.set_index("id"), EDGES))
        check(plain(NODES.set_index("id").rename_axis("who"), EDGES))
        check(plain(NODES.rename(columns={"id": "who"}).set_index("who"), EDGES, id="who"))

    def test_an_index_that_does_not_count_rows_is_the_id(self):
        check(plain(NODES.set_index("id").rename_axis(None), EDGES))
        part = pd.DataFrame({"x": [1.0, 2, 3, 4]})[1:]
        graph = plain(part, {"s": [1, 2], "t": [2, 3]})
        assert (graph.ids.tolist(), graph.x.ravel().tolist()) == ([1, 2, 3], [2, 3, 4])

    def test_a_column_id_goes_before_the_index(self):
        check(plain(NODES.set_axis([5, 6, 7]), EDGES))
        check(plain(NODES.set_axis(pd.Index([5, 6, 7], name="row")), EDGES))

    def test_an_index_that_counts_rows_is_not(self):
        check(plain(NODES.rename(columns={"id": "who"}), EDGES))

    def test_ends_in_the_index_of_the_edges(self):
        check(plain(NODES, EDGES.set_index(["source", "target"])))
        check(plain(NODES, EDGES.set_index("source")))
        check(plain(NODES, EDGES.set_axis([8, 9])))


def test_the_tables_are_not_changed():
    nodes, edges = NODES.set_axis([3, 4, 5]), EDGES.copy()
    before = nodes.copy(), edges.copy()
    Graph.from_frames(nodes, edges)
    pd.testing.assert_frame_equal(nodes, before[0])
    pd.testing.assert_frame_equal(edges, before[1])


def test_options_and_notes():
    notes = []
    graph = Graph.from_frames(
        NODES.assign(part=["train", "val", "test"], label=["a", "b", "a"]),
        pd.DataFrame({"p": ["u", "v", "u"], "q": ["v", "u", "zz"]}),
        directed=True,
        features=["x"],
        split_column="part",
        notes=notes,
    )
    assert (graph.directed, graph.num_edges) == (True, 2)
    assert graph.fixed_splits[0].test.tolist() == [2]
    assert notes[0].startswith("the edge table: the edges were taken to go from the column 'p' to 'q'")
    assert "the edge table: the reader dropped 1 of 3 edges" in notes[1]


def test_notes_name_the_line_of_the_user():
    with pytest.warns(UserWarning, match="the node table: column 't': left out: all its values") as caught:
        Graph.from_frames(NODES.assign(t="x"), EDGES)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "message"),
    [
        (
            NODES,
            EDGES,
            {"label": "z"},
            "the node table has no column 'z' for the label: its columns are id, label",
        ),
        (NODES, EDGES, {"source": "z"}, "the edge table has no column 'z' for the source"),
        (NODES[:0], EDGES, {}, "the node table has column names but no rows"),
        (
            np.ones((3, 2)),
            EDGES,
            {},
            "the node table is a ndarray: give a pandas DataFrame, or a table of Arrow",
        ),
        (NODES, None, {}, "the edge table is a NoneType"),
        ({"id": [1, 2], "x": [1]}, EDGES, {}, "the node table has columns of different lengths"),
        (NODES.set_index(["id", "label"]), EDGES, {}, "has an index of several columns: name the column"),
        (pd.concat([NODES, NODES[["x"]]], axis=1), EDGES, {}, "the node table has two columns called 'x'"),
    ],
)
def test_refusals(nodes, edges, options, message):
    with pytest.raises(InputError, match=message):
        Graph.from_frames(nodes, edges, **options)


def test_without_pyarrow(monkeypatch):
    class NeedsArrow:
        def to_pandas(self):
            raise ModuleNotFoundError("pyarrow is required")

    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs pyarrow: run `pip install otherhalf\[io\]`"):
        Graph.from_frames(NeedsArrow(), EDGES)


@pytest.mark.parametrize("name", [None, "who"])
def test_an_index_is_the_id_again(name):
    nodes = NODES.set_index("id").rename_axis(name)
    notes = []
    first = Graph.from_frames(nodes, EDGES, weight="weight", notes=notes)
    again = Graph.from_frames(nodes, EDGES, weight="weight", notes=notes, reading=first.reading)
    assert again.ids.tolist() == first.ids.tolist() == ["u", "v", "w"]
    assert set(notes) == {ENDS}
