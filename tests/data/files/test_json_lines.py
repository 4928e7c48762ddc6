import gzip

import pytest

from otherhalf.data.files.json_lines import read_json_lines, typed
from otherhalf.errors import InputError


def test_objects_are_rows_and_keys_columns(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "007", "a": 1.5}\n\n{"id": "v", "a": 2, "b": true}\r\n')
    table = read_json_lines(path)
    assert table.columns.tolist() == ["id", "a", "b"]
    assert table["id"].tolist() == ["007", "v"]
    assert table["a"].tolist() == [1.5, 2]
    assert table["b"].isna().tolist() == [True, False]


def test_large_integers_beside_gaps_stay_exact(tmp_path):
    path = tmp_path / "t.ndjson.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"id": 9007199254740993}\n{"id": null}\n'))
    assert read_json_lines(path)["id"].tolist()[0] == 9007199254740993


def test_types_of_columns():
    table = typed([{"a": 1, "b": 1, "c": "x"}, {"a": 2, "b": 2.5, "c": None}])
    assert [table[name].dtype.kind for name in "ab"] == ["i", "f"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "t.jsonl is empty: give one JSON object per line"),
        (b'{"a": 1}\n{"a": \n', "t.jsonl: line 2 is not JSON: give one JSON object per line"),
        (b'{"a": 1}\n[1, 2]\n', "t.jsonl: line 2 is no JSON object"),
        (b"[" * 100_000, r"line 1 cannot be used \(there are brackets inside brackets without end\)"),
        (b'{"a": 1, "a": 2}', "an object has the key 'a' twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number has too many digits"),
        (rb'{"a": "\ud800"}', "a character is only half of one"),
        (b'{"a": "\xe9"}\n', "is not UTF-8 text"),
    ],
)
def test_refusals(tmp_path, content, message):
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_json_lines(path)
