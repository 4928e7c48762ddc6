"""Small graphs of every kind, for converters there and back again."""

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from otherhalf import testing
from otherhalf.errors import InputError
from otherhalf.graph import Split


def refusal(function, *arguments, **options):
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@st.composite
def graphs(draw):
    """Small graphs of every kind, with none to two fixed splits."""
    graph = draw(testing.graphs(nodes=(2, 6), classes=(0, 4)))
    parts = [[i for i in graph.labelled if i % 3 == part] for part in range(3)]
    count = draw(st.integers(0, 2)) if len(graph.labelled) else 0
    return replace(graph, fixed_splits=[Split(*parts, kind="fixed", seed=i) for i in range(count)])
