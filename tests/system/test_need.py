"""The need of a fit: its largest stage and part, and the sentence if there is not enough."""

import pytest

from otherhalf.errors import InputError, NotEnoughMemory
from otherhalf.system import need as module
from otherhalf.system.memory import Room
from otherhalf.system.need import Need, Part, Stage

SMALL = Stage("the search", (Part("the pairs", 300e6, "give a smaller k"),))
LARGE = Stage(
    "the training of GAT",
    (Part("the edges", 200e6, "take fewer edges"), Part("the hidden states", 2.3e9, "give a smaller hidden")),
)


def leave(monkeypatch, *free):
    """Let the limit leave so many bytes, one after the other."""
    rooms = iter(free)
    monkeypatch.setattr(module, "room", lambda: Room(next(rooms), "the machine"))


def test_stages_follow_each_other_and_their_parts_add_up():
    need = Need((SMALL, LARGE))
    assert need.size == LARGE.size == 2_500_000_000
    assert (need.largest, need.largest.largest.name) == (LARGE, "the hidden states")
    assert SMALL.beside(Part("the half", 5, "")).size == 300_000_005


def test_one_sentence_says_what_is_needed_what_is_free_by_which_limit_and_what_to_change(monkeypatch):
    leave(monkeypatch, 900e6, 900e6)
    with pytest.raises(NotEnoughMemory) as error:
        Need((SMALL, LARGE)).check()
    assert str(error.value) == (
        "the fit needs about 2.5 GB and 900 MB are free, by the machine; most, 2.3 GB, is for the hidden "
        "states in the training of GAT: give a smaller hidden"
    )
    assert isinstance(error.value, InputError)


def test_enough_is_enough(monkeypatch):
    leave(monkeypatch, 300_000_000, 300_000_000)
    Need((SMALL,)).check()
    leave(monkeypatch, 299_999_999, 299_999_999)
    with pytest.raises(NotEnoughMemory):
        Need((SMALL,)).check()


def test_what_this_process_has_freed_is_given_back_before_a_refusal(monkeypatch):
    leave(monkeypatch, 0, 300_000_000)
    given_back = []
    monkeypatch.setattr(module, "give_back_freed_memory", lambda: given_back.append(True))
    Need((SMALL,)).check()
    assert given_back
