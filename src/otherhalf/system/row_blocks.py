"""Matrices with one row per node in blocks of rows: in memory, or as memory-mapped files in a folder.

A matrix that is too large for the memory is written once, block by block, and then read by ranges of rows or
by index arrays. Both ways hold the same numbers, so results are equal to the bit.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.errors import InputError
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.atomic import full_disk_refused
from otherhalf.system.memory import in_bytes

BLOCK_ROWS = 1 << 16
"""Rows of a block: of 64 columns in single precision, 17 MB."""

SPARE = 200_000_000
"""Bytes of a disk that stay free."""

Values = npt.NDArray[Any]


class RowBlocks:
    """An ``[N, columns]`` matrix of float16 or float32 in blocks of rows.

    Every block is written once, by :meth:`write` or :meth:`write_all`, and not changed afterwards. Reading a
    block that was not written raises ValueError.

    Args:
        rows: N.
        columns: Number of columns.
        folder: Folder of the files, which is made; None to keep the blocks in memory.
        dtype: ``float32`` or ``float16``.
        block_rows: Rows of a block.
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        folder: Path | None = None,
        *,
        dtype: npt.DTypeLike = np.float32,
        block_rows: int = BLOCK_ROWS,
    ) -> None:
        self.shape: tuple[int, int] = (rows, columns)
        self.dtype, self.block_rows = np.dtype(dtype), block_rows
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float16)):
            raise ValueError(f"row blocks are float16 or float32, not {self.dtype}")
        self.folder = folder
        self._blocks: dict[int, Values] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def parts(self) -> Iterator[tuple[int, int]]:
        """Yield the first row of each block, and the one after its last."""
        for start in range(0, len(self), self.block_rows):
            yield start, min(start + self.block_rows, len(self))

    def write(self, start: int, values: Values) -> None:
        """Write the block that begins at row ``start``; the file appears when it is complete.

        Raise InputError if the disk is full; the incomplete file is then removed.
        """
        number, offset = divmod(start, self.block_rows)
        expected = (min(self.block_rows, len(self) - start), self.shape[1])
        if offset or values.shape != expected:
            raise ValueError(f"a block at row {start} has the shape {expected}, not {values.shape}")
        values = np.ascontiguousarray(values, dtype=self.dtype)
        if self.folder is None:
            self._blocks[number] = values.copy() if values.base is not None else values
            return
        path = self._path(number)
        temporary = path.with_suffix(".part")
        with full_disk_refused(self.folder):
            try:
                # Not flushed to the disk, as files of users are: after a crash nobody reads these.
                values.tofile(temporary)
                os.replace(temporary, path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise

    def write_all(self, values: Values) -> RowBlocks:
        """Write all rows, and return the matrix."""
        for start, stop in self.parts():
            self.write(start, values[start:stop])
        return self

    def block(self, start: int) -> Values:
        """Return the block that begins at row ``start``, as it was written; memory-mapped if it is a file."""
        number = start // self.block_rows
        if number not in self._blocks:
            path = None if self.folder is None else self._path(number)
            if path is None or not path.is_file():
                raise ValueError(f"the block at row {start} was not written")
            rows = min(self.block_rows, len(self) - number * self.block_rows)
            if rows * self.shape[1] == 0:
                return np.empty((rows, self.shape[1]), self.dtype)
            mapped = np.memmap(path, self.dtype, "r", shape=(rows, self.shape[1]))
            self._blocks[number] = np.asarray(mapped)  # a plain view: indexing it costs less
        return self._blocks[number]

    def rows(self, start: int, stop: int) -> FloatArray:
        """Return the rows ``start`` … ``stop`` − 1 in single precision."""
        out = np.empty((max(0, stop - start), self.shape[1]), dtype=np.float32)
        for first, last in self.parts():
            low, high = max(start, first), min(stop, last)
            if low < high:
                out[low - start : high - start] = self.block(first)[low - first : high - first]
        return out

    def take(self, nodes: IntArray) -> FloatArray:
        """Return these rows in single precision; sorted ``nodes`` are read block after block."""
        nodes = np.asarray(nodes)
        if len(nodes) and (nodes.min() < 0 or nodes.max() >= len(self)):
            raise IndexError(f"a row is not among the {len(self)}")
        if len(nodes) < 2 or (np.diff(nodes) >= 0).all():
            return self._take_sorted(nodes)
        order = np.argsort(nodes, kind="stable")
        out = np.empty((len(nodes), self.shape[1]), dtype=np.float32)
        out[order] = self._take_sorted(nodes[order])
        return out

    def _take_sorted(self, nodes: IntArray) -> FloatArray:
        out = np.empty((len(nodes), self.shape[1]), dtype=np.float32)
        starts = np.arange(0, len(self) + self.block_rows, self.block_rows)
        bounds = np.searchsorted(nodes, starts)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            low, high, first = bounds[number], bounds[number + 1], int(starts[number])
            out[low:high] = self.block(first)[nodes[low:high] - first]
        return out

    def columns(self, start: int, stop: int) -> FloatArray:
        """Return the columns ``start`` … ``stop`` − 1 of all rows, ``[N, stop - start]``, contiguous."""
        out = np.empty((len(self), stop - start), dtype=np.float32)
        for first, last in self.parts():
            out[first:last] = self.block(first)[:, start:stop]
        return out

    def remove(self) -> None:
        """Remove the files, and forget all blocks."""
        self._blocks.clear()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{number:06d}.rows"


def check_disk(folder: Path, needed: int, what: str) -> None:
    """Raise InputError if the disk of an existing folder cannot hold as many bytes; nothing is written.

    Args:
        folder: Where they will be written.
        needed: Number of bytes.
        what: What needs them, in the plural: "the propagated features".
    """
    free = shutil.disk_usage(folder).free
    if needed + SPARE > free:
        raise InputError(
            f"{what} need {in_bytes(needed)} on the disk of {folder} and {in_bytes(free)} are free: free "
            "some space, or let TMPDIR name a folder that has some"
        )
