import json

import pytest

from otherhalf.experiments.paper.eigenvalues import Eigenvalues
from otherhalf.experiments.paper.topology import Topology
from otherhalf.experiments.tasks import TASKS

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Topology()


def topology(found, kind="homophily", **changes):
    measured = {"found": found, "found_test": found - 0.1, "knn": 0.4, "random": 0.2, "given": 0.23}
    return {"kind": kind, "edges": 9, "k": 1, **measured, **changes}


def test_the_runs_are_planned_once_for_both_experiments():
    jobs = ABOUT.jobs(ABOUT.request())
    assert len({job.key for job in jobs}) == 80
    assert all(job.task in TASKS for job in jobs)
    both = Eigenvalues()
    assert {job.key for job in both.jobs(both.request())} < {job.key for job in jobs}


def test_means_and_the_one_number_of_the_paper(records):
    request = ABOUT.request(["cora", "chameleon"], runs=2)
    first, second, *chameleon = ABOUT.jobs(request)
    records.put(first, topology=topology(0.01, "heterophily"))
    for job, found in zip(chameleon, [0.70, 0.74], strict=True):
        records.put(job, topology=topology(found))
    table = ABOUT.table(request, records)
    dash = "–"
    assert table.rows[0] == ["cora", *[dash] * 6]  # one of two runs is no mean over two
    assert table.rows[1][:4] == ["chameleon", "homophily", "0.720 ± 0.028", "0.620 ± 0.028\n0.67 (-0.05)"]
    assert table.rows[1][4:] == ["0.400 ± 0.000", "0.200 ± 0.000", "0.230 ± 0.000"]
    records.put(second, topology=topology(0.03, "heterophily", found_test=None))
    row = ABOUT.table(request, records).rows[0]
    assert row[1:4] == ["heterophily", "0.020 ± 0.014", dash]  # undefined in one run
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    assert values["datasets"]["chameleon"]["found_test"]["gap"] == pytest.approx(-0.05)
    assert values["datasets"]["cora"]["found_test"]["mean"] is None


def test_the_figure_is_drawn_of_what_there_is(records, tmp_path):
    request = ABOUT.request(["cora", "amazon_photo"], runs=1)
    assert ABOUT.figures(request, records, tmp_path) == []
    records.put(ABOUT.jobs(request)[1], topology=topology(0.0))
    drawn = ABOUT.figures(request, records, tmp_path)
    assert [path.name for path in drawn] == ["homophily.png", "homophily.svg"]
    text = drawn[1].read_text()
    assert "photo" in text
    assert "cora" not in text
