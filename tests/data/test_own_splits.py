"""Splits by a column, by time and by lists of ids, on graphs small enough to check by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.own_splits import split_by_column, split_by_ids, split_by_time
from otherhalf.data.splits import split
from otherhalf.data.tables import read_tables
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split


def graph_of(y, **options) -> Graph:
    n = len(y)
    return Graph(edges=[list(range(n - 1)), list(range(1, n))], x=np.ones((n, 1)), y=np.array(y), **options)


def parts(made: Split) -> list[list[int]]:
    return [made.train.tolist(), made.val.tolist(), made.test.tolist()]


class TestColumn:
    @pytest.mark.parametrize("val", ["val", "VALID", "Validation", " dev "])
    def test_names_of_parts_in_any_case(self, val):
        notes = []
        made = split_by_column(graph_of([0, 1, 0, 1]), ["Train", val, "TEST", "training"], notes=notes)
        assert (parts(made), made.kind, notes) == ([[0, 3], [1], [2]], "column", [])

    def test_other_values_gaps_and_nodes_without_label_are_in_no_part(self):
        notes = []
        values = ["train", "val", "test", "none", None, "", "train"]
        made = split_by_column(graph_of([0, 1, 0, 1, 0, 1, -1]), values, notes=notes)
        assert parts(made) == [[0], [1], [2]]
        assert notes == [
            "the parts: 1 node with the values none are in no part of the split.",
            "the parts: 1 node without a label are in no part of the split.",
        ]

    def test_notes_are_warnings_by_default(self):
        with pytest.warns(UserWarning, match="with the values x") as caught:
            split_by_column(graph_of([0, 1, 0, 1]), ["train", "val", "test", "x"])
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (
                ["a", "b", "c", "a"],
                r"no value is train, val or test \(there are a, b, c\): name another column",
            ),
            ([None] * 4, r"there are only empty cells"),
            ([1, 2, 3, 1], r"there are 1, 2, 3"),
            (["train", "test", "test", "train"], "no labelled node is in val: put some labelled nodes into"),
            (["train"], "there are 1 parts for 4 nodes: give one per node"),
        ],
    )
    def test_refusals(self, values, message):
        with pytest.raises(InputError, match=message):
            split_by_column(graph_of([0, 1, 0, 1]), values)


class TestTime:
    def test_the_oldest_train_and_the_newest_test(self):
        notes = []
        years = [2009, 2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008]
        made = split_by_time(graph_of([0, 1] * 5), years, notes=notes)
        assert (parts(made), made.kind) == ([[1, 2, 3, 4, 5, 6], [7, 8], [0, 9]], "time")
        assert notes == [
            "the times: 6 nodes up to 2005 train, 2 nodes up to 2007 validate, and 2 nodes after that test."
        ]

    def test_ties_stay_together(self):
        years = [2000] * 7 + [2001] * 2 + [2002]
        assert [len(part) for part in parts(split_by_time(graph_of([0, 1] * 5), years, notes=[]))] == [
            7,
            2,
            1,
        ]
        years = [2000] + [2001] * 8 + [2002]
        assert [len(part) for part in parts(split_by_time(graph_of([0, 1] * 5), years, notes=[]))] == [
            1,
            8,
            1,
        ]

    @pytest.mark.parametrize("seed", range(20))
    def test_no_time_is_in_two_parts_and_the_parts_are_in_order(self, seed):
        times = np.random.default_rng(seed).integers(0, 12, 60)
        made = split_by_time(graph_of([0, 1] * 30), times, notes=[])
        train, val, test = (times[part] for part in (made.train, made.val, made.test))
        assert train.max() < val.min() <= val.max() < test.min()
        assert len(train) + len(val) + len(test) == 60

    def test_only_labelled_nodes_with_a_time_count(self):
        notes = []
        dates = pd.to_datetime([f"2020-01-{day:02}" for day in range(1, 9)]).to_series()
        dates.iloc[7] = pd.NaT
        made = split_by_time(graph_of([-1, -1, 0, 1, 0, 1, 0, 1]), dates, ratios=(0.4, 0.2, 0.4), notes=notes)
        assert parts(made) == [[2, 3], [4], [5, 6]]
        assert notes[0] == "the times: 1 labelled node without a time are in no part of the split."
        assert "2 nodes up to 2020-01-04 train" in notes[1]

    def test_refusals(self):
        graph = graph_of([0, 1, 0, 1])
        with pytest.raises(InputError, match="have 2 different times, and a split by time needs three"):
            split_by_time(graph, [1, 1, 2, 2])
        with pytest.raises(InputError, match="three positive numbers with sum 1"):
            split_by_time(graph, [1, 2, 3, 4], ratios=(1, 1, 1))


class TestIds:
    def test_lists_and_files(self, tmp_path):
        graph = graph_of([0, 1, 0, 1], ids=["a", "b", "c", "d"])
        (tmp_path / "train.txt").write_text("a\n\nd \r\n")
        made = split_by_ids(
            graph, {"train": tmp_path / "train.txt", "Valid": ["b"], "test": ("c", "c")}, notes=[]
        )
        assert (parts(made), made.kind) == ([[0, 3], [1], [2]], "ids")

    def test_numbers_match_text(self):
        graph = graph_of([0, 1, 0], ids=[10, 20, 30])
        assert parts(split_by_ids(graph, {"train": ["30.0"], "val": [10], "test": ["20"]})) == [[2], [0], [1]]
        bare = graph_of([0, 1, 0])
        assert parts(split_by_ids(bare, {"train": [2], "val": [0], "test": [1]})) == [[2], [0], [1]]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"first": ["a"]}, "'first' is no part of a split: name the parts train, val, test"),
            (
                {"train": ["a", "x", "y"]},
                r"the id 'x' of the part 'train' is no node .* \(2 such ids in all\)",
            ),
            (
                {"train": ["a"], "val": ["a"]},
                "the node 'a' is in train and in val: put every node into one part",
            ),
            ({"train": ["a"], "val": ["b"]}, "no labelled node is in test"),
            ({"train": "gone.txt"}, r"gone.txt does not exist: check the path"),
            ({"train": 5}, "the part 'train' is 5: give a list of ids"),
        ],
    )
    def test_refusals(self, given, message):
        with pytest.raises(InputError, match=message):
            split_by_ids(graph_of([0, 1, 0], ids=["a", "b", "c"]), given)


class TestTables:
    @pytest.fixture
    def files(self, tmp_path):
        rows = [f"n{i},{'ab'[i % 2]},{i}.5,{2000 + i},{['train', 'val', 'test'][i % 3]}" for i in range(10)]
        (tmp_path / "n.csv").write_text("id,label,a,year,part\n" + "\n".join(rows))
        (tmp_path / "e.csv").write_text("source,target\n" + "\n".join(f"n{i},n{i + 1}" for i in range(9)))
        return tmp_path / "n.csv", tmp_path / "e.csv"

    def test_by_column(self, files):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = read_tables(*files, split_column="part")
        assert parts(split(graph, "given", seed=7)) == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
        assert graph.num_features == 2  # a and year

    def test_by_time_the_column_is_a_feature_only_if_named(self, files):
        notes = []
        graph = read_tables(*files, split_time="year", encode=False, notes=notes)
        assert parts(split(graph, "given")) == [[0, 1, 2, 3, 4, 5], [6, 7], [8, 9]]
        assert graph.num_features == 1
        assert any("up to 2005 train" in note for note in notes)
        graph = read_tables(*files, split_time="year", features="a,year", encode=False, notes=[])
        assert graph.num_features == 2

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"split_column": "part", "split_time": "year"},
                "cannot follow both split_column and split_time",
            ),
            ({"split_column": "x"}, r"n.csv has no column 'x' for the split column"),
            ({"split_column": "label"}, "the column 'label' is the label and cannot be the split column too"),
            ({"split_column": "part", "features": "a,part"}, "the column 'part' is the split: take it out"),
            ({"split_column": "a"}, r"n.csv, column 'a': no value is train, val or test"),
        ],
    )
    def test_refusals(self, files, options, message):
        with pytest.raises(InputError, match=message):
            read_tables(*files, **options)

    def test_without_a_split_of_ones_own(self, files):
        with pytest.raises(InputError, match="comes without a split of yours: name its column"):
            split(read_tables(*files, notes=[]), "given")
        with pytest.raises(InputError, match="comes without fixed splits"):
            split(read_tables(*files, split_column="part"), "fixed")
