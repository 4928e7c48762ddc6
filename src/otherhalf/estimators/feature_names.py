"""The features of a graph by their names: in the order of the fit, none missing, none new."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from otherhalf.data.notes import listing
from otherhalf.errors import InputError
from otherhalf.graph import Graph

_SHOWN = 5


def in_order_of(fitted: Sequence[str] | None, graph: Graph) -> Graph:
    """Return the graph with its features in the order of the fit, by their names.

    Raise InputError if a feature is missing or new. Where one of the two has no names, the features are taken
    in their order, and a warning says so.

    Args:
        fitted: The names of the features of the fit; None if they had none.
        graph: The graph to predict.
    """
    given = graph.feature_names
    if given == (None if fitted is None else tuple(fitted)):
        return graph
    if fitted is None or given is None:
        without, names = ("model's fit", given) if fitted is None else ("graph", fitted)
        warnings.warn(
            f"the features of the {without} have no names, so the columns are taken in their order: "
            f"{listing(names or (), _SHOWN)}",
            UserWarning,
            stacklevel=4,
        )
        return graph
    places = {name: place for place, name in enumerate(given)}
    known = set(fitted)
    missing, new = (
        [name for name in fitted if name not in places],
        [name for name in given if name not in known],
    )
    if missing or new:
        lacks = f"lacks the features {listing(map(repr, missing), _SHOWN)}"
        has = f"has the features {listing(map(repr, new), _SHOWN)}, which the model was not fitted with"
        what = f"{lacks} and {has}" if missing and new else lacks if missing else has
        raise InputError(f"the graph {what}: give the features of the fit, {listing(fitted, _SHOWN)}")
    order = np.array([places[name] for name in fitted], dtype=np.int64)
    return replace(graph, x=graph.x[:, order], feature_names=tuple(fitted), reading=None)
