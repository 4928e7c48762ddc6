"""The report object: what a notebook shows is the page, and a file of it is the page."""

import html
import re

import pytest
from tests.report.made_up import content

from otherhalf.errors import InputError
from otherhalf.report.notebook import Report
from otherhalf.report.page import render


def test_save_writes_the_page(tmp_path):
    path = Report(content()).save(tmp_path / "new" / "page.html")
    assert path == tmp_path / "new" / "page.html"
    assert path.read_bytes() == render(content()).encode()


def test_a_wrong_ending(tmp_path):
    with pytest.raises(InputError, match=r"page\.txt does not end in \.html"):
        Report(content()).save(tmp_path / "page.txt")


@pytest.mark.parametrize("hostile", [False, True])
def test_a_notebook_shows_the_page_in_a_frame(hostile):
    shown = Report(content(hostile=hostile))._repr_html_()
    frame = re.fullmatch(
        r'<iframe title="Report" sandbox="allow-scripts" style="[^"]*" srcdoc="([^"]*)"></iframe>', shown
    )
    assert html.unescape(frame.group(1)) == render(content(hostile=hostile))


def test_a_name():
    assert repr(Report(content())) == "Report of made-up: .save('report.html') writes it"
    assert repr(Report({"name": ""})).startswith("Report of a graph")
