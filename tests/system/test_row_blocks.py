"""Row blocks: what is read is what was written, from memory and from files alike."""

import errno
import shutil
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.system.row_blocks import RowBlocks, check_disk
from otherhalf.system.scratch import temporary_folder


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rows_in_files_and_in_memory_are_bit_equal(tmp_path, dtype):
    values = np.random.default_rng(0).standard_normal((23, 5)).astype(np.float32)
    inside = RowBlocks(23, 5, dtype=dtype, block_rows=7).write_all(values)
    mapped = RowBlocks(23, 5, tmp_path / "x", dtype=dtype, block_rows=7).write_all(values)
    nodes = np.array([22, 0, 7, 7, 6, 14])
    for blocks in (inside, mapped):
        assert np.array_equal(blocks.rows(3, 20), values.astype(dtype)[3:20])
        assert np.array_equal(blocks.take(nodes), values.astype(dtype)[nodes])
        assert np.array_equal(blocks.columns(1, 4), values.astype(dtype)[:, 1:4])
        assert blocks.take(nodes).dtype == blocks.rows(0, 2).dtype == np.float32
    assert inside.nbytes == mapped.nbytes == 23 * 5 * np.dtype(dtype).itemsize
    written = sum(path.stat().st_size for path in (tmp_path / "x").iterdir())
    assert written == mapped.nbytes


@given(rows=st.integers(0, 30), block=st.integers(1, 9), data=st.data())
def test_any_rows_are_those_of_the_array(rows, block, data):
    values = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    nodes = np.array(data.draw(st.lists(st.integers(0, rows - 1)) if rows else st.just([])), dtype=np.int64)
    start = data.draw(st.integers(0, rows))
    with temporary_folder() as folder:
        for place in (None, folder / "values"):
            blocks = RowBlocks(rows, 3, place, block_rows=block).write_all(values)
            assert np.array_equal(blocks.take(nodes), values[nodes])
            assert np.array_equal(blocks.rows(start, rows), values[start:])


def test_blocks_are_written_at_their_place_and_whole():
    blocks = RowBlocks(10, 2, block_rows=4)
    blocks.write(8, np.ones((2, 2)))
    with pytest.raises(ValueError, match="at row 4 has the shape"):
        blocks.write(4, np.ones((3, 2)))
    with pytest.raises(ValueError, match="at row 2"):
        blocks.write(2, np.ones((4, 2)))
    with pytest.raises(ValueError, match="row 0 was not written"):
        blocks.rows(0, 1)
    with pytest.raises(IndexError):
        blocks.take(np.array([10]))
    with pytest.raises(ValueError, match="float64"):
        RowBlocks(1, 1, dtype=np.float64)


def test_what_was_written_does_not_change_with_its_source():
    values = np.zeros((4, 2), dtype=np.float32)
    blocks = RowBlocks(4, 2).write_all(values)
    values[:] = 1
    assert not blocks.rows(0, 4).any()


def test_a_full_disk_ends_in_one_sentence_and_leaves_no_file(tmp_path, monkeypatch):
    class Full(np.ndarray):
        def tofile(self, path):
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    blocks = RowBlocks(4, 2, tmp_path / "x")
    monkeypatch.setattr(np, "ascontiguousarray", lambda values, dtype: values.astype(dtype).view(Full))
    with pytest.raises(InputError, match="free some space"):
        blocks.write(0, np.ones((4, 2)))
    assert list((tmp_path / "x").iterdir()) == []


def test_too_little_disk_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(10**12, 0, 10**9))
    check_disk(tmp_path, 700_000_000, "the rows")
    with pytest.raises(InputError, match=r"the rows need 900 MB on the disk .* 1.0 GB are free: .*TMPDIR"):
        check_disk(tmp_path, 900_000_000, "the rows")


def test_removed_blocks_leave_nothing(tmp_path):
    blocks = RowBlocks(4, 2, tmp_path / "x").write_all(np.ones((4, 2)))
    blocks.remove()
    assert not (tmp_path / "x").exists()
    with pytest.raises(ValueError, match="not written"):
        blocks.rows(0, 4)
