"""The page of a search: self-contained, escaped, and readable on a phone."""

import re

import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.report.made_up import HOSTILE
from tests.report.test_page import Parsed

from otherhalf.report.tuned import MOST_SETTINGS, search_page


def made_up(text="toy", trials=3, settings=2):
    values = {
        "chosen": {"trial": 1, "params": {"hidden": 128, "name": text}},
        "fits": 2,
        "validation": 0.75,
        "default_validation": 0.5,
        "test": 0.7,
        "default_test": None,
        "metric_reason": "The metric is accuracy.",
        "split": "uniform",
        "seed": 0,
        "out": text,
        "doubts": [text, "It may be luck."],
        "trials": [
            {
                "trial": number,
                "validation": 0.5 + 0.01 * number if number != 2 else None,
                "scores": [0.5 + 0.01 * number] if number != 2 else [],
                "state": "pruned" if number != 2 else "failed",
                "seconds": 1.0,
                "error": text if number == 2 else "",
            }
            for number in range(trials)
        ],
        "importance": [
            {
                "model": "gcn",
                "setting": f"{text}{number}",
                "spread": 0.1,
                "values": [
                    {"value": text, "trials": 2, "mean": 0.4},
                    {"value": "b", "trials": 2, "mean": 0.5},
                ],
            }
            for number in range(settings)
        ],
    }
    words = {
        "title": text,
        "metric": "accuracy",
        "larger_is_better": True,
        "choice": text,
        "on_test": "On 40 test nodes.",
        "how": "Every trial is fitted once.",
        "trials": dict.fromkeys((1, 0, *range(2, trials)), f"gcn: {text}"),
    }
    return values, words


def test_it_loads_nothing_and_shows_the_best_trial_first():
    page = search_page(*made_up(), "otherhalf tune toy")
    parsed = Parsed(page)
    assert not [value for _, name, value in parsed.attributes if name == "src"]
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    assert page.count('class="chosen"') == 1
    table = page[page.index("All trials") :]
    assert re.findall(r'<td class="n">(\d+)</td><td class="n">(?:0|–)', table)[:3] == ["1", "0", "2"]
    assert "otherhalf tune toy" in page
    assert "–" in page  # the unknown score


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_markup(text):
    hostile, usual = Parsed(search_page(*made_up(text), text)), Parsed(search_page(*made_up("toy"), "toy"))
    assert hostile.tags == usual.tags


def test_few_trials_and_many_settings():
    assert "Too few trials to tell" in search_page(*made_up(settings=0))
    page = search_page(*made_up(settings=MOST_SETTINGS + 3))
    assert page.count('scope="rowgroup"') == MOST_SETTINGS
    assert "3 settings that differ less are left out" in page


def test_smaller_is_better_turns_the_chart():
    values, words = made_up()
    page = search_page(values, {**words, "larger_is_better": False})
    assert "its sign changed" in page
    assert "the best is -0.5000" in page


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: `apt-get install chromium` gets it")
@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_is_wider_than_the_screen(tmp_path, width):
    path = tmp_path / "page.html"
    path.write_text(search_page(*made_up("a name that is long " * 6, trials=30), "otherhalf " * 40), "utf-8")
    browser = Browser()
    try:
        browser.open(path, width=width)
        assert browser.complaints() == []
        assert browser.requests() == [path.as_uri()]
        assert browser.evaluate("document.documentElement.scrollWidth") == width
    finally:
        browser.close()
