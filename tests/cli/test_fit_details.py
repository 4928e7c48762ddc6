"""What a report says of a fit: from its folder, and from the model itself."""

import pytest
from tests.report.fits import fitted, graph, parts
from tests.report.made_up import content

from otherhalf.cli.fit_details import Details
from otherhalf.diagnosis.plain_words import sentence
from otherhalf.estimators.run_files import REPORT_FILE
from otherhalf.report.content import collect
from otherhalf.report.stored import write_content


def test_folder_and_model_say_the_same(tmp_path):
    model = fitted()
    write_content(tmp_path, collect(model, graph(), parts()))
    stored, direct = Details.of_folder(tmp_path), Details.of_model(model, graph(), parts())
    assert stored.verdict == direct.verdict == sentence(model.diagnosis_, graph().name)
    assert stored.intervals.keys() == direct.intervals.keys()
    for name, ends in stored.intervals.items():
        assert ends == pytest.approx(direct.intervals[name], abs=1e-4)
    assert stored.by_degree == direct.by_degree
    assert sum(group["nodes"] for group in stored.by_degree) == len(parts().test)
    assert stored.group_metric == direct.group_metric == "accuracy"
    assert stored.worth is None


def test_the_worth_of_a_half_is_known_if_it_was_measured(tmp_path):
    found = content()
    write_content(tmp_path, found)
    assert Details.of_folder(tmp_path).worth == found["halves"]["worth"]


def test_no_report_says_nothing(tmp_path):
    assert Details.of_folder(tmp_path) == Details()
    (tmp_path / REPORT_FILE).write_text("{")
    assert Details.of_folder(tmp_path) == Details()


def test_too_little_memory_for_details_does_not_lose_the_fit(monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("otherhalf.report.intervals.bootstrap_intervals", full)
    assert Details.of_model(fitted(), graph(), parts()) == Details()
