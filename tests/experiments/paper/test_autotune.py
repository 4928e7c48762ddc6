import json

import pytest

from otherhalf.estimators.presets import PAPER
from otherhalf.experiments.paper.autotune import Autotune
from otherhalf.experiments.paper.published import AUTOTUNE

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Autotune()


def layers(*firsts):
    return [{"alpha": first, "beta": 2.0, "gamma": 0.5, "delta": 0.25} for first in firsts]


def test_the_coefficients_are_learned_and_start_at_1():
    jobs = ABOUT.jobs(ABOUT.request())
    assert len({job.key for job in jobs}) == 25
    assert {job.data for job in jobs} == set(AUTOTUNE)
    for job in jobs:
        assert job.task == "autotune"
        assert job.options["start"] == [1, 1, 1, 1]
        assert job.options["settings"]["goal"]["coefficients"] == list(PAPER[job.data].coefficients)
        assert job.options["settings"]["complement"]["k_heterophily"] == PAPER[job.data].k


def test_the_table_has_goal_at_beside_goal_and_what_it_learned(records):
    request = ABOUT.request(["actor", "pubmed"], runs=2)
    for job, test, first in zip(ABOUT.jobs(request), [0.35, 0.37], [1.0, 2.0], strict=False):
        records.put(job, learned={"test": test}, fixed={"test": 0.365}, coefficients=layers(first, 3.0))
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
