"""The arrays of npz files: whole ones, damaged ones and hostile ones."""

import contextlib
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from otherhalf.data.files import arrays as module
from otherhalf.data.files.arrays import read_arrays
from otherhalf.errors import InputError

PLAIN = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.unicode_string_dtypes(endianness="?", max_len=5),
)


def _member(header: bytes, body: bytes = b"", version: bytes = b"\1\0") -> bytes:
    """An array in numpy's format with any header."""
    width = 2 if version == b"\1\0" else 4
    return b"\x93NUMPY" + version + len(header).to_bytes(width, "little") + header + body


def _header(descr: str, shape: str) -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()


def _write(folder: Path, **members: bytes) -> Path:
    path = folder / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def _saved(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


@given(
    hnp.arrays(PLAIN, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)),
    st.sampled_from(["C", "F"]),
    st.booleans(),
)
def test_every_plain_array_is_read_as_numpy_reads_it(
    tmp_path_factory: pytest.TempPathFactory, array: Any, order: Any, packed: bool
) -> None:
    path = tmp_path_factory.mktemp("arrays") / "a.npz"
    (np.savez_compressed if packed else np.savez)(path, a=np.asarray(array, order=order))
    with np.load(path) as file:
        expected = file["a"]
    read = read_arrays(path)["a"]
    assert read.dtype == expected.dtype
    assert read.shape == expected.shape
    assert read.tobytes() == expected.tobytes()


def test_arrays_by_name_and_those_that_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, y=[1], directed=True)
    assert set(read_arrays(path, ("y",))) == {"y"}
    assert set(read_arrays(path, ("y",), optional=("directed", "ids"))) == {"y", "directed"}
    with pytest.raises(InputError, match=r"lacks the array\(s\) ids: "):
        read_arrays(path, ("y", "ids"), optional=("directed",))


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, y=[1], names=np.array([{}], dtype=object))
    assert read_arrays(path, ("y",))["y"].tolist() == [1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello raw bytes", "a is not an array of numpy"),
        (_member(_header("'<f4'", "(3, 2")), "a is not an array of numpy"),
        (_member(_header("'<f4'", "('a',)")), "a is not an array of numpy"),
        (_member(_header("'<U2000000000'", "(3,)")), "a is not an array of numpy"),
        (_member(b"(" * 9000), "a is not an array of numpy"),
        (_member(b"{" + b" " * 20_000 + b"}"), "a is not an array of numpy"),
        (_member(b"", version=b"\2\0")[:8] + b"\xff\xff\xff\xff{", "a is not an array of numpy"),
        (_member(_header("'<f4'", "(1,)"), b"0000", version=b"\3\0"), "a is not an array of numpy"),
        (_member(_header("'<f4'", "(-3, 2)"), b"0" * 24), r"a has the shape \(-3, 2\)"),
        (_member(_header("'<f4'", "(3, 10000000000000)"), b"0" * 24), "and the file has 24 for it"),
        (_member(_header("'<f4'", f"({2**62}, 4)"), b"0" * 24), "and the file has 24 for it"),
        (_member(_header("'<f4'", "(3,)"), b"0" * 24), "says that it has 12 bytes, and the file has 24"),
        (_member(_header("'|O'", "(3,)"), b"0" * 24), "Python objects or records, which are never loaded"),
        (_member(_header("[('a', '<f4')]", "(1,)"), b"0000"), "Python objects or records"),
        (_member(_header("('<f4', (9,))", "(1,)"), b"0" * 36), "Python objects or records"),
        (_member(_header("'<f4'", "(1000000000000, 0)")), r"shape \(1000000000000, 0\) and no bytes"),
        (_member(_header("'<U0'", "(1000000000000,)")), r"shape \(1000000000000,\) and no bytes"),
        (_member(_header("'|S1'", "(1,)"), b"\xff"), "the text in the array a is not Unicode"),
        (_member(_header("'<U1'", "(1,)"), b"\0\xd8\0\0"), "the text in the array a is not Unicode"),
        (_member(_header("'<U1'", "(1,)"), b"\xff" * 4), "the text in the array a is not Unicode"),
    ],
)
def test_an_array_that_is_not_plain(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_arrays(_write(tmp_path, a=content))
    assert "\n" not in str(caught.value)


def test_bytes_are_text_and_truth_values_are_0_and_1(tmp_path: Path) -> None:
    text = _member(_header("'|S2'", "(2,)"), "é".encode() + b"a\0")
    truths = _member(_header("'|b1'", "(3,)"), b"\0\2\1")
    read = read_arrays(_write(tmp_path, text=text, truths=truths))
    assert read["text"].tolist() == ["é", "a"]
    assert read["truths"].astype(int).tolist() == [0, 1, 1]


def test_an_array_that_is_there_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, y=[1])
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("y.npy", b"")
    with pytest.raises(InputError, match="has the array y twice"):
        read_arrays(path)


def test_more_than_the_memory_holds_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros(10**6))
    assert path.stat().st_size < 10**5
    monkeypatch.setattr(module, "available_bytes", lambda: 10**6)
    monkeypatch.setattr(np, "empty", None)
    with pytest.raises(InputError, match=r"have 0\.0 GB, and of the memory 0\.0 GB are free"):
        read_arrays(path)


@pytest.mark.parametrize(
    ("local", "central", "message"),
    [
        ((6, 1), (8, 1), "has a password or a compression that is not supported"),
        ((8, 99), (10, 99), "has a password or a compression that is not supported"),
        ((8, 12), (10, 12), "cannot be read|not a complete"),
        ((8, 14), (10, 14), "not a complete .npz file"),
    ],
)
def test_a_password_and_other_compressions(
    tmp_path: Path, local: tuple[int, int], central: tuple[int, int], message: str
) -> None:
    content = bytearray(_saved(y=np.arange(9)))
    for mark, (place, value) in ((b"PK\3\4", local), (b"PK\1\2", central)):
        content[content.index(mark) + place] = value
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_arrays(tmp_path / "a.npz")


@given(st.data())
def test_no_change_of_bytes_gives_another_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(_saved(y=np.arange(4), name=np.array("ab")))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content
    path = tmp_path_factory.mktemp("changed") / "a.npz"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        assert all(isinstance(each, np.ndarray) for each in read_arrays(path).values())
