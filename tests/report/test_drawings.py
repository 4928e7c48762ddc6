"""The charts of a content: what is drawn, and what is left out where nothing is known."""

import re

from tests.report.made_up import content

from otherhalf.report.drawings import drawings


def test_every_chart_is_drawn():
    drawn = drawings(content())
    assert [name for name, chart in drawn.items() if not chart] == []
    assert len(drawn["by"]) == 3
    assert drawn["trained"] == ["GOAL"]


def test_what_is_unknown_is_not_drawn():
    value = content()
    value["verdict"] |= {"ks": None, "cosines": None, "measures": []}
    value["halves"] |= {"rows": [], "worth": None}
    value["classifier"]["curves"] = []
    value["evaluation"] |= {"by": [], "reliability": [], "confusion": []}
    assert [name for name, chart in drawings(value).items() if chart] == []


def test_the_confusion_is_shaded_by_the_share_of_a_row():
    value = content(classes=2)
    value["evaluation"]["confusion"] = [[3, 1], [0, 0]]
    assert drawings(value)["confusion"] == [[0.75, 0.25], [0, 0]]


def test_groups_show_their_number_of_nodes():
    value = content()
    value["evaluation"]["by"][0]["groups"] = [
        {"label": "1", "nodes": 1234, "value": 0.5, "low": None, "high": None}
    ]
    assert "1 · 1,234 nodes" in drawings(value)["by"][0]


def test_a_histogram_leaves_out_empty_ends():
    value = content()
    value["verdict"]["cosines"] = {
        "bins": [0.0, 0.25, 0.5, 0.75, 1.0],
        "connected": [0.0, 1.0, 2999.0, 0.0],
        "random": [0.0, 5.0, 5.0, 0.0],
    }
    steps = re.findall(
        r"H([0-9.]+)", re.search(r'class="area s0" d="([^"]+)"', drawings(value)["cosines"]).group(1)
    )
    assert len(steps) == 2


def test_trainings_of_one_member_have_one_style():
    value = content()
    value["classifier"]["curves"] += [{**value["classifier"]["curves"][0], "name": "spread 1"}]
    drawn = drawings(value)
    assert drawn["trained"] == ["spread", "GOAL"]  # the one of more weight first
    assert (drawn["losses"].count('"line s0"'), drawn["losses"].count('"line s1"')) == (1, 2)
