"""Tables of nodes with columns of every kind: what they become, once and again."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from otherhalf.data.columns.encoding import ColumnEncoding
from otherhalf.data.files.table import MemoryTable
from otherhalf.data.node_table import id_and_label, read_nodes
from otherhalf.data.reading import Columns
from otherhalf.data.table_files import open_table
from otherhalf.errors import InputError

CELLS = pd.DataFrame(
    {
        "who": ["ann", "bob", "cy", "dee"],
        "team": ["a", "b", "a", None],
        "age": ["30", "40", "hello", "60"],
        "city": ["Bonn", "Rome", "Bonn", "Rome"],
        "planet": ["Earth"] * 4,
        "part": ["train", "val", "test", None],
    }
)
COLUMNS = Columns(id="who", label="team", exclude="part")


def table(cells=CELLS):
    return MemoryTable("nodes.csv", cells)


def read(cells=CELLS, columns=COLUMNS, reading=None):
    notes = []
    return read_nodes(table(cells), columns, notes, reading), notes


class TestLearned:
    def test_every_kind_becomes_features_and_decisions_are_told(self):
        nodes, notes = read()
        expected = ColumnEncoding.learn(CELLS[["age", "city", "planet", "part"]], exclude="part")
        assert np.array_equal(nodes.x, expected.apply(CELLS[["age", "city", "planet", "part"]]).x)
        assert nodes.ids.values.tolist() == ["ann", "bob", "cy", "dee"]
        assert nodes.reading.columns.id == "who"
        assert "nodes.csv: column 'age': 1 cell is no number and counts as a gap: 'hello'." in notes
        assert "nodes.csv: column 'planet': left out: all its values are the same." in notes

    def test_codes_with_zeros_in_front_are_no_numbers(self, tmp_path):
        (tmp_path / "n.csv").write_text("id,zip,n\n1,007,10\n2,7,0\n3,007,0.5\n4,7,30\n")
        nodes = read_nodes(open_table(tmp_path / "n.csv"), Columns(), [])
        assert [(row.kind, row.distinct) for row in nodes.reading.encoding.table()] == [
            ("category", 2),
            ("number", 4),
        ]

    @pytest.mark.parametrize(("name", "guessed"), [("who", True), ("node_id", False), ("ID", False)])
    def test_ids_from_a_column_of_another_name_are_said(self, name, guessed):
        _, notes = read(CELLS.rename(columns={"who": name}), Columns(label="team"))
        note = (
            f"nodes.csv: the node ids were taken from the first column {name!r}; name their column with id if"
        )
        assert any(each.startswith(note) for each in notes) == guessed

    def test_a_column_of_parts_is_pointed_out(self):
        cells = CELLS.assign(part=["Train", "test", "Train", "test"])
        _, notes = read(cells, Columns(id="who", label="team"))
        assert any("'part'" in note and "name it with split_column" in note for note in notes)
        _, notes = read(cells, Columns(id="who", label="team", split_column="part"))
        assert not any("'part'" in note for note in notes)

    def test_a_column_that_is_no_feature_may_be_excluded(self):
        nodes, _ = read(columns=Columns(id="who", label="team", split_column="part", exclude="team,part,who"))
        assert [column.name for column in nodes.reading.encoding.columns] == ["age", "city"]
        with pytest.raises(InputError, match="'team' is the label and no feature: take it out of kinds"):
            read(columns=Columns(id="who", label="team", kinds="team=category"))

    def test_a_file_without_column_names(self, tmp_path):
        (tmp_path / "n.csv").write_text("1,30,a\n2,40,b\n3,50,a\n")
        with pytest.raises(InputError, match=r"the first line of .*n\.csv is the node 1, not column names"):
            read_nodes(open_table(tmp_path / "n.csv"), Columns(), [])

    def test_columns_with_one_reason_share_a_note(self):
        _, notes = read(CELLS.assign(moon="Moon"))
        assert "nodes.csv: columns 'planet', 'moon': left out: all its values are the same." in notes

    def test_a_table_without_features_gives_no_column(self):
        nodes, notes = read(CELLS[["who", "team", "planet"]], Columns(id="who", label="team"))
        assert nodes.x.shape == (4, 0)
        assert nodes.features(2, notes).shape == (6, 0)
        assert any("has no column for the features: edges, and labels" in note for note in notes)

    def test_a_column_that_tells_the_label_is_warned_of(self):
        labels = np.array(["a", "b"] * 30)
        cells = pd.DataFrame({"id": np.arange(60), "label": labels, "code": np.where(labels == "a", 7, 9)})
        nodes, notes = read(cells, Columns())
        assert [tell.column for tell in nodes.tells] == ["code"]
        assert any("the column 'code' alone tells the label of 100.0% of the nodes" in note for note in notes)

    def test_numbers_as_they_are(self):
        nodes, _ = read(CELLS.assign(size=[1, 2, 3, 4]), Columns(id="who", label="team", encode=False))
        assert nodes.x.tolist() == [[1], [2], [3], [4]]
        assert nodes.reading.encoding is None
        assert nodes.reading.columns.features == ["size"]
        with pytest.raises(InputError, match="kinds says what becomes of columns: leave it out"):
            read(CELLS, Columns(id="who", kinds="age=number", encode=False))


class TestAgain:
    def test_learned_values_are_used_and_columns_found_by_name(self):
        first, _ = read()
        more = pd.DataFrame(
            {
                "city": ["Oslo", "Rome", None],
                "planet": "Mars",
                "age": ["10", "40", ""],
                "part": "x",
                "who": ["eve", "bob", "fay"],
            }
        )
        second, notes = read(more, Columns(), first.reading)
        assert np.array_equal(second.x[1], first.x[1])
        assert (second.y, second.reading.columns.label) == (None, None)
        assert second.x.shape[1] == first.x.shape[1]
        assert notes == [
            "nodes.csv: column 'city': 1 cell is new and counts as no value, because the fit did not have "
            "it: 'Oslo'.",
            "nodes.csv: column 'city': there is 1 gap, and the fit had none: what is usual stands there.",
        ]

    def test_a_text_file_is_read_as_it_was_for_the_fit(self, tmp_path):
        """In the third file every price and every code looks like a number."""
        (tmp_path / "n.csv").write_text("id;price;code\n1;1.234,5;007\n2;2.500;008\n3;17,0;x\n4;2.000;007\n")
        first = read_nodes(open_table(tmp_path / "n.csv"), Columns(), [])
        (tmp_path / "m.csv").write_text("id;price;code\n2;2.500;008\n1;1.234,5;007\n")
        (tmp_path / "o.csv").write_text("id;price;code\n2;2.500;008\n4;2.000;007\n")
        for file, rows in (("m.csv", [1, 0]), ("o.csv", [1, 3])):
            again = read_nodes(open_table(tmp_path / file), Columns(), [], first.reading)
            assert np.array_equal(again.x, first.x[rows])

    def test_names_of_ids_may_be_others(self):
        first, _ = read()
        second, _ = read(CELLS.rename(columns={"who": "name"}), Columns(id="name"), first.reading)
        assert second.ids.values.tolist() == first.ids.values.tolist()
        with pytest.raises(InputError, match=r"nodes\.csv has no column 'who' for the node id"):
            read(CELLS.rename(columns={"who": "name"}), Columns(), first.reading)

    @pytest.mark.parametrize("name", ["features", "exclude", "kinds"])
    def test_what_columns_become_cannot_be_said_anew(self, name):
        first, _ = read()
        with pytest.raises(InputError, match=f"{name} cannot be said anew: the model reads the columns"):
            read(CELLS, Columns(**{name: "age"}), first.reading)

    def test_new_and_missing_columns_are_named(self):
        first, _ = read()
        with pytest.raises(InputError, match="the table has the column 'shoe', which the model was not"):
            _ = read(CELLS.assign(shoe=1), Columns(), first.reading)[0].x
        with pytest.raises(InputError, match="the table has no column 'city', which the model was fitted"):
            _ = read(CELLS.drop(columns="city"), Columns(), first.reading)[0].x

    def test_the_column_of_the_split_is_never_a_feature(self):
        first, _ = read(CELLS, Columns(id="who", label="team", split_column="part"))
        second, _ = read(CELLS, Columns(), first.reading)
        assert np.array_equal(first.x, second.x)
        without, _ = read(CELLS.drop(columns="part"), Columns(), first.reading)
        assert np.array_equal(first.x, without.x)


def test_added_nodes_are_rows_of_gaps():
    nodes, notes = read()
    x = nodes.features(2, notes)
    gaps = nodes.reading.encoding.apply(
        CELLS[["age", "city", "planet", "part"]].assign(age=None, city=None)
    ).x
    assert np.array_equal(x[:4], nodes.x)
    assert np.array_equal(x[4:], gaps[:2])
    assert "Nothing is known of 2 added nodes" in notes[-1]


def test_wide_tables_of_few_values_stay_sparse():
    rng = np.random.default_rng(0)
    bits = pd.DataFrame((rng.random((50, 100)) < 0.05).astype(int)).add_prefix("w")
    nodes, notes = read(pd.concat([pd.DataFrame({"id": np.arange(50)}), bits], axis=1), Columns())
    assert sp.issparse(nodes.x)
    used = bits.loc[:, bits.nunique() > 1]
    assert np.array_equal(nodes.x.toarray(), used.to_numpy())
    assert sp.issparse(nodes.features(3, notes))


def test_id_and_label():
    cells = MemoryTable("nodes.csv", pd.DataFrame({"ID": [1], "Label": [2], "a": [3]}))
    assert id_and_label(cells, None, None) == ("ID", "Label")
    assert id_and_label(cells, "Label", None) == ("Label", None)
    assert id_and_label(cells, None, "a") == ("ID", "a")
    with pytest.raises(InputError, match="cannot be both id and label"):
        id_and_label(cells, "a", "a")
