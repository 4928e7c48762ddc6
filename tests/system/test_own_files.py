"""Files that the package wrote: what is read, and what is refused before it is opened."""

import os

import pytest

from otherhalf.errors import InputError
from otherhalf.system.own_files import parse_object, read_own_file, reason_of


def refusal(path):
    with pytest.raises(InputError) as caught:
        read_own_file(path, "save it again")
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert sentence.endswith(": save it again")
    return sentence


def test_a_file_and_a_link_within_the_folder(tmp_path):
    (tmp_path / "real").write_bytes(b"content")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "folder").symlink_to(tmp_path)
    for path in ("real", "link", "folder/real"):
        assert read_own_file(tmp_path / path, "") == b"content"


def test_links_out_of_the_folder(tmp_path):
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "up").symlink_to("../secret")
    (tmp_path / "model" / "absolute").symlink_to(tmp_path / "secret")
    for name in ("up", "absolute"):
        assert "is a link to a file outside its folder" in refusal(tmp_path / "model" / name)


def test_what_is_not_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert "pipe is not a file" in refusal(tmp_path / "pipe")
    assert "folder is not a file" in refusal(tmp_path / "folder")
    for name in ("loop", "dangling", "absent"):
        assert "cannot be read (" in refusal(tmp_path / name)


def test_an_object(tmp_path):
    assert parse_object(b'{"a": [1]}', tmp_path, "") == {"a": [1]}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged or cut short"),
        (b'{"a": ', "damaged or cut short"),
        (b'{"\xff": 1}', "damaged or cut short"),
        (b'{"a":' + b"9" * 5000 + b"}", "integer string conversion"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"[1]", "holds no JSON object"),
        (b"null", "holds no JSON object"),
    ],
)
def test_what_is_no_object(tmp_path, content, reason):
    with pytest.raises(InputError, match=rf"^{tmp_path} .*: fix$") as caught:
        parse_object(content, tmp_path, "fix")
    assert reason in str(caught.value)


def test_reasons_are_one_line():
    assert reason_of(KeyError("a")) == "it has no 'a'"
    assert reason_of(ValueError("one\ntwo")) == "one"
    assert reason_of(ValueError()) == "ValueError"
