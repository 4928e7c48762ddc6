import sys
from types import SimpleNamespace

import pytest

from otherhalf.cluster import worker
from otherhalf.cluster.shared import Parts, Shared


@pytest.fixture
def fetched(monkeypatch):
    """What was fetched from the store, which here is the reference itself."""
    found = []
    store = SimpleNamespace(get=lambda reference: found.append(reference) or [reference])
    monkeypatch.setitem(sys.modules, "ray", store)
    monkeypatch.setattr(worker, "_values", type(worker._values)())
    return found


def test_shared_arguments_arrive_as_values_in_their_places(fetched):
    arguments = (1, Shared("a", []), 2, Shared("b", []))
    assert worker.call(lambda *all_: all_, arguments, [["A"], ["B"]]) == (1, ["A"], 2, ["B"])
    assert worker.call(lambda a: a, (Shared("a", []),), [["A"]]) == ["A"]
    assert fetched == ["A", "B"]


def test_only_the_last_values_are_kept(fetched):
    for name in "abcdad":
        worker.call(lambda value: value, (Shared(name, []),), [[name.upper()]])
    assert fetched == ["A", "B", "C", "D", "A"]
    assert list(worker._values) == ["c", "a", "d"]


def test_parts_arrive_one_at_a_time_and_are_not_kept(fetched):
    parts = Parts((Shared("a", []), Shared("b", [])))
    first = worker.call(lambda values, rest: (next(values), list(fetched), rest), (parts, 1), [["A"], ["B"]])
    assert first == (["A"], ["A"], 1)
    assert not worker._values
