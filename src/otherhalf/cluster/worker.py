"""What a worker of a cluster does: fetch the shared values of a call, keep the last of them, and call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from otherhalf.cluster.shared import Parts, Shared

KEPT = 3
"""Number of shared values that a worker keeps: the next call often has the same."""

_values: OrderedDict[Hashable, Any] = OrderedDict()


def call(function: Callable[..., Any], arguments: tuple[Any, ...], boxes: list[Any]) -> Any:
    """Return ``function(*arguments)``, with the values of shared arguments.

    Args:
        function: What is called.
        arguments: Its arguments; shared ones without their boxes.
        boxes: The boxes, in order.
    """
    left = iter(boxes)
    given = []
    for each in arguments:
        if isinstance(each, Shared):
            given.append(_fetch(each.key, next(left)))
        elif isinstance(each, Parts):
            given.append(_one_by_one([next(left) for _ in each.values]))
        else:
            given.append(each)
    return function(*given)


def _fetch(key: Hashable, box: list[Any]) -> Any:
    if key not in _values:
        import ray

        _values[key] = ray.get(box[0])
        while len(_values) > KEPT:
            _values.popitem(last=False)
    _values.move_to_end(key)
    return _values[key]


def _one_by_one(boxes: list[Any]) -> Iterator[Any]:
    import ray

    for box in boxes:
        yield ray.get(box[0])
