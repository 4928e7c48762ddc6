import json

import pytest

from otherhalf.experiments.autotune import Autotune
from otherhalf.experiments.published import AUTOTUNE
from otherhalf.experiments.table1 import Table1
from otherhalf.presets import PAPER

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Autotune()


def layers(*firsts):
    return [{"alpha": first, "beta": 2.0, "gamma": 0.5, "delta": 0.25} for first in firsts]


def test_the_coefficients_are_learned_and_start_at_1():
    jobs = ABOUT.jobs(ABOUT.request())
    assert len({job.key for job in jobs}) == 50
    assert {job.data for job in jobs} == set(AUTOTUNE)
    for job in jobs:
        goal = job.options["settings"]["goal"]
        assert goal["learn_coefficients"]
        assert goal["coefficients"] == [1, 1, 1, 1]
        assert job.options["settings"]["complement"]["k_heterophily"] == PAPER[job.data].k


def test_the_table_has_goal_at_beside_goal_and_what_it_learned(records):
    request = ABOUT.request(["actor", "pubmed"], runs=2)
    for job, test, first in zip(ABOUT.jobs(request), [0.35, 0.37], [1.0, 2.0], strict=False):
        records.put(job, test=test, val=0.4, coefficients=layers(first, 3.0))
    table1 = Table1()
    for job in table1.comparisons(table1.request(["actor"], ["goal"], 2))[0].jobs():
        records.put(job, test=0.365, val=0.4, nodes={"train": 6, "val": 2, "test": 2})
    table = ABOUT.table(request, records)
    learned = "1.50, 2.00, 0.50, 0.25\n3.00, 2.00, 0.50, 0.25"
    assert table.rows[0] == [
        "actor", "36.00 ± 1.41", "35.52", "+0.48", "36.50 ± 0.00", "36.46", learned,
    ]  # fmt: skip
    assert table.rows[1] == ["pubmed", "–", "88.37", "–", "–", "89.25", "–"]
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    actor = values["datasets"]["actor"]
    assert actor["goal_at"]["gap"] == pytest.approx(0.48)
    assert actor["goal"]["mean"] == pytest.approx(0.365)
    assert actor["coefficients"][0]["alpha"] == 1.5
    assert values["datasets"]["pubmed"]["coefficients"] == []
