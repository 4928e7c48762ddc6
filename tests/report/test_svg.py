"""Charts: well-formed, escaped, and every mark where its number puts it."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otherhalf.report.svg import WIDTH, Bar, Line, Point, bars, climb, histograms, lines, reliability, scale

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
SHARES = st.floats(0, 1)


def parsed(chart):
    """The chart as XML, and its elements by class."""
    root = ElementTree.fromstring(chart)
    by_class = {}
    for element in root.iter():
        by_class.setdefault(element.get("class"), []).append(element)
    return root, by_class


def texts(root):
    return [element.text for element in root.iter("text")]


def numbers(path):
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", path)]


def test_a_bar_is_as_long_as_its_value():
    root, marks = parsed(bars([Bar("a", 0.25), Bar("b", 1.0, 0.5, 1.0)], "t"))
    assert [float(bar.get("width")) for bar in marks["bar s0"]] == [WIDTH / 4, WIDTH]
    assert numbers(marks["whisker"][0].get("d"))[0] == WIDTH / 2
    assert texts(root) == ["a", "0.250", "b", "1.000"]


def test_a_negative_bar_ends_at_zero():
    _, marks = parsed(bars([Bar("a", -1.0), Bar("b", 1.0)], "t"))
    left, right = marks["bar s0"]
    assert [float(left.get("x")), float(left.get("width"))] == [0, WIDTH / 2]
    assert [float(right.get("x")), float(right.get("width"))] == [WIDTH / 2, WIDTH / 2]
    assert numbers(marks["zero"][0].get("d"))[0] == WIDTH / 2


def test_an_unknown_value_has_no_bar():
    root, marks = parsed(bars([Bar("a", None)], "t"))
    assert "bar s0" not in marks
    assert texts(root) == ["a", "unknown"]


def test_one_bar_is_marked():
    _, marks = parsed(bars([Bar("a", 0.1), Bar("b", 0.2)], "t", mark=1))
    assert (len(marks["bar s0"]), len(marks["bar s1"])) == (1, 1)
    assert float(marks["bar s0"][0].get("width")) == pytest.approx(0.2 * WIDTH)


def test_a_histogram_has_a_step_for_every_bin():
    _, marks = parsed(histograms([-1, 0, 1], [[1, 2], [0, 1]], "t", "cosine"))
    first, second = marks["area s0"][0].get("d"), marks["area s1"][0].get("d")
    assert first.count("L") == second.count("L") == 2
    tallest = min(numbers(step)[1] for step in first.split("L")[1:])
    assert min(numbers(step)[1] for step in second.split("L")[1:]) > tallest


def test_lines_keep_their_gaps():
    _, marks = parsed(lines([Line("a", [1, None, 2, 3])], "t", "x", "y"))
    assert marks["line s0"][0].get("d").count("M") == 2


def test_a_mark_is_on_its_line():
    _, marks = parsed(lines([Line("a", [0, 1, 4], step=10, mark=20)], "t", "x", "y"))
    at = numbers(marks["line s0"][0].get("d"))[-2:]
    assert [float(marks["mark s0"][0].get(name)) for name in ("cx", "cy")] == at


def test_a_calibrated_point_is_on_the_diagonal():
    _, marks = parsed(reliability([Point(0.5, 0.5, 4), Point(1.0, 1.0, 1), Point(0.2, 0.9, 0)], "t"))
    half, one = marks["mark s0"]  # nobody is in the third
    x0, y0, x1, y1 = numbers(marks["limit"][0].get("d"))
    assert [float(one.get("cx")), float(one.get("cy"))] == [x1, y1]
    assert [float(half.get("cx")), float(half.get("cy"))] == [(x0 + x1) / 2, (y0 + y1) / 2]
    assert float(half.get("r")) > float(one.get("r"))


def test_the_scale_puts_the_value_beyond_its_threshold():
    root, marks = parsed(scale(0.475, 0.004, 0.2, ("unlike", "like"), "t"))
    assert float(marks["dot"][0].get("cx")) > numbers(marks["limit"][0].get("d"))[0]
    assert "D = 0.475" in texts(root)


@given(st.lists(st.builds(Bar, *[st.just("a"), *[st.none() | NUMBERS] * 3, st.just("")]), max_size=6))
def test_bars_of_any_numbers_stay_inside(rows):
    root, marks = parsed(bars(rows, "t"))
    for bar in marks.get("bar s0", []):
        x, width = float(bar.get("x")), float(bar.get("width"))
        assert 0 <= x <= x + width <= WIDTH + 0.11  # rounded
    assert len(texts(root)) == 2 * len(rows)


@example([[0.0, 5e-324]], 0.0)
@given(st.lists(st.lists(st.none() | NUMBERS, max_size=20), max_size=8), SHARES)
def test_lines_of_any_numbers_stay_inside(series, mark):
    drawn = [Line("a", values, mark=mark * len(values)) for values in series]
    root, _ = parsed(lines(drawn, "t", "x", "y"))
    _, _, width, height = map(float, root.get("viewBox").split())
    for path in root.iter("path"):
        points = [numbers(pair) for pair in re.findall(r"[ML]([^MLHV]+)", path.get("d"))]
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points)


@pytest.mark.parametrize("text", ["</svg><script>", '"><img onerror=x>', "a & b"])
def test_text_is_escaped(text):
    for chart in (
        bars([Bar(text, 0.5, note=text)], text),
        histograms([0, 1], [[1], [1]], text, text),
        lines([Line(text, [1, 2])], text, text, text),
        reliability([Point(0.5, 0.5, 1)], text),
        scale(0.5, None, 0.2, (text, text), text),
    ):
        root, _ = parsed(chart)  # one element whose parts are those of a chart
        assert {element.tag for element in root.iter()} <= {
            *("svg", "title", "desc", "text", "rect", "path", "circle"),
        }
        assert root.find("title").text == text


def test_a_chart_has_a_name_for_screen_readers():
    root, _ = parsed(bars([Bar("a", 0.5, 0.4, 0.6)], "How many"))
    assert (root.get("role"), root.find("title").text) == ("img", "How many")
    assert root.find("desc").text == "a: 0.500 (from 0.400 to 0.600)"


def test_the_climb_has_a_dot_for_each_value_and_a_line_of_the_best():
    root, marks = parsed(
        climb([(0.5, False), (None, False), (0.4, False), (0.7, True)], "t", "trial", "score")
    )
    assert len(marks["mark s0"]) == 2
    assert len(marks["mark s1"]) == 1
    assert float(marks["mark s1"][0].get("cy")) < float(marks["mark s0"][0].get("cy"))
    path = numbers(marks["line s0"][0].get("d"))
    heights = [float(each.get("cy")) for each in (marks["mark s0"][0], marks["mark s1"][0])]
    assert path[1] == heights[0]
    assert path[3] == heights[1]
    assert root.find("desc") is not None or "0.7000" in climb([(0.7, False)], "t", "x", "y")


def test_a_climb_without_values():
    _root, marks = parsed(climb([(None, False)], "t", "trial", "score"))
    assert "mark s0" not in marks
    assert "line s0" not in marks
    assert "no value" in climb([], "t", "trial", "score")
