"""Predictions as a table: one row per node, in every format, written completely or not at all."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from otherhalf.data.predictions import write_predictions
from otherhalf.data.reading import Columns, Reading
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split

CLASSES = np.array(["blue", "red"])
LABELS = np.array(["red", "blue", "red"])
PROBABILITIES = np.array([[0.25, 0.75], [0.5, 0.5], [0.0, 1.0]], dtype=np.float32)


@pytest.fixture
def graph():
    return Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), ids=["007", "b,c", "d"])


def test_csv(tmp_path, graph):
    write_predictions(tmp_path / "new" / "p.csv", graph, LABELS, PROBABILITIES, CLASSES)
    assert (tmp_path / "new" / "p.csv").read_text().splitlines() == [
        "id,prediction,confidence,p_blue,p_red",
        "007,red,0.75,0.25,0.75",
        '"b,c",blue,0.5,0.5,0.5',
        "d,red,1.0,0.0,1.0",
    ]


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz", "p.parquet"])
def test_every_format_holds_the_same_table(tmp_path, graph, name):
    path = tmp_path / name
    write_predictions(str(path), graph, LABELS, PROBABILITIES, CLASSES)
    separator = "\t" if ".tsv" in name else ","
    table = (
        pd.read_parquet(path) if "parquet" in name else pd.read_csv(path, dtype={"id": str}, sep=separator)
    )
    assert table["id"].tolist() == ["007", "b,c", "d"]
    assert table["prediction"].tolist() == ["red", "blue", "red"]
    assert table["confidence"].tolist() == [0.75, 0.5, 1.0]
    assert table[["p_blue", "p_red"]].to_numpy().tolist() == PROBABILITIES.tolist()
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_float32_is_written_shortly_and_read_back_exactly(tmp_path, graph):
    third = np.array([[1 / 3, 2 / 3]] * 3, dtype=np.float32)
    write_predictions(tmp_path / "p.csv", graph, LABELS, third, CLASSES)
    assert "0.33333334" in (tmp_path / "p.csv").read_text()
    assert (pd.read_csv(tmp_path / "p.csv")["p_red"].to_numpy(np.float32) == third[:, 1]).all()


def test_whole_number_classes_and_nodes_without_ids(tmp_path):
    graph = Graph(edges=[[0], [1]], x=np.eye(2))
    write_predictions(tmp_path / "p.csv", graph, [3, 0], [[0.25, 0.75], [1, 0]], [0, 3])
    assert (tmp_path / "p.csv").read_text().split() == [
        "id,prediction,confidence,p_0,p_3",
        "0,3,0.75,0.25,0.75",
        "1,0,1.0,1.0,0.0",
    ]


class TestWhatIsKnown:
    """The true class, the part of the split and the id's own name, where they are known."""

    LABELLED = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), y=["red", "", "blue"])

    def read(self, id_name):
        """The graph as if it came from a table whose ids have this name."""
        return replace(self.LABELLED, reading=Reading(Columns(id=id_name), None))

    def test_label_part_and_set(self, tmp_path):
        parts = Split([0], [2], [])
        options = {"split": parts, "sets": ["red", "blue|red", "red"]}
        write_predictions(tmp_path / "p.csv", self.read("paper"), LABELS, PROBABILITIES, CLASSES, **options)
        assert (tmp_path / "p.csv").read_text().splitlines() == [
            "paper,prediction,confidence,label,part,set,p_blue,p_red",
            "0,red,0.75,red,train,red,0.25,0.75",
            "1,blue,0.5,,,blue|red,0.5,0.5",
            "2,red,1.0,blue,val,red,0.0,1.0",
        ]

    @pytest.mark.parametrize("nodes", [[2, 0], [True, False, True]])
    def test_some_nodes(self, tmp_path, nodes):
        path = tmp_path / "p.csv"
        write_predictions(path, self.LABELLED, LABELS, PROBABILITIES, CLASSES, nodes=nodes)
        assert path.read_text().splitlines() == [
            "id,prediction,confidence,label,p_blue,p_red",
            "0,red,0.75,red,0.25,0.75",
            "2,red,1.0,blue,0.0,1.0",
        ]

    def test_an_id_named_as_another_column(self, tmp_path):
        for name in ("prediction", "p_red", "label"):
            write_predictions(tmp_path / "p.csv", self.read(name), LABELS, PROBABILITIES, CLASSES)
            header = (tmp_path / "p.csv").read_text().splitlines()[0]
            assert header == "id,prediction,confidence,label,p_blue,p_red"

    @pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
    def test_whole_numbers_with_gaps_stay_whole(self, tmp_path, name):
        graph = Graph(edges=[[0, 1], [1, 2]], x=np.eye(3), y=[7, -1, 3])
        path = tmp_path / name
        write_predictions(path, graph, [7, 3, 7], PROBABILITIES, [3, 7])
        if name.endswith("csv"):
            assert [row.split(",")[3] for row in path.read_text().splitlines()] == ["label", "7", "", "3"]
        else:
            assert pd.read_parquet(path)["label"].dropna().tolist() == [7, 3]


class TestRefusals:
    def refusal(self, path, graph, labels=LABELS, probabilities=PROBABILITIES):
        with pytest.raises(InputError) as caught:
            write_predictions(path, graph, labels, probabilities, CLASSES)
        return str(caught.value)

    def test_ending(self, tmp_path, graph):
        assert "p.xlsx is neither CSV nor Parquet by its ending" in self.refusal(tmp_path / "p.xlsx", graph)

    def test_shapes(self, tmp_path, graph):
        expected = (
            r"the labels have the shape (2,) and the probabilities (3, 2) for 3 nodes and 2 classes: give [3]"
        )
        assert expected in self.refusal(tmp_path / "p.csv", graph, labels=LABELS[:2])
        assert "the probabilities (3, 1)" in self.refusal(
            tmp_path / "p.csv", graph, probabilities=PROBABILITIES[:, :1]
        )

    def test_label_that_is_no_class(self, tmp_path, graph):
        message = self.refusal(tmp_path / "p.csv", graph, labels=np.array(["red", "green", "red"]))
        assert "the predicted label 'green' is not among the classes" in message

    @pytest.mark.parametrize("row", [[0.5, 0.4], [np.nan, 1.0], [np.inf, 0.0], [1.5, -0.5], [0.0, 0.0]])
    def test_rows_that_are_no_probabilities(self, tmp_path, graph, row):
        probabilities = PROBABILITIES.copy()
        probabilities[1] = row
        message = self.refusal(tmp_path / "p.csv", graph, probabilities=probabilities)
        assert "the probabilities of the node 'b,c' are not probabilities" in message
        assert list(tmp_path.iterdir()) == []
