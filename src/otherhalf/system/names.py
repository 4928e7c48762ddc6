"""Names of nodes and classes: text of its own length each, because an array of fixed width is as wide as its
longest name in every row.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from otherhalf.errors import InputError

LONGEST_NAME = 10_000
"""Most characters of a node's name; what is longer is a text, and its column no column of names."""

LONGEST_CLASS = 1_000
"""Most characters of a class's name, which stands once in every row of predictions."""

WIDEST = 2**26
"""Names that would need more bytes than these in an array of fixed width are written one after another."""


def as_text(values: npt.NDArray[Any], what: str, longest: int) -> npt.NDArray[np.object_]:
    """Return names as an array of Python's texts; raise InputError if one is too long or no Unicode.

    Args:
        values: The names, of any type.
        what: What they are called in messages, as in "node id".
        longest: Most characters of a name.
    """
    try:
        if values.dtype.kind == "S":
            values = np.strings.decode(values, "utf-8")
        texts = values if values.dtype.kind in "OU" else values.astype(str)
        names = np.empty(len(texts), dtype=object)
        names[:] = [str(text) for text in texts.tolist()]
        wrong = next((name for name in names if len(name) > longest), None)
        if wrong is not None:
            raise InputError(
                f"the {what} {short(wrong)!r} has {len(wrong):,} characters: give at most {longest:,}"
            )
        for name in names:
            name.encode()
    except UnicodeError as error:
        raise InputError(f"a {what} is not Unicode text: correct it") from error
    return names


def short(name: Any) -> str:
    """Return a name for a message, without its end if it is long."""
    text = str(name)
    return text if len(text) <= 60 else f"{text[:40]}…"


def checked_ids(ids: Sequence[Any] | npt.NDArray[Any] | None, n: int) -> npt.NDArray[Any] | None:
    """Return distinct node ids, as integers or text."""
    if ids is None:
        return None
    # A list becomes an array of objects, as with labels; an array is copied.
    array = np.array(ids) if hasattr(ids, "__array__") else np.array(ids, dtype=object)
    if array.shape != (n,):
        raise InputError(f"the ids have the shape {array.shape} for {n} nodes: give one id per node")
    if pd.isna(array).any():
        raise InputError(f"node {int(np.argmax(pd.isna(array)))} has no id: give every node an id")
    if array.dtype == object:
        array = np.asarray(pd.Series(array, dtype=object).infer_objects())
    if array.dtype.kind == "f" and np.all(array == np.round(array)) and np.all(np.abs(array) < 2**53):
        array = array.astype(np.int64)  # in a table with a gap the id 1 becomes 1.0
    if array.dtype.kind not in "iu":
        array = as_text(array, "node id", LONGEST_NAME)
        if (array == "").any():
            raise InputError(f"node {int(np.argmax(array == ''))} has no id: give every node an id")
    index: pd.Index[Any] = pd.Index(array)
    if not index.is_unique:
        twice = short(array[index.duplicated()][0])
        raise InputError(f"the node id {twice!r} occurs more than once: give every node another id")
    return array


def to_arrays(name: str, names: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return names as arrays without Python objects, for files: of fixed width, or their bytes and ends."""
    if names.dtype != object:
        return {name: names}
    lengths = [len(each) for each in names]
    if 4 * max(lengths, default=0) * len(names) <= WIDEST:
        return {name: names.astype(str)}
    content = [each.encode() for each in names]
    return {
        f"{name}_bytes": np.frombuffer(b"".join(content), dtype=np.uint8),
        f"{name}_ends": np.cumsum([len(each) for each in content]),
    }


def from_arrays(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any] | None:
    """Return the names that :func:`to_arrays` was called on; None if there are none."""
    if f"{name}_bytes" not in arrays or f"{name}_ends" not in arrays:
        return arrays.get(name)
    content, ends = arrays[f"{name}_bytes"], arrays[f"{name}_ends"]
    plain = content.dtype == np.uint8 and ends.dtype.kind in "iu" and content.ndim == ends.ndim == 1
    starts = np.concatenate([[0], ends[:-1]]) if plain else ends
    if not plain or (ends < starts).any() or (len(ends) and ends[-1] != len(content)):
        raise InputError(f"{name}_bytes and {name}_ends do not fit together: write the file again")
    names = np.empty(len(ends), dtype=object)
    text = content.tobytes()
    try:
        names[:] = [text[a:b].decode() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    except UnicodeDecodeError as error:
        raise InputError(f"{name}_bytes is not UTF-8 text: write the file again") from error
    return names
