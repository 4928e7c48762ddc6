"""Make dataclasses from what a file holds, and refuse values of another type than they declare."""

import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")


def typed(kind: type[T], values: Any) -> T:
    """Return ``kind(**values)``.

    Raise TypeError if a field is missing, unknown or of another type than declared. Lists count as tuples,
    because JSON knows no tuples, and an integer counts as a float.
    """
    made = kind(**values)
    for name, hint in _hints(kind).items():  # type: ignore[arg-type]  # a class is hashable
        if hasattr(made, name) and not matches(getattr(made, name), hint):
            raise TypeError(f"its {name} is {_shown(getattr(made, name))}")
    return made


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def matches(value: Any, hint: Any) -> bool:
    """Return whether a value has the declared type, also inside lists, tuples and dictionaries."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any or origin is type:
        return True
    if hint is float:
        return isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if origin in (Union, types.UnionType):
        return any(matches(value, each) for each in arguments)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray)
    if origin in (list, tuple, Sequence):
        return isinstance(value, list | tuple) and _all_match(value, arguments)
    if origin in (dict, Mapping):
        names, each = arguments
        return isinstance(value, Mapping) and all(
            matches(k, names) and matches(v, each) for k, v in value.items()
        )
    return isinstance(value, hint)


def _all_match(values: Sequence[Any], arguments: tuple[Any, ...]) -> bool:
    if len(arguments) == 1 or arguments[1:] == (Ellipsis,):
        return all(matches(value, arguments[0]) for value in values)
    return len(values) == len(arguments) and all(map(matches, values, arguments))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
