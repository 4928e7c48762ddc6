"""Figures: files that depend on the data alone, their texts, and one sentence for wrong input."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import otherhalf as oh
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.errors import InputError
from otherhalf.report.charts import (
    FILTER_CURVES,
    TOPOLOGIES,
    _files,
    _visible_range,
    cosine_distributions,
    filter_curves,
    homophily_points,
)

PANELS = [
    {
        "name": name,
        "ks": 0.4784,
        "bin_edges": [0, 0.25, 0.5, 1],
        "connected": [1, 2, 0.5],
        "random": [4, 0, 0],
    }
    for name in ("Cora", "Chameleon")
]
POINTS = [
    {"dataset": dataset, "topology": key, "mean": 0.2 + 0.1 * index, "std": 0.05}
    for dataset in ("Cora", "Chameleon")
    for index, key in enumerate(TOPOLOGIES)
]
CURVES = [
    {"homophily": h, "filter": key, "mean": 0.5 + 0.4 * h, "std": None if h == 0 else 0.02}
    for key in FILTER_CURVES
    for h in (0.0, 1.0, 0.5)
]
FIGURES = [(cosine_distributions, PANELS), (homophily_points, POINTS), (filter_curves, CURVES)]


def texts(svg):
    return [e.text for e in ET.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Each figure, drawn once into a folder that was not there."""
    folder = tmp_path_factory.mktemp("figures") / "new"
    return {draw: draw(rows, folder / f"{draw.__name__}.png") for draw, rows in FIGURES}


def test_both_files_appear_and_nothing_else(drawn):
    for png, svg in drawn.values():
        assert png.read_bytes().startswith(b"\x89PNG")
        assert ET.parse(svg).getroot().tag.endswith("svg")
    assert set(png.parent.iterdir()) == {file for files in drawn.values() for file in files}


@pytest.mark.parametrize(("draw", "rows"), FIGURES)
def test_the_same_data_give_the_same_bytes_whatever_the_users_style(draw, rows, drawn, tmp_path):
    import matplotlib

    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "svg.fonttype": "path"}):
        again = draw(rows, tmp_path / "again")
        assert matplotlib.rcParams["font.size"] == 20
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in drawn[draw]]
    assert b"<dc:date>" not in again[1].read_bytes()


def test_cosine_panels_say_which_data_set_and_its_statistic(drawn):
    written = texts(drawn[cosine_distributions][1])
    assert "Cora (D = 0.478)" in written
    assert sum("D = " in t for t in written) == 2
    assert {"Connected pairs", "Random pairs", "Cosine similarity of features"} <= set(written)


def test_a_diagnosis_is_a_panel(tmp_path):
    diagnosis = oh.diagnose(contextual_sbm(100, 2, 4, seed=0), draws=2)
    _, svg = cosine_distributions([vars(diagnosis)], tmp_path / "one")
    assert any(f"D = {diagnosis.ks:.3f}" in t for t in texts(svg))


def test_the_axis_leaves_out_empty_ends():
    edges = np.linspace(-1, 1, 21).tolist()
    spike = [0.0] * 20
    inside = [1.0 if 9 <= i <= 12 else 0.0 for i in range(20)]  # −0.1 … 0.3
    spike[15] = 1e-5  # 0.5 … 0.6, too little to show
    assert _visible_range(edges, inside, inside) == pytest.approx((-0.1, 0.3))
    assert _visible_range(
        edges, inside, [a + b for a, b in zip(inside, spike, strict=True)]
    ) == pytest.approx((-0.1, 0.3))
    assert _visible_range([0.0, 0.5, 1.0], [1, 1], [2, 0]) == (0, 1)


def test_points_are_named_in_words_and_data_sets_keep_their_order(drawn):
    written = texts(drawn[homophily_points][1])
    assert {words for words, _, _ in TOPOLOGIES.values()} <= set(written)
    assert written.index("Cora") < written.index("Chameleon")


def test_only_what_is_there_is_drawn(tmp_path):
    rows = [row for row in POINTS if row["topology"] in ("found", "random")]
    _, svg = homophily_points(rows, tmp_path / "two")
    assert "Given graph" not in texts(svg)
    _, svg = filter_curves([row for row in CURVES if row["filter"] == "low"], tmp_path / "low")
    assert [t for t in texts(svg) if "pass" in t] == [FILTER_CURVES["low"][0]]


def test_curves_name_their_kernel_and_the_axes(drawn):
    written = texts(drawn[filter_curves][1])
    assert {words for words, *_ in FILTER_CURVES.values()} <= set(written)
    assert "Test accuracy" in written


@pytest.mark.parametrize("name", ["cora@0.3", "cora@0.3.svg", "cora@0.3.png"])
def test_a_name_with_a_dot_is_kept(name):
    assert _files(f"folder/{name}") == (Path("folder/cora@0.3.png"), Path("folder/cora@0.3.svg"))


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(("draw", "rows"), FIGURES)
def test_without_matplotlib_a_sentence_says_what_to_install(draw, rows, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'otherhalf\[report\]'"):
        draw(rows, tmp_path / "figure")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("draw", "rows"), FIGURES)
def test_rows_that_say_too_little_are_refused(draw, rows, tmp_path):
    with pytest.raises(InputError, match="nothing to draw"):
        draw([], tmp_path / "figure")
    key = next(iter(rows[0]))
    with pytest.raises(InputError, match=f"has no '{key}': give "):
        draw([{k: v for k, v in rows[0].items() if k != key}], tmp_path / "figure")


def test_unknown_series_are_refused(tmp_path):
    with pytest.raises(InputError, match="the topology 'mine' is not known: choose one of found"):
        homophily_points([{**POINTS[0], "topology": "mine"}], tmp_path / "figure")
    with pytest.raises(InputError, match="the filter 'band' is not known: choose one of low"):
        filter_curves([{**CURVES[0], "filter": "band"}], tmp_path / "figure")


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "figure.svg").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        filter_curves(CURVES, tmp_path / "figure")
