import json

import pytest

from otherhalf.experiments.paper.discrimination import Discrimination
from otherhalf.experiments.tasks import TASKS

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Discrimination()

MEASURED = {"ks": 0.4784, "ks_std": 0.0036, "threshold": 0.2, "tendency": "homophily", "edge_homophily": 0.81}
DRAWN = {"bin_edges": [0.0, 0.5, 1.0], "connected": [0.8, 1.2], "random": [1.6, 0.4]}


def test_one_run_for_each_data_set_without_a_split():
    jobs = ABOUT.jobs(ABOUT.request())
    assert [(job.task, job.model, job.split, job.seed) for job in jobs] == [("diagnose", "", "", 0)] * 8
    assert jobs[0].options == {"draws": 10, "threshold": 0.2}
    assert all(job.task in TASKS for job in jobs)


def test_the_table_has_both_verdicts(records):
    request = ABOUT.request(["cora", "chameleon", "actor"])
    cora, chameleon, _ = ABOUT.jobs(request)
    records.put(cora, **MEASURED, **DRAWN)
    records.put(chameleon, **{**MEASURED, "ks": 0.3, "edge_homophily": None}, **DRAWN)
    rows = ABOUT.table(request, records).rows
    assert rows[0] == ["cora", "0.478", "0.004", "homophily", "homophily", "0.810"]
    assert rows[1][3:] == ["homophily", "heterophily", "–"]
    assert rows[2] == ["actor", "–", "–", "–", "heterophily", "–"]
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    assert values["datasets"]["cora"] == {"paper": "homophily", "found": [MEASURED]}


def test_the_figure_has_d_in_its_titles(records, tmp_path):
    request = ABOUT.request(["cora", "amazon_computers"])
    assert ABOUT.figures(request, records, tmp_path) == []
    for job in ABOUT.jobs(request):
        records.put(job, **MEASURED, **DRAWN)
    drawn = ABOUT.figures(request, records, tmp_path)
    assert [path.name for path in drawn] == ["cosine.png", "cosine.svg"]
    text = drawn[1].read_text()
    assert "cora (D = 0.478)" in text
    assert "computers (D = 0.478)" in text
