"""Settings as dataclasses whose fields declare their allowed values and their names in files.

Each package declares its settings with :func:`setting`. :func:`check` checks a tree of them, :func:`to_dict`
and :func:`from_dict` write and read it. A field that is renamed in Python keeps its name in files.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, TypeVar, get_type_hints

import numpy as np

from otherhalf.errors import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class Rule:
    """Allowed values of a setting: a test, and the words after "must be" in the message."""

    allows: Callable[[Any], bool]
    words: str

    def check(self, name: str, value: Any) -> None:
        """Raise InputError if ``value`` is not allowed; the message calls the setting ``name``."""
        if not self.allows(value):
            raise InputError(f"{name} must be {self.words}, not {value!r}")


def integer(least: int = 1, most: int | None = None) -> Rule:
    """Allow integers from ``least`` to ``most``."""
    words = f"an integer ≥ {least}" + ("" if most is None else f" and ≤ {most}")
    return Rule(lambda v: _is(v, Integral) and v >= least and (most is None or v <= most), words)


def number(least: float, most: float = float("inf"), *, above: bool = False, below: bool = False) -> Rule:
    """Allow finite numbers from ``least`` to ``most``; ``above`` and ``below`` exclude the ends."""

    def allows(value: Any) -> bool:
        if not _is(value, Real) or not np.isfinite(value):
            return False
        low, high = value > least if above else value >= least, value < most if below else value <= most
        return bool(low and high)

    low = f"a number {'>' if above else '≥'} {least:g}"
    high = "" if most == float("inf") else f" and {'<' if below else '≤'} {most:g}"
    return Rule(allows, low + high)


def one_of(*names: str) -> Rule:
    """Allow these names."""
    return Rule(lambda v: isinstance(v, str) and v in names, f"one of {', '.join(names)}")


def flag() -> Rule:
    """Allow True and False."""
    return Rule(lambda v: isinstance(v, bool | np.bool_), "True or False")


def numbers(count: int, least: float, most: float) -> Rule:
    """Allow a sequence of ``count`` numbers from ``least`` to ``most``."""
    each = number(least, most)

    def allows(value: Any) -> bool:
        return isinstance(value, tuple | list) and len(value) == count and all(map(each.allows, value))

    return Rule(allows, f"{count} numbers from {least:g} to {most:g}")


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def setting(
    default: Any = MISSING,
    rule: Rule | None = None,
    *,
    name: str | None = None,
    label: str = "",
    factory: Any = MISSING,
    merged: bool = False,
    late: bool = False,
) -> Any:
    """Declare a field of a settings dataclass.

    Args:
        default: Its default.
        rule: Its allowed values; None for nested settings and values that are checked elsewhere.
        name: Its name in files; default: its name in Python.
        label: Its name in messages; for nested settings: a prefix of their names in messages.
        factory: Makes the default of nested settings.
        merged: For a dictionary: in files, its entries are at the level of the other fields.
        late: Whether it came after records were written: it is left out of files where it has its default, so
            that the keys of those records stay the same.
    """
    metadata = {"rule": rule, "name": name, "label": label, "merged": merged, "late": late}
    return field(default=default, default_factory=factory, metadata=metadata)


def check(settings: Any, label: str = "") -> None:
    """Raise InputError if a value of these settings is not allowed; ``label`` is a prefix of its name."""
    for item in fields(settings):
        value, rule = getattr(settings, item.name), item.metadata.get("rule")
        if is_dataclass(value):
            check(value, item.metadata.get("label") or label)
        elif rule is not None:
            rule.check(f"{label}{item.metadata.get('label') or item.name}", value)


def to_dict(settings: Any) -> dict[str, Any]:
    """Return nested dictionaries with the names that files use."""
    values: dict[str, Any] = {}
    for item in fields(settings):
        value = getattr(settings, item.name)
        if item.metadata.get("late") and value == _default(item):
            continue
        if item.metadata.get("merged"):
            values |= value
            continue
        if is_dataclass(value):
            value = to_dict(value)
        values[item.metadata.get("name") or item.name] = dict(value) if isinstance(value, Mapping) else value
    return values


def _default(item: Field[Any]) -> Any:
    return item.default_factory() if item.default_factory is not MISSING else item.default


def from_dict(kind: type[T], values: Mapping[str, Any]) -> T:
    """Return the settings of which :func:`to_dict` gave ``values``; missing fields have their defaults."""
    hints = get_type_hints(kind)
    left, built = dict(values), {}
    merged = None
    for item in fields(kind):  # type: ignore[arg-type]  # T is one of the settings
        name = item.metadata.get("name") or item.name
        if item.metadata.get("merged"):
            merged = item.name
        elif name in left:
            value, hint = left.pop(name), hints[item.name]
            if is_dataclass(hint):
                value = from_dict(hint, value)  # type: ignore[arg-type]
            built[item.name] = tuple(value) if isinstance(value, list) else value
    if merged is not None:
        built[merged] = {name: value for name, value in left.items() if value is not None}
    return kind(**built)


def json_number(value: Any) -> Any:
    """Convert a numpy number for ``json.dumps(default=…)``."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written to JSON")
