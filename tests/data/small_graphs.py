"""Small graphs of every kind, for converters there and back again."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split


def refusal(function, *arguments, **options):
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@st.composite
def graphs(draw):
    """Small graphs of every kind: directed or not, dense or sparse, with gaps, names and splits."""
    n = draw(st.integers(2, 6))
    node = st.integers(0, n - 1)
    pairs = [(0, 1), *draw(st.lists(st.tuples(node, node), max_size=10))]
    x = np.array(draw(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=n, max_size=n)))
    y = draw(st.one_of(st.none(), st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    labelled = [] if y is None else [i for i, code in enumerate(y) if code >= 0]
    parts = [[i for i in labelled if i % 3 == part] for part in range(3)]
    weight = st.sampled_from([0.25, 1.0, 3.0])  # whose sums are exact
    weights = draw(st.one_of(st.none(), st.lists(weight, min_size=len(pairs), max_size=len(pairs))))
    kind = st.sampled_from(["cites", "likes", None])
    relations = draw(st.one_of(st.none(), st.lists(kind, min_size=len(pairs), max_size=len(pairs))))
    return Graph(
        edges=np.array(pairs).T,
        relations=relations,
        weights=weights,
        x=sp.csr_matrix(x) if draw(st.booleans()) else x,
        y=y,
        classes=draw(st.sampled_from([None, ["a", "b", "c", "d"]])),
        directed=draw(st.booleans()),
        ids=draw(st.sampled_from([None, [f"node {i}" for i in range(n)], list(range(7, 7 + n))])),
        fixed_splits=[Split(*parts, kind="fixed", seed=i) for i in range(draw(st.integers(0, 2)))],
    )
