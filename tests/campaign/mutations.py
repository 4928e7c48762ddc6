"""Ways to spoil a file: at its bytes, at its cells, at the values of its JSON, at its arrays.

Each returns the new content with what must come of it: the ``"same"`` graph, ``"refuse"``, ``"same or
refuse"``, ``"tell"`` (refuse it, or say so in a note) or ``"any"``; and which ids it touched (None: perhaps
all of them).
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ODD_CELLS = (
    "", " ", "nan", "NaN", "NA", "null", "None", "inf", "-inf", "1e400", "-0.0", "1e308", "3.5", "007",
    "1_000", "1,5", "5%", "0x1f", "true", "ja", "2024-02-30", "9" * 30, "9" * 400, "-" * 50, "=1+1", "@x",
    "\ufeff", "\u202e", "\x1b[31m", "a\x00b", "é" * 40, "日本", "🌲", "'", "x" * 5000, "{", "[1]", "tree 00",
    "100", "ash",
)  # fmt: skip

ODD_VALUES = (
    None, True, False, 0, -1, 1.5, 10**30, -(10**400), 1e308, float("nan"), float("inf"), "", "x",
    "\x1b[2J", "9" * 5000, [], {}, [[]], {"a": None}, [1, "a"],
)  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """A spoilt file: how, its content, what must come of it, and the ids whose rows it touched."""

    how: str
    content: bytes
    expected: str = "any"
    touched: frozenset[str] | None = None


def spoil_bytes(content: bytes, rng: random.Random) -> Mutation:
    """Flip, cut, double, insert or shuffle bytes anywhere."""
    data, size = bytearray(content), len(content)
    kind = rng.choice(("flip", "cut", "double", "insert", "drop", "zero", "swap", "empty", "noise"))
    at, length = rng.randrange(size), rng.randrange(1, 40)
    if kind == "flip":
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del data[at:]
    elif kind == "double":
        data[at:at] = data[at : at + length * 10]
    elif kind == "insert":
        data[at:at] = rng.randbytes(length)
    elif kind == "drop":
        del data[at : at + length]
    elif kind == "zero":
        data[at : at + length] = bytes(len(data[at : at + length]))
    elif kind == "swap":
        other = rng.randrange(size)
        data[at : at + 4], data[other : other + 4] = data[other : other + 4], data[at : at + 4]
    elif kind == "empty":
        data.clear()
    else:
        data[:] = rng.randbytes(rng.randrange(1, 400))
    return Mutation(f"bytes, {kind} at {at}, {length} long", bytes(data))


def spoil_table(content: bytes, between: str, rng: random.Random) -> Mutation:
    """Change a cell, a row or the heading of a text table whose first column is the id, or two ends."""
    table = [line.split(between) for line in content.decode().splitlines()]
    heading, body = table[0], table[1:]
    is_nodes = len(heading) > 2
    row = rng.randrange(len(body))
    column = rng.randrange(len(heading))
    name, expected = f"row {row + 1}, column {heading[column]}", "any"
    touched = frozenset((body[row][0],) if is_nodes else body[row])
    kind = rng.choice(_TABLE_KINDS)
    if kind == "cell":
        cell = rng.choice(ODD_CELLS)
        body[row] = [*body[row][:column], cell, *body[row][column + 1 :]]
        name += f" := {cell[:20]!r}"
        touched |= {cell, cell.strip()}
    elif kind == "quoted":
        body[row] = [f'"{cell}"' for cell in body[row]]
        expected = "same"
    elif kind == "all quoted":
        table = [[f'"{cell}"' for cell in line] for line in table]
        heading, body, expected = table[0], table[1:], "same"
    elif kind == "open quote":
        body[row] = [*body[row][:column], f'"{body[row][column]}', *body[row][column + 1 :]]
    elif kind == "short row":
        body[row] = body[row][:-1]
        expected = "tell"
    elif kind == "long row":
        body[row] = [*body[row], "1"]
        expected = "refuse"
    elif kind == "row twice":
        body.insert(rng.randrange(len(body)), list(body[row]))
        expected = "refuse" if is_nodes else "same"
    elif kind == "no row":
        del body[row]
    elif kind == "other order":
        order = list(range(len(heading)))
        rng.shuffle(order)
        table = [[line[i] for i in order] for line in table]
        heading, body, expected = table[0], table[1:], "same or refuse"
    elif kind == "rows shuffled":
        rng.shuffle(body)
        expected = "same"
    elif kind == "name twice":
        heading = [*heading[:-1], heading[-2]]
        expected = "any" if len({*table[0]}) < len(table[0]) else "refuse"
    elif kind == "new name":
        heading = [*heading[:column], rng.choice(ODD_CELLS), *heading[column + 1 :]]
        return Mutation(f"{kind} of {name}", _joined([heading, *body], between))
    elif kind == "windows":
        text = "\ufeff" * (between == ",") + "\r\n".join(between.join(line) for line in table) + "\r\n"
        return Mutation(kind, text.encode(), "same")
    elif kind == "no rows":
        body, expected = [], "refuse" if is_nodes else "any"
        touched = None
    return Mutation(f"{kind}, {name}", _joined([heading, *body], between), expected, touched)


_TABLE_KINDS = (
    *("cell",) * 12, "quoted", "all quoted", "open quote", "short row", "long row", "row twice", "no row",
    "other order", "rows shuffled", "name twice", "new name", "windows", "no rows",
)  # fmt: skip


def _joined(table: list[list[str]], between: str) -> bytes:
    return ("\n".join(between.join(line) for line in table) + "\n").encode()


def spoil_json(content: bytes, rng: random.Random, values: tuple[Any, ...] = ODD_VALUES) -> Mutation:
    """Replace, drop or deepen one value of a JSON text, or of one line of JSON lines."""
    lines = content.decode().splitlines()
    number = rng.randrange(len(lines)) if _is_lines(lines) else None
    tree = json.loads(content if number is None else lines[number])
    tree, where, how = spoil_tree(tree, rng, values)
    text = "[" * 100000 + "]" * 100000 if how == "deep" else json.dumps(tree)
    if number is not None:
        text = "\n".join([*lines[:number], text, *lines[number + 1 :]])
    return Mutation(f"JSON {where}: {how}", text.encode("utf-8", "surrogatepass"))


def spoil_tree(tree: Any, rng: random.Random, values: tuple[Any, ...] = ODD_VALUES) -> tuple[Any, str, str]:
    """Change one value of a tree of dicts and lists; return it, where, and how."""
    places = list(_places(tree))
    if not places or rng.random() < 0.02:
        value = rng.choice(values)
        return value, "all", f"{value!r}"[:40]
    holder, key, path = rng.choice(places)
    kind = rng.choice(("value", "value", "value", "drop", "deep", "type", "number"))
    if kind == "drop":
        del holder[key]
    elif kind == "type":
        holder[key] = str(holder[key]) if not isinstance(holder[key], str) else [holder[key]]
    elif kind == "number" and isinstance(holder[key], int | float):
        holder[key] = rng.choice((holder[key] + 1, -holder[key], holder[key] * 10**9, 0))
    elif kind != "deep":
        holder[key] = rng.choice(values)
        kind = f"{holder[key]!r}"[:40]
    return tree, path, kind


def _is_lines(lines: list[str]) -> bool:
    return len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines)


def _places(tree: Any, path: str = "") -> Any:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield tree, key, f"{path}/{key}"
        yield from _places(value, f"{path}/{key}")


Arrays = dict[str, Any]
Change = Callable[[Arrays, random.Random], Arrays]


def _at(name: str, value: Any) -> Change:
    def change(arrays: Arrays, rng: random.Random) -> Arrays:
        array = np.array(arrays[name])
        if array.size == 0:
            return arrays
        array = array.astype(np.result_type(array, np.asarray(value)))
        array.flat[rng.randrange(array.size)] = value
        return arrays | {name: array}

    return change


def _whole(name: str, make: Callable[[Any], Any]) -> Change:
    return lambda arrays, rng: arrays | {name: make(arrays[name])}


ARRAY_CHANGES: list[tuple[str, str, Change]] = [
    ("an end beyond the nodes", "refuse", _at("edge_index", 16)),
    ("an end below 0", "refuse", _at("edge_index", -1)),
    ("an end of 2^62", "refuse", _at("edge_index", 2**62)),
    ("ends as floats", "any", _whole("edge_index", lambda a: a.astype(float))),
    ("an end of 1.5", "refuse", _at("edge_index", 1.5)),
    ("ends transposed", "refuse", _whole("edge_index", np.transpose)),
    ("ends flat", "refuse", _whole("edge_index", np.ravel)),
    ("edges twice", "same", _whole("edge_index", lambda a: np.tile(a, 2))),
    ("edges backwards", "same", _whole("edge_index", lambda a: a[::-1, ::-1])),
    ("a label less", "refuse", _whole("y", lambda a: a[:-1])),
    ("a label more", "refuse", _whole("y", lambda a: np.append(a, 0))),
    ("labels of two columns", "refuse", _whole("y", lambda a: a[:, None])),
    ("a label of 1.5", "refuse", _at("y", 1.5)),
    ("a label beyond the classes", "refuse", _at("y", 7)),
    ("a label of -5", "refuse", _at("y", -5)),
    ("a label that is NaN", "refuse", _at("y", float("nan"))),
    ("labels as floats", "same or refuse", _whole("y", lambda a: a.astype(float))),
    ("labels as text", "any", _whole("y", lambda a: a.astype(str))),
    ("labels as bytes", "any", _whole("y", lambda a: a.astype("S4"))),
    ("labels as complex numbers", "refuse", _whole("y", lambda a: a.astype(complex))),
    ("labels as dates", "refuse", _whole("y", lambda a: a.astype("datetime64[s]"))),
    ("labels raw", "refuse", _whole("y", lambda a: a.view("V8"))),
    ("an id twice", "refuse", _whole("ids", lambda a: np.append(a[:-1], a[0]))),
    ("an id less", "refuse", _whole("ids", lambda a: a[:-1])),
    ("ids of two columns", "refuse", _whole("ids", lambda a: np.stack([a, a], 1))),
    ("ids as bytes", "any", _whole("ids", lambda a: a.astype("S8"))),
    ("a class twice", "refuse", _whole("classes", lambda a: np.append(a[:-1], a[0]))),
    ("a class less", "refuse", _whole("classes", lambda a: a[:-1])),
    ("a split of two parts", "refuse", _whole("train_masks", lambda a: np.ones_like(a))),
    ("a split less", "refuse", _whole("val_masks", lambda a: a[:0])),
    ("masks of other length", "refuse", _whole("test_masks", lambda a: a[:, :-1])),
    ("masks as numbers", "any", _whole("test_masks", lambda a: a.astype(float) * 2)),
    ("directed is a list", "any", _whole("directed", lambda a: np.array([0, 1]))),
    ("directed is text", "any", _whole("directed", lambda a: np.array("no"))),
    ("the name is a list", "any", _whole("name", lambda a: np.array(["a", "b"]))),
    ("the name has a newline", "any", _whole("name", lambda a: np.array("a\nb\x1b[1m"))),
    ("objects", "refuse", _whole("y", lambda a: a.astype(object))),
    ("an unknown array", "same", lambda arrays, rng: arrays | {"extra": np.arange(3)}),
    ("no edges", "any", _whole("edge_index", lambda a: a[:, :0])),
]  # fmt: skip
"""Changes of the arrays of an npz file: how, what must come of it, and the change."""

DENSE_CHANGES: list[tuple[str, str, Change]] = [
    ("a feature that is NaN", "refuse", _at("x", float("nan"))),
    ("a feature that is infinite", "refuse", _at("x", float("inf"))),
    ("a feature of 1e300", "refuse", _at("x", 1e300)),
    ("features of one column less a row", "refuse", _whole("x", lambda a: a[:-1])),
    ("features flat", "refuse", _whole("x", np.ravel)),
    ("features of three axes", "refuse", _whole("x", lambda a: a[None])),
    ("features as text", "any", _whole("x", lambda a: a.astype(str))),
    ("features as complex numbers", "refuse", _whole("x", lambda a: a.astype(complex) + 1j)),
    ("no features", "any", _whole("x", lambda a: a[:, :0])),
]

SPARSE_CHANGES: list[tuple[str, str, Change]] = [
    ("a column beyond the features", "refuse", _at("x_indices", 3)),
    ("a column below 0", "refuse", _at("x_indices", -1)),
    ("row ends that fall", "refuse", _whole("x_indptr", lambda a: a[::-1])),
    ("a row end too far", "refuse", _whole("x_indptr", lambda a: np.append(a[:-1], a[-1] + 5))),
    ("a shape of 10^9 columns", "any", _whole("x_shape", lambda a: np.array([16, 10**9]))),
    ("a shape of 10^12 rows", "refuse", _whole("x_shape", lambda a: np.array([10**12, 3]))),
    ("a shape below 0", "refuse", _whole("x_shape", lambda a: -a)),
    ("a shape of one number", "refuse", _whole("x_shape", lambda a: a[:1])),
    ("an entry that is NaN", "refuse", _at("x_data", float("nan"))),
    ("entries of other length", "refuse", _whole("x_data", lambda a: a[:-1])),
]


def spoil_arrays(arrays: Arrays, rng: random.Random) -> tuple[str, str, Arrays]:
    """Change the arrays of an npz file; return how, what must come of it, and the arrays."""
    if rng.random() < 0.15:
        name = rng.choice([name for name in arrays if name not in ("name", "ids", "classes")])
        return f"without {name}", "any", {key: value for key, value in arrays.items() if key != name}
    changes = ARRAY_CHANGES + (DENSE_CHANGES if "x" in arrays else SPARSE_CHANGES)
    how, expected, change = rng.choice(changes)
    return how, expected, change(arrays, rng)
