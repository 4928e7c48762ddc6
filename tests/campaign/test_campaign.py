"""A short part of the campaign, and that each of its judges can find a fault."""

import random
import time
from dataclasses import replace

import pytest
from tests.campaign import outcome as outcomes
from tests.campaign.__main__ import spoil_inputs
from tests.campaign.failing import fail_every_call
from tests.campaign.keeping import wood
from tests.campaign.kills import kill_fits
from tests.campaign.mutations import Mutation, spoil_table
from tests.campaign.options import call
from tests.campaign.outcome import Tally, attempt
from tests.campaign.reading import judge
from tests.campaign.subjects import Facts
from tests.campaign.together import fit_twice

from otherhalf.errors import InputError


def refuse(message):
    raise InputError(message)


def faults(tally):
    return "\n".join(tally.faults)


def test_a_few_spoilt_inputs():
    tally = Tally()
    spoil_inputs(tally, 300, seed=1)
    assert faults(tally) == ""
    assert sum(counts.total() for counts in tally.counts.values()) >= 300


def test_a_few_kills():
    tally = Tally()
    kill_fits(tally, 4, seed=1)
    assert faults(tally) == ""


def test_two_fits_at_once():
    tally = Tally()
    fit_twice(tally, 1, seed=1)
    assert faults(tally) == ""


def test_failing_calls_of_predict():
    tally = Tally()
    fail_every_call(tally, ["predict"])
    assert faults(tally) == ""
    assert len(tally.counts) >= 5


# ---------------------------------------------------------------------- the judges


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (lambda: 1, "accepted"),
        (lambda: refuse("it is wrong: correct it"), "refused"),
        (lambda: refuse(" "), "traceback"),
        (lambda: [][0], "traceback"),
        (lambda: time.sleep(5), "hang"),
    ],
)
def test_outcomes(monkeypatch, action, expected):
    monkeypatch.setattr(outcomes, "SECONDS", 0.2)
    assert attempt(action)[0] == expected


def test_what_should_not_be_accepted_is_silent():
    assert attempt(lambda: 1, lambda found: "it is odd" if found == 1 else None) == ("silent", "it is odd")


def test_the_tally_counts_and_keeps_faults():
    tally = Tally()
    tally.add("files", "refused")
    tally.add("files", "silent", "input 3")
    assert tally.faults == ["files: silent: input 3"]
    assert tally.table().splitlines()[1].split() == ["files", "2", "0", "1", "0", "0", "0", "1", "0"]


def test_a_moved_label_a_lost_edge_and_a_note_that_is_missing_are_found():
    graph = wood()
    facts = Facts.of(graph)
    harmless = Mutation("nothing", b"", "same", frozenset())
    assert judge(graph, facts, harmless, set()) is None
    assert "although it is wrong" in judge(graph, facts, replace(harmless, expected="refuse"), set())
    assert "without a word" in judge(graph, facts, replace(harmless, expected="tell"), set())
    assert judge(graph, facts, replace(harmless, expected="tell"), {"a note"}) is None
    a, b = list(facts.labels)[:2]  # of different classes
    swapped = Facts(facts.labels | {a: facts.labels[b], b: facts.labels[a]}, facts.edges)
    assert "has the class" in judge(graph, swapped, replace(harmless, expected="any"), set())
    pair = next(iter(facts.edges))
    fewer = Facts(facts.labels, facts.edges - {pair})
    assert "edges moved" in judge(graph, fewer, replace(harmless, expected="any"), set())
    touched = replace(harmless, expected="any", touched=frozenset(pair))
    assert judge(graph, fewer, touched, set()) is None


def test_the_program_is_called_as_from_a_shell():
    assert call(["diagnose", "no.such.file.npz"])[0] == "refused"
    assert call(["datasets"])[0] == "accepted"


def test_the_same_seed_spoils_the_same_way():
    content = b"id,label,x\n1,a,2\n2,b,3\n"
    first, second = (spoil_table(content, ",", random.Random(4)) for _ in range(2))
    assert first == second
