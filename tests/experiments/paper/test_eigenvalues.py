import json

import pytest

from otherhalf.experiments.paper.eigenvalues import Eigenvalues

pytestmark = pytest.mark.usefixtures("no_data")
ABOUT = Eigenvalues()


def spectrum(low, high=(2.0, 0.0)):
    ends = {"smallest": list(low), "largest": list(high)}
    symmetric = {**ends, "symmetric_smallest": 0.125, "symmetric_largest": 1.75}
    return {"symmetric": symmetric, "row": {**ends, "smallest": [0.5, 0.0]}}


def test_a_row_has_the_papers_range_and_ours(records):
    request = ABOUT.request(["cora", "citeseer", "actor"])
    cora, citeseer, _ = ABOUT.jobs(request)
    records.put(cora, spectrum=spectrum((0.25, 0.0)))
    records.put(citeseer, spectrum=spectrum((0.25, 0.0321), (1.9, 1e-9)))
    rows = ABOUT.table(request, records).rows
    ours = "[0.2500, 2.0000]\n(+0.0349, +0.0000)"
    row = "[0.5000, 2.0000]\n(+0.2849, +0.0000)"
    assert rows[0] == ["cora", "[0.2151, 2.0000]", ours, row, "[0.1250, 1.7500]"]
    assert rows[1][2].startswith("[0.2500 ± 0.0321i, 1.9000]\n")  # a rounding error is no imaginary part
    assert rows[2] == ["actor", "[0.8435, 2.0000]", "–", "–", "–"]
    values = ABOUT.values(request, records)
    assert json.loads(json.dumps(values)) == values
    assert values["datasets"]["cora"]["gaps"][0]["symmetric"] == pytest.approx([0.0349, 0])
    assert values["datasets"]["actor"]["spectra"] == [None]


def test_several_splits_have_a_row_each(records):
    request = ABOUT.request(["cora"], runs=2)
    assert [row[0] for row in ABOUT.table(request, records).rows] == ["cora, split 0", "cora, split 1"]
    assert len(ABOUT.jobs(ABOUT.request())) == 8
