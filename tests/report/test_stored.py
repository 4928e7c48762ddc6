"""The file of a report: what is written is read; what is damaged gets one sentence."""

import copy
import json

import pytest
from tests.report.made_up import content

from otherhalf.errors import InputError
from otherhalf.estimators.run_files import REPORT_FILE
from otherhalf.report.stored import FORMAT, read_content, write_content


def test_what_is_written_is_read(tmp_path):
    for value in (content(), content(hostile=True)):
        write_content(tmp_path, value)
        assert read_content(tmp_path) == value


def test_a_folder_without_a_report(tmp_path):
    with pytest.raises(InputError, match=r"has no report\.json: run `otherhalf fit DATA --out"):
        read_content(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", "[" * 100_000])
def test_no_json(tmp_path, text):
    (tmp_path / REPORT_FILE).write_text(text)
    with pytest.raises(InputError, match=r"report.json is damaged \(.*\): run `otherhalf fit"):
        read_content(tmp_path)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / REPORT_FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is damaged"):
        read_content(tmp_path)


def test_a_newer_format(tmp_path):
    write_content(tmp_path, {"format": FORMAT + 1})
    with pytest.raises(InputError, match=f"has the format {FORMAT + 1}, .* install a newer otherhalf"):
        read_content(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("made",), None, "made is no object"),
        (("made", "seed"), "0", "made.seed is no int"),
        (("made", "seed"), True, "made.seed is no int"),
        (("made", "seconds", "train"), "x", "made.seconds.train is no int or float"),
        (("evaluation", "metrics", 0, "value"), "<b>", r"evaluation.metrics\[0\].value is no int or float"),
        (("evaluation", "part"), "train", "evaluation.part is neither test nor val"),
        (("evaluation", "confusion"), [[1]], "evaluation.confusion is not 3 × 3"),
        (("evaluation", "surest_wrong", 0, "node"), 60, "evaluation.surest_wrong has a number beyond"),
        (("halves", "mixing", "given"), [[1], [1]], "halves.mixing.given is not 3 × 3"),
        (("explorer", "nodes", "label", 3), 3, "explorer.nodes.label has a number beyond"),
        (("explorer", "nodes", "detail", 3), 60, "explorer.nodes.detail has a number beyond"),
        (("explorer", "nodes", "part"), "t", "explorer.nodes.part has 1 nodes"),
        (("verdict", "cosines", "random"), [1], "verdict.cosines does not have one bar"),
    ],
)
def test_a_damaged_value(tmp_path, path, value, said):
    damaged = copy.deepcopy(content())
    *way, last = path
    inner = damaged
    for name in way:
        inner = inner[name]
    inner[last] = value
    write_content(tmp_path, damaged)
    with pytest.raises(InputError, match=said):
        read_content(tmp_path)


def test_a_missing_key_is_named(tmp_path):
    for section, values in content().items():
        if isinstance(values, dict):
            for name in values:
                damaged = content()
                del damaged[section][name]
                (tmp_path / REPORT_FILE).write_text(json.dumps(damaged))
                with pytest.raises(InputError, match=rf"{section}\.{name} is missing"):
                    read_content(tmp_path)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("NaN", "the number NaN is not finite"),
        ("-Infinity", "the number -Infinity is not finite"),
        ("1e400", "the number 1e400 is not finite"),
        ("1" + "0" * 400, "the number 10000000000000000000… is too large"),
    ],
)
def test_a_number_that_no_page_can_show(tmp_path, number, said):
    value = content()
    value["evaluation"]["metrics"][0]["value"] = 12345.678
    write_content(tmp_path, value)
    path = tmp_path / REPORT_FILE
    path.write_text(path.read_text(encoding="utf-8").replace("12345.678", number), encoding="utf-8")
    with pytest.raises(InputError, match=rf"report.json is damaged \({said}\): run"):
        read_content(tmp_path)


def test_the_largest_seed_is_read(tmp_path):
    value = content()
    value["made"]["seed"] = 2**64 - 1
    write_content(tmp_path, value)
    assert read_content(tmp_path) == value


def test_the_whole_time_is_needed(tmp_path):
    value = content()
    del value["made"]["seconds"]["total"]
    write_content(tmp_path, value)
    with pytest.raises(InputError, match=r"is damaged \(made\.seconds\.total is missing\)"):
        read_content(tmp_path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "fit").mkdir()
    write_content(tmp_path, content())
    (tmp_path / "fit" / REPORT_FILE).symlink_to(tmp_path / REPORT_FILE)
    with pytest.raises(InputError, match="a link to a file outside its folder, and it is not followed: run"):
        read_content(tmp_path / "fit")
