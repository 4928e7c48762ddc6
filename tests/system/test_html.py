"""HTML for notebooks: every text is escaped, and nothing is loaded or run."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherhalf.system.html import LONGEST, card, facts, paragraph, shortened, table, two_curves

VOID = {"path", "polyline"}
ALLOWED = {"div", "p", "span", "table", "tbody", "tr", "td", "svg"} | VOID
ATTRIBUTES = {"style", "points", "fill", "stroke", "stroke-width", "stroke-opacity", "d", "role"}
ATTRIBUTES |= {"viewbox", "width", "height", "aria-label"}


class Reader(HTMLParser):
    """Collects the texts; raises AssertionError for a tag or attribute that is not allowed or not closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.texts, self.open = [], []

    def handle_starttag(self, tag, attributes):
        assert tag in ALLOWED
        assert {name for name, _ in attributes} <= ATTRIBUTES
        assert not any("url(" in (value or "") for _, value in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def texts(html):
    """The texts of a piece of HTML that is safe and whose tags are closed."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader.texts


WRONG = '<script>alert(\'x\')</script>"&<b onclick="y">'


def test_text_is_text():
    html = card(
        WRONG,
        paragraph(WRONG),
        facts({WRONG: WRONG}),
        table((WRONG, WRONG), [(WRONG, WRONG)]),
        two_curves((WRONG, WRONG), ([0, 1], [1, 0]), (WRONG, WRONG)),
    )
    assert [text.strip() for text in texts(html) if text != "━"] == [WRONG] * 12
    assert "<script" not in html


@given(st.text(min_size=1))
def test_any_text(text):
    found = "".join(texts(card("title", paragraph(text), facts({"name": text}))))
    assert found.replace("\r", "\n") == ("title" + text + "name" + text).replace("\r", "\n")


def test_what_is_unknown_is_left_out():
    assert texts(facts({"a": 1, "b": None, "c": 0})) == ["a", "1", "c", "0"]
    assert paragraph("") == ""


def test_shares_are_numbers_and_bars():
    html = table(("member", "weight"), [("GOAL", 0.25), ("trees", 0.0)], bars=1)
    assert [text for text in texts(html) if text.strip()] == [
        "member",
        "weight",
        "GOAL",
        "25%",
        "trees",
        "0%",
    ]
    assert "width:15px" in html  # a quarter of 60


def test_curves_by_hand():
    html = two_curves(("a", "b"), ([0, 2, 0], [1, 1, 1]), ("0", "1"))
    assert 'points="0.0,70.0 160.0,0.0 320.0,70.0"' in html
    assert 'points="0.0,35.0 160.0,35.0 320.0,35.0"' in html


def test_curves_have_names_for_everyone():
    html = two_curves(("a", "b"), ([0, 1], [1, 0]), ("0", "1"))
    assert 'aria-label="Curves of a and b"' in html
    assert 'color:#4c8bf5">━</span> a<' in html  # only the mark has a colour, which is too light for text


def test_curves_without_height():
    assert "70.0" in two_curves(("a", "b"), ([0, 0], [0, 0]), ("0", "1"))


@pytest.mark.parametrize(("length", "cut"), [(LONGEST, False), (LONGEST + 1, True)])
def test_long_names_are_cut(length, cut):
    text = shortened("x" * length)
    assert len(text) == LONGEST
    assert text.endswith("…") is cut
