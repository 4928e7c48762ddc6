"""What a found half is worth: two more fits."""

import pytest
from tests.report.fits import embedded, fitted, graph, parts

from otherhalf import InputError
from otherhalf.report.stored import SHAPE
from otherhalf.report.worth import measure_worth


def test_the_three_scores():
    model = fitted()
    found = measure_worth(model, graph(), parts())
    for key, half in (("with", "found"), ("without", "none"), ("random", "random")):
        assert found[key] == pytest.approx(fitted(half).score(graph(), parts().test), abs=1e-4)
    assert found["metric"] == "accuracy"
    assert "30 test nodes" in found["explained"]
    assert found.keys() >= SHAPE["halves"]["worth"].shape.keys()
    assert model.ensemble["half"] == "found"


@pytest.mark.parametrize("model", [lambda: fitted("none"), embedded])
def test_only_a_found_half_has_a_worth(model):
    with pytest.raises(InputError, match="found by the method kernel"):
        measure_worth(model(), graph(), parts())
