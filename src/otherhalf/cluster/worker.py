"""What a worker of a cluster does: fetch the shared values of a call, keep the last of them, and call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from otherhalf.cluster.shared import Shared

KEPT = 3
"""Number of shared values that a worker keeps: the next call often has the same."""

_values: OrderedDict[Hashable, Any] = OrderedDict()


def call(function: Callable[..., Any], arguments: tuple[Any, ...], boxes: list[Any]) -> Any:
    """Return ``function(*arguments)``, with the values of shared arguments.

    Args:
        function: What is called.
        arguments: Its arguments; of a shared value, its key.
        boxes: Ray's references of the shared ones, in order.
    """
    references = iter(boxes)
    return function(
        *(_fetch(each.key, next(references)) if isinstance(each, Shared) else each for each in arguments)
    )


def _fetch(key: Hashable, box: list[Any]) -> Any:
    if key not in _values:
        import ray

        _values[key] = ray.get(box[0])
        while len(_values) > KEPT:
            _values.popitem(last=False)
    _values.move_to_end(key)
    return _values[key]
