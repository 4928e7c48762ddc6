"""All columns together: by hand, on a messy table, and with cells that nobody expects."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otherhalf.data.columns.encoding import ColumnEncoding
from otherhalf.errors import InputError

SMALL = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"], "c": ["u1", "u2", "u3"], "d": [7, 7, 7]})


def dense(encoded):
    return encoded.x if isinstance(encoded.x, np.ndarray) else encoded.x.toarray()


def messy(rows=120, seed=0):
    """A table as users have them."""
    rng = np.random.default_rng(seed)
    dates = pd.date_range("2019-03-01", periods=rows, freq="37h")
    pick = rng.random(rows)
    return pd.DataFrame(
        {
            "user_id": rng.permutation(rows) + 1000,
            "income": np.where(pick < 0.05, "hello", rng.lognormal(10, 2, rows).round(2).astype(str)),
            "rate": [f"{v:.1f}".replace(".", ",") for v in rng.normal(5, 1, rows)],
            "city": rng.choice(["Rome", "Oslo", "Lima", "?"], rows),
            "code": [f"k{v}" for v in rng.integers(0, 40, rows)],
            "ok": rng.choice(["Yes", "no", None], rows),
            "joined": np.where(pick < 0.1, "n/a", dates.strftime("%d.%m.%Y")),
            "seen": dates.tz_localize("UTC"),
            "bio": [
                " ".join(rng.choice(["graph", "node", "edge", "half", "red", "blue"], 5)) for _ in range(rows)
            ],
            "tags": [";".join(rng.choice(list("abcdef"), 2)) for _ in range(rows)],
            "list": [list(rng.choice(list("uvw"), 2)) for _ in range(rows)],
            "size": rng.integers(0, 50, rows).astype(float),
            "none": None,
            "same": "x",
        }
    )


# ------------------------------------------------------------------ by hand


def test_by_hand():
    encoding = ColumnEncoding.learn(SMALL)
    encoded = encoding.apply(SMALL)
    assert encoded.names == encoding.names == ("a", "b=x", "b=y")
    deviation = np.float32(np.sqrt(1.5))
    np.testing.assert_allclose(encoded.x, [[-deviation, 1, 0], [0, 0, 1], [deviation, 1, 0]], rtol=1e-6)
    assert [(row.column, row.kind, row.becomes) for row in encoding.table()] == [
        ("a", "number", "standard scale"),
        ("b", "category", "2 columns of 0 and 1"),
        ("c", "id", "left out"),
        ("d", "constant", "left out"),
    ]
    assert encoding.notes == (
        "c: left out: nearly every value is one word that occurs once; say its kind to use it",
        "d: left out: all its values are the same",
    )


def test_said_kinds_features_and_exclude():
    assert ColumnEncoding.learn(SMALL, kinds={"c": "category"}, exclude="b").names == (
        "a",
        "c=u1",
        "c=u2",
        "c=u3",
    )
    assert ColumnEncoding.learn(SMALL, features=["b", "a"]).names == ("b=x", "b=y", "a")
    left = ColumnEncoding.learn(SMALL, features="a").table()
    assert [(row.column, row.becomes) for row in left][1:] == [(name, "left out") for name in "bcd"]
    with pytest.raises(InputError, match="the kind 'colour' of 'a' is not known"):
        ColumnEncoding.learn(SMALL, kinds={"a": "colour"})
    with pytest.raises(InputError, match="no column matches 'z' in features"):
        ColumnEncoding.learn(SMALL, features="z")


def test_columns_are_found_by_name():
    encoding = ColumnEncoding.learn(SMALL)
    x = encoding.apply(SMALL).x
    np.testing.assert_array_equal(encoding.apply(SMALL[["d", "b", "c", "a"]]).x, x)
    np.testing.assert_array_equal(encoding.apply(SMALL[["b", "a"]]).x, x)  # c and d were left out
    with pytest.raises(
        InputError, match=r"the table has no column 'a', 'b', which the model was fitted with: add it"
    ):
        encoding.apply(SMALL[["c"]])
    with pytest.raises(InputError, match="the table has the column 'e', which the model was not fitted with"):
        encoding.apply(SMALL.assign(e=1))


def test_wrong_cells_are_named():
    frame = pd.DataFrame({"p": ["1", "2", "hello", "n/a", "5", "6", "7"]})
    encoding = ColumnEncoding.learn(frame)
    assert encoding.notes == ("p: 1 cell is no number and counts as a gap: 'hello'",)
    assert encoding.table()[0].gaps == 1
    later = encoding.apply(pd.DataFrame({"p": ["x", "x", "3"]}))
    assert later.notes == ("column 'p': 2 cells are no number and count as a gap: 'x'",)


def test_columns_with_the_same_surprise_share_a_note():
    encoding = ColumnEncoding.learn(pd.DataFrame({"p": [1.0, 2, 3], "q": [3.0, 1, 2]}))
    later = encoding.apply(pd.DataFrame({"p": [1.0, None, 3], "q": [3.0, 1, None]}))
    assert later.notes == (
        "columns 'p', 'q': there is 1 gap, and the fit had none: what is usual stands there",
    )


def test_large_tables_are_applied_in_parts(monkeypatch):
    frame = messy(50)
    encoding = ColumnEncoding.learn(frame)
    whole = encoding.apply(frame)
    monkeypatch.setattr("otherhalf.data.columns.encoding._ROWS", 7)
    in_parts = encoding.apply(frame)
    np.testing.assert_array_equal(dense(in_parts), dense(whole))
    assert in_parts.notes == whole.notes != ()


def test_no_usable_column_is_welcome():
    for frame in (SMALL[["c", "d"]], SMALL[[]], pd.DataFrame(), SMALL[:0]):
        encoding = ColumnEncoding.learn(frame)
        assert encoding.apply(frame).x.shape == (len(frame), 0)
        assert encoding.apply(frame).names == ()


def test_wrong_tables_are_refused():
    with pytest.raises(InputError, match="two columns called 'a': rename one"):
        ColumnEncoding.learn(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="must be a pandas DataFrame, not list"):
        ColumnEncoding.learn([1, 2])
    with pytest.raises(InputError, match="reads up to 1: upgrade otherhalf"):
        ColumnEncoding.from_parts({"version": 2}, {})


def test_words_of_a_bag_are_sparse():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame((rng.random((50, 200)) < 0.03).astype(int)).loc[:, lambda f: f.sum() > 0]
    encoded = ColumnEncoding.learn(frame).apply(frame)
    assert isinstance(encoded.x, sp.csr_matrix)
    assert encoded.x.dtype == np.float32
    np.testing.assert_array_equal(encoded.x.toarray(), frame.to_numpy())
    assert ColumnEncoding.learn(frame).apply(frame[:0]).x.shape == (0, frame.shape[1])


# ------------------------------------------------------------------ a messy table


def test_a_messy_table():
    frame = messy()
    encoding = ColumnEncoding.learn(frame)
    assert {row.column: row.kind for row in encoding.table()} == {
        "user_id": "id",
        "income": "number",
        "rate": "number",
        "city": "category",
        "code": "category",
        "ok": "boolean",
        "joined": "date",
        "seen": "date",
        "bio": "text",
        "tags": "tags",
        "list": "tags",
        "size": "number",
        "none": "empty",
        "same": "constant",
    }
    x = dense(encoding.apply(frame))
    assert np.isfinite(x).all()
    assert x.shape[1] == len(set(encoding.names))
    assert next(row for row in encoding.table() if row.column == "income").becomes.startswith(
        "signed log scale"
    )
    assert any("'hello'" in note for note in encoding.notes)
    later = encoding.apply(messy(30, seed=1))
    assert np.isfinite(dense(later)).all()


def test_written_and_read():
    frame = messy()
    encoding = ColumnEncoding.learn(frame)
    again = ColumnEncoding.from_parts(json.loads(json.dumps(encoding.to_dict())), encoding.tensors())
    assert again == encoding
    assert hash(again) == hash(encoding)
    assert again.table() == encoding.table()
    np.testing.assert_array_equal(dense(again.apply(frame)), dense(encoding.apply(frame)))
    assert encoding != ColumnEncoding.learn(messy(seed=1))
    assert encoding != "an encoding"


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(40)), st.permutations(list(messy(1).columns)), st.integers(1, 40))
def test_no_order_and_no_number_of_rows_changes_a_bit(rows, columns, count):
    frame = messy(40)
    encoding = ColumnEncoding.learn(frame)
    x = dense(encoding.apply(frame))
    turned = frame.iloc[rows]
    assert ColumnEncoding.learn(turned) == encoding
    np.testing.assert_array_equal(dense(encoding.apply(turned[columns][:count])), x[rows][:count])
    by_name = {column.name: column.to_dict() for column in encoding.columns}
    assert {c.name: c.to_dict() for c in ColumnEncoding.learn(turned[columns]).columns} == by_name


# ------------------------------------------------------------------ cells that nobody expects

CELL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.text(alphabet=st.characters(exclude_categories=[]), max_size=4),  # also lone surrogates
    st.sampled_from(
        ["", "?", "n/a", "1,5", "1.000,5", "yes", "no", "2020-01-01", "1/2/2020", "a;b", "[1]", "x" * 5000]
    ),
    st.dates(),
    st.datetimes(),
    st.lists(st.text(max_size=3), max_size=3),
    st.binary(max_size=3),
    st.decimals(allow_nan=True),
    st.just(pd.NaT),
    st.just(10**400),
)
COLUMN = st.one_of(
    st.lists(CELL, max_size=12),
    st.lists(st.floats(), max_size=12),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12),
    st.lists(st.text(max_size=20), max_size=12),
    st.lists(st.sampled_from(["1,5", "2,25", "1.234,5", "x"]), max_size=12),
    st.lists(st.datetimes(), max_size=12),
    st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=12),
)
MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(COLUMN, COLUMN)
def test_any_cells_become_finite_numbers(cells, later):
    frame = pd.DataFrame({"c": pd.Series(cells, dtype=object)})
    encoding = ColumnEncoding.learn(frame)
    x = dense(encoding.apply(frame))
    assert x.shape == (len(cells), len(encoding.names))
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert np.isfinite(dense(encoding.apply(pd.DataFrame({"c": pd.Series(later, dtype=object)})))).all()
    for row in range(len(cells)):
        np.testing.assert_array_equal(dense(encoding.apply(frame[row : row + 1]))[0], x[row])
    text = json.dumps(encoding.to_dict(), ensure_ascii=False).encode("utf-8")  # as a model folder writes it
    again = ColumnEncoding.from_parts(json.loads(text), encoding.tensors())
    np.testing.assert_array_equal(dense(again.apply(frame)), x)
    assert ColumnEncoding.learn(frame[::-1]) == encoding


@MANY
@given(COLUMN, st.sampled_from(["number", "category", "boolean", "date", "text", "tags", "id"]))
def test_any_kind_can_be_said_of_any_cells(cells, kind):
    frame = pd.DataFrame({"c": pd.Series(cells, dtype=object)})
    refusal = None
    try:
        encoding = ColumnEncoding.learn(frame, kinds={"c": kind})
    except InputError as error:
        refusal = str(error)
    if refusal is None:
        assert np.isfinite(dense(encoding.apply(frame))).all()
    else:
        assert kind in ("number", "boolean", "date")
        assert "'c' is said to be" in refusal
