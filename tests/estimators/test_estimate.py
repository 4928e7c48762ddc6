"""Time and memory before a fit: words, what they depend on, and how they compare with measured fits."""

import json
from pathlib import Path

import numpy as np
import pytest

from otherhalf import GOALClassifier, Split, load, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.estimate import DIVIDED, Estimate, in_words
from otherhalf.estimators.whole_graph import FEW_FOLDS, LARGE, MANY_VAL

GRAPH = contextual_sbm(num_nodes=300, num_classes=3, num_features=6, seed=0)
SPLIT = split(GRAPH)
RECORDS = Path(__file__).parents[2] / "results" / "runs" / "fit"


def seconds(graph=GRAPH, parts=SPLIT, **options):
    return GOALClassifier(**options).estimate(graph, parts).seconds


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (0.2, "1 second"),
        (7.4, "7 seconds"),
        (42, "40 seconds"),
        (89, "90 seconds"),
        (90, "2 minutes"),
        (250, "4 minutes"),
        (5399, "90 minutes"),
        (5400, "2 hours"),
        (7200 * 12, "24 hours"),
    ],
)
def test_words(duration, words):
    assert in_words(duration) == words


def test_text():
    estimate = Estimate(240.0, 720.0, 1_210_000_000, 17_000, 400_000)
    assert str(estimate) == (
        "About 4 minutes (at worst 12 minutes) and 1.2 GB on one core (17,000 nodes, 400,000 edges)"
    )
    small = Estimate(3.0, 3.1, 700_000_000, 100, 200)
    assert str(small) == "About 3 seconds and 700 MB on one core (100 nodes, 200 edges)"
    assert small.to_dict()["memory"] == 700_000_000
    large = Estimate(240.0, 240.0, 3_000_000_000, 1_000_000, 9_000_000, 984_000_000, threads=2)
    assert str(large) == (
        "About 4 minutes, 3.0 GB of memory and 984 MB of disk with 2 threads "
        "(1,000,000 nodes, 9,000,000 edges)"
    )


def test_processes_take_less_time_and_more_memory():
    alone = Estimate(60.0, 300.0, 1_000_000_000, 100, 200)
    two, four = (alone.shared_by(count, count * 250_000_000) for count in (2, 4))
    assert (
        str(two) == "About 40 seconds (at worst 3 minutes) and 1.5 GB in 2 processes (100 nodes, 200 edges)"
    )
    assert four.memory == 2_000_000_000
    assert alone.seconds / 4 < four.seconds < two.seconds < alone.seconds
    assert Estimate(None, None, 1, 1, 1).shared_by(2, 1).seconds is None


def test_threads_shorten_what_they_divide(monkeypatch):
    rows = {"training": "rows"}
    monkeypatch.setattr("torch.get_num_threads", lambda: 1)
    alone, small = (GOALClassifier(ensemble=each).estimate(GRAPH, SPLIT) for each in (rows, {}))
    monkeypatch.setattr("torch.get_num_threads", lambda: 4)
    shared = GOALClassifier(ensemble=rows).estimate(GRAPH, SPLIT)
    assert (alone.threads, shared.threads) == (1, 4)
    assert shared.seconds / alone.seconds == pytest.approx(1 - DIVIDED + DIVIDED / 4)
    assert GOALClassifier().estimate(GRAPH, SPLIT) == small


@pytest.mark.parametrize(
    ("duration", "short", "long"),
    [(29.0, True, False), (31.0, False, False), (599.0, False, False), (601.0, False, True)],
)
def test_short_and_long(duration, short, long):
    estimate = Estimate(duration, duration, 0, 1, 1)
    assert (estimate.is_short, estimate.is_long) == (short, long)


def test_the_embedding_has_a_memory_but_no_duration():
    estimate = GOALClassifier(method="embedding").estimate(GRAPH, SPLIT)
    assert estimate.seconds is estimate.most_seconds is None
    assert (estimate.is_short, estimate.is_long) == (True, False)
    assert str(estimate).startswith("An unknown time and ")
    assert estimate.memory > 400e6


def test_the_default_split_is_that_of_the_fit():
    assert GOALClassifier().estimate(GRAPH) == GOALClassifier().estimate(GRAPH, SPLIT)


def test_what_is_left_out_takes_no_time():
    whole = seconds()
    for left_out in ({"half": "none"}, {"plain": 0}, {"trees": False}, {"classifier": False}, {"folds": 1}):
        assert seconds(ensemble=left_out) < whole
    assert seconds(fast=True) < whole / 3
    assert seconds(epochs=10) < whole
    assert seconds(refit=True) > whole
    nothing = {"half": "none", "plain": 0, "trees": False, "classifier": False}
    assert seconds(ensemble=nothing) == 0


def test_more_of_everything_takes_longer():
    def of(**options):
        graph = contextual_sbm(**{"num_nodes": 300, "num_classes": 3, "num_features": 6, "seed": 0} | options)
        return seconds(graph, split(graph))

    assert of(num_nodes=600) > of()
    assert of(num_features=60) > of()
    assert of(num_classes=5) > of()
    assert of(average_degree=30) > of()


def test_a_large_graph_is_trained_on_once():
    nodes = LARGE + 1
    graph = contextual_sbm(num_nodes=nodes, num_classes=2, num_features=2, seed=0)
    many = Split(np.arange(5000), np.arange(5000, 5000 + MANY_VAL), [])
    few = Split(np.arange(5000), np.arange(5000, 5000 + MANY_VAL - 1), [])
    alone = {"half": "none", "trees": False, "plain": 0}  # nothing but the classifier over both halves
    once, often = (seconds(graph, parts, ensemble=alone) for parts in (many, few))
    assert often == pytest.approx(FEW_FOLDS * once)


def test_measured_fits(data_dir):
    """What estimate_fit promises, on the records of fits that its coefficients were taken from."""
    ratios, worst = {}, {}
    for file in sorted(RECORDS.glob("*/goal.jsonl")):
        name, records = file.parent.name, [json.loads(line) for line in file.read_text().splitlines()]
        wanted = [each for each in records if each["job"]["options"]["params"] == {"method": "kernel"}]
        if not wanted or wanted[0]["job"]["split"] not in ("uniform", "fixed"):
            continue
        graph = load(name)
        estimate = GOALClassifier().estimate(graph, split(graph, wanted[0]["job"]["split"]))
        # Other work slows a fit, up to ten times; it disturbed the quickest least.
        quickest = min(each["result"]["stages"]["total"] for each in wanted)
        ratios[name], worst[name] = estimate.seconds / quickest, estimate.most_seconds / quickest
    factors = np.maximum(list(ratios.values()), 1 / np.array(list(ratios.values())))
    assert len(factors) >= 15
    assert np.mean(factors <= 2.6) >= 0.8, ratios
    assert factors.max() <= 4.5, ratios
    assert min(worst.values()) > 1, worst
