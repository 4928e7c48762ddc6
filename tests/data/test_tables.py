"""read_tables: any column names, ids that survive, and one sentence for every wrong table."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otherhalf.data.tables import read_tables
from otherhalf.errors import InputError

NODES = "id,label,a,b\n10,red,1.5,0\n20,blue,2.5,1\n30,,3.5,0\n"
EDGES = "from,to\n10,20\n30,20\n"


@pytest.fixture
def files(tmp_path):
    """Write the two texts as CSV files and give back their paths."""

    def write(nodes=NODES, edges=EDGES):
        paths = tmp_path / "nodes.csv", tmp_path / "edges.csv"
        for path, text in zip(paths, (nodes, edges), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    return write


class TestDefaults:
    def test_id_label_features_and_edges(self, files):
        graph = read_tables(*files(), name="mine", encode=False)
        assert graph.ids.tolist() == [10, 20, 30]
        assert graph.x.tolist() == [[1.5, 0], [2.5, 1], [3.5, 0]]
        assert (graph.y.tolist(), graph.classes.tolist()) == ([1, 0, -1], ["blue", "red"])
        assert graph.edges.tolist() == [[0, 1], [1, 2]]
        assert (graph.directed, graph.name) == (False, "mine")

    def test_directed(self, files):
        assert read_tables(*files(), directed=True).edges.tolist() == [[0, 2], [1, 1]]

    def test_without_a_column_id_the_first_is_the_id(self, files):
        graph = read_tables(*files("paper,a\n10,1\n20,2\n30,3\n"), encode=False)
        assert (graph.ids.tolist(), graph.x.tolist()) == ([10, 20, 30], [[1], [2], [3]])
        assert graph.num_classes == 0

    def test_truth_values_are_zero_and_one(self, files):
        assert read_tables(*files("id,a\n10,True\n20,False\n30,True\n")).x.tolist() == [[1], [0], [1]]

    def test_columns_that_are_not_numeric_are_named_in_one_warning(self, files):
        paths = files("id,title,a,when\n10,x,1,2020-01-01\n20,y,2,2020-01-02\n30,z,3,2020-01-03\n")
        with pytest.warns(UserWarning, match="the columns title, when are not numeric") as caught:
            graph = read_tables(*paths, encode=False)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert graph.num_features == 1

    def test_row_numbers_written_by_pandas_are_neither_feature_nor_edge_end(self, files):
        nodes, edges = files()
        pd.DataFrame({"id": [10, 20], "a": [1, 2]}).to_csv(nodes)
        pd.DataFrame({"from": [10], "to": [20]}).to_csv(edges)
        with pytest.warns(UserWarning, match="Unnamed: 0"):
            graph = read_tables(nodes, edges, encode=False)
        assert (graph.x.tolist(), graph.edges.tolist()) == ([[1], [2]], [[0], [1]])

    def test_a_first_column_without_name_can_be_the_id(self, files):
        assert read_tables(*files(",a\n10,1\n20,2\n30,3\n")).ids.tolist() == [10, 20, 30]


class TestNotes:
    def test_a_list_takes_them_in_place_of_warnings(self, files):
        paths = files(edges="from,to\n10,20\n20,10\n20,20\n20,30\n10,99\n")
        notes = []
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = read_tables(*paths, notes=notes)
        assert (graph.num_edges, graph.dropped_repeats, graph.dropped_self_loops) == (2, 1, 1)
        assert [note.split(": ", 1)[1] for note in notes] == [
            "the reader dropped 1 of 5 edges because an end is not among the node ids, such as '99' in the "
            "column 'to', row 5.",
            "the reader dropped 1 edge from a node to itself.",
            "the reader dropped 1 repeated edge and kept each once; the two directions of an edge count "
            "as one.",
        ]

    def test_repeated_edges_with_weights(self, files):
        notes = []
        graph = read_tables(*files(edges="from,to,w\n10,20,1\n20,10,2\n30,20,4\n"), notes=notes)
        assert (graph.edges.T.tolist(), graph.weights.tolist()) == ([[0, 1], [1, 2]], [3, 4])
        assert notes[-1].split(": ", 1)[1] == (
            "the reader dropped 1 repeated edge and summed the weights; the two directions of an edge count "
            "as one."
        )

    def test_a_plain_table_needs_none(self, files):
        notes = []
        read_tables(*files(), notes=notes)
        assert notes == []


class TestUnknownEdges:
    def test_added_nodes_have_no_label_and_median_features(self, files):
        notes = []
        paths = files(edges="from,to\n10,20\n10,99\n98.0,99\n")
        graph = read_tables(*paths, unknown_edges="add", encode=False, notes=notes)
        assert graph.ids.tolist() == [10, 20, 30, 98, 99]
        assert graph.y.tolist() == [1, 0, -1, -1, -1]
        assert graph.x[3:].tolist() == [[2.5, 0], [2.5, 0]]
        assert graph.edges.T.tolist() == [[0, 1], [0, 4], [3, 4]]
        assert len(notes) == 2

    def test_another_choice(self, files):
        assert "unknown_edges is 'keep': choose one of drop, error, add" in refusal(
            files(), unknown_edges="keep"
        )


class TestNamedColumns:
    def test_every_column_can_be_named(self, files):
        paths = files("a,b,c,key,class\n1,2,3,u,0\n4,5,6,v,1\n", "weight,end,start\n0.5,u,v\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = read_tables(
                *paths,
                id="key",
                label="class",
                features=["c", "a"],
                source="start",
                target="end",
                weight="weight",
                directed=True,
                encode=False,
            )
        assert graph.ids.tolist() == ["u", "v"]
        assert graph.x.tolist() == [[3, 1], [6, 4]]
        assert (graph.y.tolist(), graph.classes.tolist()) == ([0, 1], [0, 1])
        assert (graph.edges.tolist(), graph.weights.tolist()) == ([[1], [0]], [0.5])

    def test_features_as_comma_separated_text(self, files):
        graph = read_tables(*files(), features="b, a", encode=False)
        assert graph.x.tolist() == [[0, 1.5], [1, 2.5], [0, 3.5]]

    def test_one_named_end_leaves_the_first_other_column(self, files):
        paths = files(edges="weight,here,there\n10,20,30\n")
        graph = read_tables(*paths, source="there", directed=True)
        assert graph.edges.tolist() == [[2], [1]]

    def test_a_column_called_label_can_be_the_id(self, files):
        graph = read_tables(*files("label,a\n10,1\n20,2\n30,3\n"), id="label")
        assert (graph.ids.tolist(), graph.num_classes) == ([10, 20, 30], 0)


class TestIds:
    def test_leading_zeros_stay(self, files):
        graph = read_tables(*files("id,a\n007,1\n7,2\n", "s,t\n007,7\n"))
        assert graph.ids.tolist() == ["007", "7"]
        assert graph.edges.tolist() == [[0], [1]]

    def test_names_that_look_like_gaps_are_names(self, files):
        graph = read_tables(*files("id,a\nNA,1\nnull,2\nNone,3\n", "s,t\nNA,null\nNone,NA\n"))
        assert graph.ids.tolist() == ["NA", "null", "None"]
        assert graph.num_edges == 2

    @pytest.mark.parametrize(("node", "edge"), [("1", "1.0"), ("1.0", "1"), ("1.0", "1.0")])
    def test_whole_numbers_match_with_and_without_point(self, files, node, edge):
        graph = read_tables(*files(f"id,a\n{node},1\n2,2\n", f"s,t\n{edge},2\n"))
        assert (graph.ids.tolist(), graph.edges.tolist()) == ([1, 2], [[0], [1]])

    def test_among_text_ids_a_point_is_text(self, files):
        graph = read_tables(*files("id,a\n1.0,1\n1.10,2\n1.1,3\n", "s,t\n1.0,1.10\n"))
        assert (graph.ids.tolist(), graph.edges.tolist()) == (["1.0", "1.10", "1.1"], [[0], [1]])

    def test_numbers_beyond_int64_stay_distinct(self, files):
        first, second = str(10**25), str(10**25 + 1)
        graph = read_tables(*files(f"id,a\n{first},1\n{second},2\n", f"s,t\n{first},{second}\n"))
        assert graph.ids.tolist() == [first, second]

    def test_spaces_around_cells_do_not_count(self, files):
        graph = read_tables(*files("id, a\nu , 1\nv, 2\n", "s, t\nu, v \n"))
        assert graph.ids.tolist() == ["u", "v"]

    @pytest.mark.parametrize("node_kind", [str, int, float, "category"])
    @pytest.mark.parametrize("edge_kind", [str, int, float, "category"])
    def test_parquet_types_match_each_other(self, tmp_path, node_kind, edge_kind):
        nodes, edges = tmp_path / "n.parquet", tmp_path / "e.parquet"
        pd.DataFrame({"id": pd.Series([3, 5]).astype(node_kind), "a": [1, 2]}).to_parquet(nodes)
        ends = {"s": pd.Series([5]).astype(edge_kind), "t": pd.Series([3]).astype(edge_kind)}
        pd.DataFrame(ends).to_parquet(edges)
        graph = read_tables(nodes, edges, directed=True)
        assert (graph.ids.tolist(), graph.edges.tolist()) == ([3, 5], [[1], [0]])

    def test_float_ids_beyond_the_whole_numbers_stay_distinct(self, tmp_path):
        nodes, edges = tmp_path / "n.parquet", tmp_path / "e.parquet"
        pd.DataFrame({"id": [1e20, 3e20], "a": [1, 2]}).to_parquet(nodes)
        pd.DataFrame({"s": [1e20], "t": [3e20]}).to_parquet(edges)
        assert read_tables(nodes, edges).edges.tolist() == [[0], [1]]


class TestLabels:
    @pytest.mark.parametrize(
        ("cells", "codes", "classes"),
        [
            (["5", "", "2"], [1, -1, 0], [2, 5]),
            (["5.0", "NaN", "2.0"], [1, -1, 0], [2, 5]),
            (["5", "-1", "nan"], [0, -1, -1], [5]),
            (["05", "5", ""], [0, 1, -1], ["05", "5"]),
            (["5", "x", "2"], [1, 2, 0], ["2", "5", "x"]),
            (["NA", "None", ""], [0, 1, -1], ["NA", "None"]),
            (["True", "False", "True"], [1, 0, 1], ["False", "True"]),
            ([str(10**17), str(10**17 + 1), ""], [0, 1, -1], [str(10**17), str(10**17 + 1)]),
            (["", "", ""], [-1, -1, -1], []),
        ],
        ids=str,
    )
    def test_csv(self, files, cells, codes, classes):
        rows = "".join(f"{10 * (i + 1)},{cell},1\n" for i, cell in enumerate(cells))
        graph = read_tables(*files("id,label,a\n" + rows))
        assert (graph.y.tolist(), graph.classes.tolist()) == (codes, classes)

    @pytest.mark.parametrize(
        ("values", "codes", "classes"),
        [
            ([5, None, 2], [1, -1, 0], [2, 5]),
            ([True, None, False], [1, -1, 0], ["False", "True"]),
            ([True, False, True], [1, 0, 1], ["False", "True"]),
            (pd.Categorical(["b", None, "a"]), [1, -1, 0], ["a", "b"]),
            (["5", None, "2"], [1, -1, 0], [2, 5]),
        ],
        ids=str,
    )
    def test_parquet(self, tmp_path, values, codes, classes):
        nodes, edges = tmp_path / "n.parquet", tmp_path / "e.parquet"
        pd.DataFrame({"id": [1, 2, 3], "label": values, "a": 1.0}).to_parquet(nodes)
        pd.DataFrame({"s": [1], "t": [2]}).to_parquet(edges)
        graph = read_tables(nodes, edges)
        assert (graph.y.tolist(), graph.classes.tolist()) == (codes, classes)

    def test_measurements_are_no_classes(self, files):
        with pytest.raises(InputError, match=r"nodes.csv, .*edges.csv: the label 1.5 is not a whole number"):
            read_tables(*files(), label="a", features="b")


class TestFeatures:
    def test_truth_values_with_gaps_in_parquet_are_a_feature_with_gaps(self, tmp_path):
        nodes, edges = tmp_path / "n.parquet", tmp_path / "e.parquet"
        pd.DataFrame({"id": ["u", "v"], "a": [True, None]}).to_parquet(nodes)
        pd.DataFrame({"s": ["u"], "t": ["v"]}).to_parquet(edges)
        with pytest.raises(InputError, match="the feature 'a' of the node 'v' is empty or NaN"):
            read_tables(nodes, edges, encode=False)

    @pytest.mark.parametrize("values", [["0.5", "2"], pd.array([1, 2], dtype="Int64")], ids=str)
    def test_numbers_kept_otherwise_are_numbers_when_asked_for(self, tmp_path, values):
        nodes, edges = tmp_path / "n.parquet", tmp_path / "e.parquet"
        pd.DataFrame({"id": ["u", "v"], "a": values}).to_parquet(nodes)
        pd.DataFrame({"s": ["u"], "t": ["v"]}).to_parquet(edges)
        graph = read_tables(nodes, edges, features="a", encode=False)
        assert graph.x.ravel().tolist() == [float(v) for v in values]


def refusal(paths, **options):
    with pytest.raises(InputError) as caught:
        read_tables(*paths, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestRefusals:
    @pytest.mark.parametrize(
        ("texts", "options", "message"),
        [
            ({}, {"id": "x"}, "nodes.csv has no column 'x' for the node id: its columns are id, label, a, b"),
            ({}, {"label": "x"}, "has no column 'x' for the label: its columns are id, label, a, b"),
            ({}, {"features": ["a", "x"]}, "has no column 'x' for the features: its columns are"),
            ({}, {"source": "x"}, "edges.csv has no column 'x' for the source: its columns are from, to"),
            ({}, {"target": "x"}, "edges.csv has no column 'x' for the target: its columns are from, to"),
            ({}, {"label": "id"}, "the column 'id' cannot be both id and label"),
            ({}, {"features": "a,id"}, "the column 'id' is the id: take it out of the features"),
            ({}, {"features": "a,label"}, "the column 'label' is the label: take it out of the features"),
            ({}, {"features": "a,b,a"}, "the feature column 'a' is named twice"),
            ({}, {"features": ""}, "no feature column is named"),
            ({}, {"features": []}, "no feature column is named"),
            ({}, {"source": "to", "target": "to"}, "the column 'to' cannot be both ends of an edge"),
            (
                {"nodes": "label,a\n1,2\n"},
                {},
                "its first column is the label 'label': name the column of node ids",
            ),
            (
                {"nodes": "kind,a\n1,2\n"},
                {"label": "kind"},
                "its first column is the label 'kind': name the column of node ids",
            ),
            ({"nodes": "id\n10\n"}, {"encode": False}, "nodes.csv has no numeric column for the features"),
            (
                {"nodes": "id,label,t\n10,1,x\n"},
                {"encode": False},
                "no numeric column .* (its columns are id, label, t)",
            ),
            ({"edges": "s\n10\n"}, {}, "has only the column 's': an edge needs two, source and target"),
            ({"edges": "10,20\n20,30\n"}, {}, "the first line of .*edges.csv is the edge 10, 20, not column"),
            ({"nodes": "id,a\n10,1\n,2\n ,3\n"}, {}, "nodes.csv: the id 'id' is empty in row 2 (2 in all)"),
            (
                {"nodes": "id,a\nx,1\ny,2\nx,3\n"},
                {},
                "the id 'x' in the column 'id' occurs more than once (row 3)",
            ),
            ({"nodes": "id,a\n1,1\n2,2\n1.0,3\n"}, {}, "the id '1' in the column 'id' occurs more than once"),
            (
                {"edges": "s,t\n10,20\n10,\n,20\n"},
                {},
                "edges.csv: the column 's' is empty in row 3 (1 in all)",
            ),
            (
                {"edges": "s,t\n10,20\n10,\n"},
                {},
                "the column 't' is empty in row 2 (1 in all): fill in both ends",
            ),
            (
                {"edges": "s,t\n10,20\n10,99\n20,7\n20,99\n"},
                {},
                "edges.csv: '99' in the column 't', row 2, is not among the node ids, which look like '10' "
                "(3 of 4 edges have such an end): name the id column or the ends of the edges",
            ),
            (
                {"edges": "s,t\n10,20\nten,20\n"},
                {"unknown_edges": "error"},
                "'ten' in the column 's', row 2, is not among the node ids",
            ),
            ({"edges": "s,t\n10,10\n20,20\n"}, {}, "the graph has no edges (2 self loops were dropped)"),
            (
                {"nodes": "id,a,b\nu,1,2\nv,1,\nw,,1\n"},
                {"encode": False},
                "the feature 'b' of the node 'v' is empty or NaN (2 such",
            ),
            (
                {"nodes": "id,a\nu,1\nv,NaN\n"},
                {"encode": False},
                "the feature 'a' of the node 'v' is empty or NaN",
            ),
            (
                {"nodes": "id,a\nu,1\nv,inf\n"},
                {"encode": False},
                "the feature 'a' of the node 'v' is infinite or too large",
            ),
            (
                {"nodes": "id,a\nu,1\nv,1e300\n"},
                {"encode": False},
                "the feature 'a' of the node 'v' is infinite or too large",
            ),
            (
                {"nodes": "id,a\nu,1\nv,big\nw,huge\n"},
                {"features": "a", "encode": False},
                "nodes.csv: the feature column 'a' holds 'big', which is not a number (row 2)",
            ),
        ],
    )
    def test_one_sentence(self, files, texts, options, message):
        pattern = re.escape(message).replace(re.escape(".*"), ".*")
        assert re.search(pattern, refusal(files(**texts), **options))

    def test_dates_are_no_numbers(self, files, tmp_path):
        path = tmp_path / "n.parquet"
        pd.DataFrame({"id": [10], "when": pd.to_datetime(["2020-01-01"])}).to_parquet(path)
        assert "the feature column 'when' holds '2020-01-01" in refusal(
            (path, files()[1]), features="when", encode=False
        )

    def test_long_lists_of_columns_are_cut(self, files):
        header = ",".join(["id", *(f"c{i}" for i in range(30))])
        message = refusal(files(f"{header}\n10" + ",1" * 30 + "\n"), label="x")
        assert message.endswith("c17, c18 and 11 more")


words = st.text(alphabet="ab01.é ,\"'\n", min_size=1, max_size=6).filter(lambda word: word.strip() == word)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_what_pandas_writes_is_read_back(tmp_path, data):
    """Any text ids and any float32 features come back, whatever needs quoting."""
    others = data.draw(st.lists(words, min_size=1, max_size=5, unique=True))
    ids = data.draw(st.permutations(["a", *(word for word in others if word != "a"), "b b"]))
    ids = list(dict.fromkeys(ids))
    n = len(ids)
    x = data.draw(st.lists(st.floats(-1e6, 1e6, width=32), min_size=n, max_size=n))
    ends = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=8))
    ends = [(0, 1), *ends]
    nodes, edges = tmp_path / "n.csv", tmp_path / "e.csv"
    pd.DataFrame({"key": ids, "value": x}).to_csv(nodes, index=False)
    pd.DataFrame([(ids[s], ids[t]) for s, t in ends], columns=["S", "T"]).to_csv(edges, index=False)
    graph = read_tables(nodes, edges, directed=True, encode=False)
    assert graph.ids.tolist() == ids
    assert graph.x.ravel().tolist() == np.array(x, dtype=np.float32).tolist()
    assert {tuple(pair) for pair in graph.edges.T.tolist()} == {(s, t) for s, t in ends if s != t}
