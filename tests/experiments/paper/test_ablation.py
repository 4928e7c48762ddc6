import json

import pytest

from otherhalf.experiments.paper.ablation import Ablation
from otherhalf.experiments.paper.published import ABLATION, DATASETS
from otherhalf.experiments.paper.tasks import variants
from otherhalf.experiments.tasks import TASKS

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Ablation()


def made_up(test):
    return {row: {"val": 0.5, "test": test + index / 100} for index, row in enumerate(ABLATION)}


def test_every_split_of_every_data_set_is_one_run():
    jobs = ABOUT.jobs(ABOUT.request())
    assert len({job.key for job in jobs}) == 40
    assert {job.data for job in jobs} == set(DATASETS)
    assert {(job.task, job.model, job.split) for job in jobs} == {("ablation", "goal", "uniform")}
    assert {job.seed for job in jobs} == set(range(5))
    assert jobs[0].options["params"] == {"preset": "paper"}
    assert jobs[0].task in TASKS


def test_the_variants_are_the_rows_of_the_paper():
    assert set(variants((1, 1, 1, 1))) == set(ABLATION)


def test_a_cell_has_our_mean_the_papers_number_and_the_gap(records):
    request = ABOUT.request(["cora", "chameleon"], runs=2)
    for job, test in zip(ABOUT.jobs(request), [0.80, 0.84, 0.70], strict=False):
        records.put(job, variants=made_up(test))
    table = ABOUT.table(request, records)
    assert table.columns == ["", "cora", "chameleon"]
    assert [row[0] for row in table.rows] == list(ABLATION)
    # 0.82 ± 0.0283 in the first row, against 88.47; chameleon lacks one of its two runs.
    assert table.rows[0][1:] == ["82.00 ± 2.83\n88.47 (-6.47)", "–\n71.65"]
    assert table.rows[-1][1] == "**89.00 ± 2.83**\n88.75 (+0.25)"  # the largest of the column
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    assert values["datasets"]["cora"]["beta = 0"]["mean"] == pytest.approx(0.83)
    assert values["datasets"]["cora"]["beta = 0"]["gap"] == pytest.approx(83 - 87.63)
    assert values["datasets"]["cora"]["beta = 0"]["coefficients"] == [
        {"alpha": 0.5, "beta": 0.0, "gamma": 0.1, "delta": 0.1}
    ]
    assert [each["beta"] for each in values["datasets"]["cora"]["only beta"]["coefficients"]] == [1.0, 5.0]
    assert values["datasets"]["chameleon"]["GOAL"]["mean"] is None


def test_the_notes_name_absent_terms(records):
    notes = ABOUT.table(ABOUT.request(), records).notes
    assert "no gamma on computers, no alpha and delta on chameleon" in notes[2]
    assert "A term alone is trained with the strengths 1 and 5" in notes[1]
    only_cora = ABOUT.table(ABOUT.request(["cora"]), records).notes
    assert len(only_cora) == 2  # Cora has all four
