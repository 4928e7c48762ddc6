"""Text drawings: hand-checked ones, and none wider than it may be, whatever the letters."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from otherhalf.cli.drawing import NARROWEST, WIDEST, Column, Paper, merged

PAPER = Paper()
PLAIN = Paper(encoding="ascii", signs=False)
WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
PAPERS = st.builds(
    lambda width, plain: Paper(width, "ascii", signs=False) if plain else Paper(width),
    st.integers(NARROWEST, WIDEST),
    st.booleans(),
)


def test_a_table_by_hand():
    columns = [Column("class"), Column("nodes", right=True), Column("", bars=True)]
    rows = [("ant", "8", 1.0), ("bumblebee", "12,000", 0.5), ("中文", "0", 0.0)]
    assert Paper(width=31).table(columns, rows) == [
        "  class       nodes",
        "  ant             8  ██████████",
        "  bumblebee  12,000  █████",
        "  中文            0",
    ]
    assert Paper(31, "ascii", signs=False).table(columns[:2], [("中文", "1")]) == [
        "  class         nodes",
        r"  \u4e2d\u6587      1",
    ]


def test_text_gives_way_and_numbers_do_not():
    columns = [Column("name"), Column("share", right=True), Column("", bars=True)]
    rows = [("a very long name of a class", "0.123456", 1.0)]
    assert Paper(width=24).table(columns, rows)[1] == "  a very long…  0.123456"
    assert Paper(24, signs=False).table(columns, rows)[1] == "  a very lo...  0.123456"
    assert Paper(width=20).table([Column("n", right=True)] * 2, [["1234567890"] * 2])[1] == (
        "  1234567890  1234567890"
    )


@given(PAPERS, st.lists(st.tuples(WORDS, WORDS, st.floats(0, 1)), min_size=1, max_size=5))
def test_a_table_is_never_too_wide(paper, rows):
    lines = paper.table([Column("first"), Column("second"), Column("", bars=True)], rows)
    assert len(lines) == len(rows) + 1
    assert max(map(cell_len, lines)) <= paper.width


@given(PAPERS, st.lists(st.tuples(WORDS, st.integers(0, 10**6).map(str)), min_size=1, max_size=5))
def test_numbers_end_in_one_column_beside_any_text(paper, rows):
    lines = paper.table([Column("text"), Column("n", right=True)], rows)
    assert len(set(map(cell_len, lines))) == 1
    assert [line.split(" ")[-1] for line in lines] == ["n", *(number for _, number in rows)]


@given(PAPERS, WORDS, st.integers(0, 40))
def test_a_cut_text_fits_and_begins_as_the_whole(paper, text, width):
    shown = paper.letters(text)
    cut = paper.cut(shown, width)
    assert cell_len(cut) <= width
    if cell_len(shown) <= width:
        assert cut == shown
    else:
        assert shown.startswith(cut.rstrip("…."))


@given(PAPERS, st.lists(WORDS.map(lambda word: word.replace(" ", "") or "-"), max_size=30))
def test_a_paragraph_loses_no_word(paper, words):
    text = " ".join(words)
    lines = paper.wrapped(text)
    assert " ".join(lines) == paper.letters(text)
    assert all(cell_len(line) <= paper.width or " " not in line for line in lines)


@given(PAPERS, st.floats(0, 1), st.integers(1, 60))
def test_a_bar_is_as_long_as_its_share(paper, share, width):
    bar = paper.bar(share, width)
    assert len(bar) <= width
    assert bool(bar) == (share > 0)
    assert abs(len(bar) - share * width) <= 1


def test_bars_by_hand():
    assert [PAPER.bar(share, 2) for share in (0, 0.001, 1 / 4, 5 / 16, 3 / 4, 1)] == [
        "",
        "▏",
        "▌",
        "▋",
        "█▌",
        "██",
    ]
    assert [PLAIN.bar(share, 4) for share in (-1, 0, 0.001, 0.5, 1)] == ["", "", "#", "##", "####"]
    assert PAPER.bar(1e300, 2) == PAPER.bar(float("inf"), 2) == "██"


def test_strips_by_hand():
    assert PAPER.strip([0, 0.001, 1, 2, 4, 8], 8) == " ▁▁▂▄█"
    assert PLAIN.strip([0, 0.001, 1, 2, 4, 8], 8) == " ..:=#"


def test_bins_are_merged():
    assert merged([1, 3, 5, 7], 4) == [1, 3, 5, 7]
    assert merged([1, 3, 5, 7], 3) == [2, 6]
    assert merged([1, 3, 5], 2) == [2, 5]
    assert merged([1, 3, 5], 1) == [3]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 60))
def test_merged_bins_are_few_enough(heights, most):
    assert 1 <= len(merged(heights, most)) <= most


def test_letters():
    assert PAPER.letters("a\nb\x1b[2J ± é") == "a\\nb\\x1b[2J ± é"
    assert PLAIN.letters("5 ± 1 … é") == "5 +- 1 ... \\xe9"
    assert Paper(signs=False).letters("5 ± 1 é") == "5 +- 1 é"


class Stream(io.StringIO):
    encoding = "utf-8"

    def __init__(self, *, terminal=False):
        super().__init__()
        self.isatty = lambda: terminal


@pytest.fixture
def environment(monkeypatch):
    for name in (
        "COLUMNS",
        "NO_COLOR",
        "TERM",
        "LC_ALL",
        "LC_CTYPE",
        "LANG",
        "PYTHONIOENCODING",
        "PYTHONUTF8",
    ):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


def test_what_a_stream_can_show(environment):
    environment("COLUMNS", "60")
    assert Paper.of(Stream()) == Paper(60)
    assert Paper.of(Stream(terminal=True)) == Paper(60, styled=True)
    environment("COLUMNS", "3")
    assert Paper.of(Stream()).width == NARROWEST
    environment("COLUMNS", "500")
    assert Paper.of(Stream()).width == WIDEST


def test_no_colour_where_none_is_wanted(environment):
    environment("NO_COLOR", "1")
    assert not Paper.of(Stream(terminal=True)).styled
    environment("NO_COLOR", "")
    assert Paper.of(Stream(terminal=True)).styled
    environment("TERM", "dumb")
    assert not Paper.of(Stream(terminal=True)).styled


def test_ascii_where_it_is_wanted(environment):
    stream = Stream()
    for encoding in ("ascii", "latin-1", "no such encoding"):
        stream.encoding = encoding
        assert not Paper.of(stream).signs
    stream.encoding = "utf-8"
    environment("LANG", "en_US.UTF-8")
    assert Paper.of(stream).signs
    environment("LC_ALL", "C")
    assert not Paper.of(stream).signs
    environment("PYTHONIOENCODING", "utf-8")
    assert Paper.of(stream).signs
