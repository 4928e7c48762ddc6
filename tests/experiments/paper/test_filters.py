import json

import pytest

from otherhalf.experiments.paper.filters import MODELS, RATIOS, Filters
from otherhalf.experiments.tasks import TASKS
from otherhalf.nn.models.linear_filter import FILTERS
from otherhalf.report.charts import FILTER_CURVES

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Filters()


def test_every_ratio_filter_and_seed_is_planned():
    assert set(MODELS) == set(FILTERS) == set(FILTER_CURVES)
    jobs = ABOUT.jobs(ABOUT.request())
    assert len({job.key for job in jobs}) == 11 * 4 * 5
    assert {job.options["homophily"] for job in jobs} == {i / 10 for i in range(11)}
    assert {(job.model, job.options["filter"]) for job in jobs} == {(m, k) for k, m in MODELS.items()}
    assert all(job.task in TASKS for job in jobs)
    assert jobs[0].options["shape"]["layers"] == 2


def test_means_by_ratio_and_filter(records):
    request = ABOUT.request(runs=2)
    for job in ABOUT.jobs(request):
        if job.options["filter"] in ("low", "high") and job.options["homophily"] == 0.3:
            better = 0.1 if job.options["filter"] == "high" else 0.0
            records.put(job, test=0.5 + better + 0.02 * job.seed, val=0.5, epochs=9)
    rows = ABOUT.table(request, records).rows
    assert [row[0] for row in rows] == [f"{ratio:.1f}" for ratio in RATIOS]
    assert rows[3] == ["0.3", "51.00 ± 1.41", "**61.00 ± 1.41**", "–", "–"]
    assert rows[4][1:] == ["–"] * 4
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    points = {(p["filter"], p["homophily"]): p["mean"] for p in values["datasets"]["cora"]}
    assert points["low", 0.3] == pytest.approx(0.51)
    assert points["low as printed", 0.3] is None


def test_the_figure_is_drawn_of_what_there_is(records, tmp_path):
    request = ABOUT.request(runs=1)
    assert ABOUT.figures(request, records, tmp_path) == []
    for job in ABOUT.jobs(request):
        if job.model != "high-printed":
            records.put(job, test=job.options["homophily"], val=0.5, epochs=9)
    drawn = ABOUT.figures(request, records, tmp_path)
    assert [path.name for path in drawn] == ["filters.png", "filters.svg"]
    text = drawn[1].read_text()
    assert "High-pass, (I − Â)/2" in text
    assert "High-pass as printed" not in text
