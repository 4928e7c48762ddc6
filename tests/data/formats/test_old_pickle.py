"""Pickles of Planetoid's kind, damaged ones and hostile ones."""

import os
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.data.formats.old_pickle import read_pickle
from otherhalf.errors import InputError


def dump(path: Path, value: Any) -> None:
    """A pickle that names its classes as Python 2, old numpy and old scipy did."""
    raw = pickle.dumps(value, protocol=3)
    for new, old in (
        (b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"),
        (b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"),
        (b"cbuiltins\nlist\n", b"c__builtin__\nlist\n"),
    ):
        raw = raw.replace(new, old)
    path.write_bytes(raw)


class _Evil:
    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> Any:
        return self.call, self.arguments


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_malicious_pickle_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "executed"
    path = tmp_path / "ind.cora.graph"
    for evil in (_Evil(os.mkdir, str(mark)), _Evil(eval, f"__import__('os').mkdir({str(mark)!r})")):
        path.write_bytes(pickle.dumps({0: [1], 1: evil}, protocol=protocol))
        with pytest.raises(
            InputError, match=r"ind\.cora\.graph is not one of Planetoid's files .*it refers to"
        ):
            read_pickle(path)
        assert not mark.exists()
        pickle.loads(path.read_bytes())  # the file does what it is feared to do where it is let
        assert mark.exists()
        mark.rmdir()


@pytest.mark.parametrize("content", [b"", b"\x80\x02}q\x00", b"nonsense", b"\x80\x02cnumpy\nndarray\n)R."])
def test_a_damaged_pickle(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ind.cora.x").write_bytes(content)
    with pytest.raises(InputError, match="not one of Planetoid's files"):
        read_pickle(tmp_path / "ind.cora.x")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([True, False]),
        np.zeros((0, 3), dtype=np.float32),
    ],
)
def test_arrays_of_plain_numbers(tmp_path: Path, array: Any) -> None:
    dump(tmp_path / "a", array)
    read = read_pickle(tmp_path / "a")
    assert read.dtype == array.dtype
    assert read.tolist() == array.tolist()
    assert read.shape == array.shape


def test_matrices_and_lists(tmp_path: Path) -> None:
    matrix = sp.csr_matrix(np.array([[1.0, 0], [0, 2]], dtype=np.float32))
    dump(tmp_path / "a", matrix)
    assert read_pickle(tmp_path / "a").toarray().tolist() == [[1, 0], [0, 2]]
    dump(tmp_path / "a", defaultdict(list, {0: [1], 1: []}))
    assert read_pickle(tmp_path / "a") == {0: [1], 1: []}


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1], "a"], dtype=object),
        np.array(["a"]),
        np.array([b"a"]),
        np.zeros(1, dtype=[("a", "f4")]),
        np.zeros(1, dtype="M8[s]"),
        np.zeros(1, dtype=complex),
    ],
    ids=lambda array: str(array.dtype),
)
def test_other_types_are_not_loaded(tmp_path: Path, array: Any) -> None:
    dump(tmp_path / "a", array)
    with pytest.raises(InputError, match="not one of Planetoid's files"):
        read_pickle(tmp_path / "a")


def test_sizes_that_do_not_fit_are_not_loaded(tmp_path: Path) -> None:
    dump(tmp_path / "a", np.zeros(3, dtype=np.uint8))
    content = (tmp_path / "a").read_bytes()
    wrong = content.replace(b"K\x03\x85", b"K\x04\x85", 1)
    assert wrong != content
    (tmp_path / "a").write_bytes(wrong)
    with pytest.raises(InputError, match="whose numbers do not fit its size"):
        read_pickle(tmp_path / "a")
    dump(tmp_path / "a", sp.csr_matrix((np.ones(1), np.array([7]), np.array([0, 1])), shape=(1, 9)))
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes().replace(b"K\x01K\t\x86", b"K\x01K\x02\x86"))
    with pytest.raises(InputError, match="not one of Planetoid's files"):
        read_pickle(tmp_path / "a")


def test_memory_for_objects_that_are_not_there_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x80\x02]r\xff\xff\xff\x7f.")
    with pytest.raises(InputError, match="it numbers more objects than it has"):
        read_pickle(tmp_path / "a")


@given(st.data())
def test_no_change_of_bytes_gives_another_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("changed") / "a"
    dump(path, data.draw(st.sampled_from([np.arange(3), sp.csr_matrix(np.eye(2)), {0: [1]}])))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        read_pickle(path)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017  # some changes do no harm
