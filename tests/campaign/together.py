"""Part of the campaign: two commands at the same time on one folder."""

import json
import random
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from tests.campaign.keeping import wood
from tests.campaign.kills import COMPARE, DATA, done_twice
from tests.campaign.outcome import Tally
from tests.campaign.processes import spoken, start
from tests.campaign.subjects import subjects

from otherhalf.estimators.goal import GOALClassifier


def fit_twice(tally: Tally, rounds: int, seed: int) -> None:
    """Fit into one folder from two processes; one whole fit is there in the end."""
    rng, graph = random.Random(f"{seed} together"), wood()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subjects()[0].write(folder)
        for number in range(rounds):
            shutil.rmtree(folder / "out", ignore_errors=True)
            words = ["fit", DATA, "--preset", "paper", "--out", "out", "--seed"]
            first = start([*words, "1"], folder)
            time.sleep(rng.uniform(0, 0.6))
            said = first.errors.rename(folder / "first.txt") if first.errors.exists() else None
            second = start([*words, "2"], folder)
            ends = [first.wait(), second.wait()]
            words_said = (said.read_text() if said else "") + second.said
            outcome, wrong = _judge(folder / "out", ends, words_said, graph)
            tally.add("two fits", outcome, f"round {number}: {wrong}")


def _judge(out: Path, ends: list[int | None], said: str, graph) -> tuple[str, str]:
    if None in ends:
        return "hang", "one of the two does not end"
    if "Traceback" in said or not set(ends) <= {0, 2} or 0 not in ends:
        return "traceback", f"status {ends}: {said[-1000:]}"
    if 2 in ends and len(spoken(said)) > 2:
        return "traceback", f"several lines: {said}"
    result = json.loads((out / "result.json").read_text())
    model = GOALClassifier.load(out)
    table = pd.read_csv(out / "predictions.csv")
    names = model.classes_[model.predict_proba(graph).argmax(axis=1)]
    if not np.array_equal(table["prediction"], names) or result["seed"] != model.seed:
        return "silent", "model, predictions and result are of different fits"
    return "kept", ""


def compare_twice(tally: Tally, rounds: int) -> None:
    """Compare on one store from two processes; every run is done once."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subjects()[0].write(folder)
        for number in range(rounds):
            shutil.rmtree(folder / "store", ignore_errors=True)
            both = [start(COMPARE, folder), start(COMPARE, folder)]
            ends = [running.wait(180) for running in both]
            left = [pid for running in both for pid in running.survivors()]
            outcome, wrong = "kept", ""
            if None in ends or left:
                outcome, wrong = "hang", f"status {ends}, processes left {left}"
            elif ends != [0, 0]:
                outcome, wrong = "traceback", f"status {ends}: {both[1].said[-800:]}"
            elif twice := done_twice(folder / "store"):
                outcome, wrong = "silent", f"{twice} runs were done twice"
            tally.add("two comparisons", outcome, f"round {number}: {wrong}")
