"""The figures of the paper, drawn from rows of values and written as PNG and as SVG.

The files depend on the data alone: no date, no random ids. matplotlib is imported when a figure is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from otherhalf.errors import InputError
from otherhalf.system.atomic import atomic_write, check_folder, check_place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]

DPI = 150
COLUMNS = 4
"""Largest number of panels in a row."""

# The palette of Okabe and Ito, whose colours people with any colour vision can distinguish.
BLUE, ORANGE, GREEN, GREY, SKY = "#0072B2", "#D55E00", "#009E73", "#6E6E6E", "#56B4E9"

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "otherhalf",  # otherwise the ids in the file are random
    "svg.fonttype": "none",  # text stays text
}

TOPOLOGIES = {
    "found": ("Found half", BLUE, "o"),
    "found_test": ("Found half, from test nodes", SKY, "v"),
    "knn": ("k nearest or farthest by features", ORANGE, "s"),
    "random": ("Random graph", GREEN, "^"),
    "given": ("Given graph", GREY, "D"),
}
"""Series of :func:`homophily_points`: label, colour and marker, which is clear without colour too."""

FILTER_CURVES = {
    "low": ("Low-pass, (I + Â)/2", BLUE, "o", "-"),
    "high": ("High-pass, (I − Â)/2", ORANGE, "s", "-"),
    "low as printed": ("Low-pass as printed, Â", BLUE, "o", ":"),
    "high as printed": ("High-pass as printed, −Â", ORANGE, "s", ":"),
}


def cosine_distributions(panels: Sequence[Row], path: str | Path) -> tuple[Path, Path]:
    """Draw the cosines of connected and random pairs, one panel for each data set (``fig:cosine comp``).

    The axis of a panel ends at tenths, beyond which less than a thousandth of each distribution remains.

    Args:
        panels: Each with ``name``, ``ks``, ``bin_edges``, ``connected`` and ``random``; ``vars(diagnosis)``
            of a :class:`~otherhalf.diagnosis.verdict.Diagnosis` is one.
        path: Path of the two files, with or without their ending.

    Returns:
        The PNG and the SVG file.
    """
    _require_rows(panels, ("name", "ks", "bin_edges", "connected", "random"))
    lines = -(-len(panels) // COLUMNS)
    columns = -(-len(panels) // lines)
    width = max(2.3 * columns, 4.2)
    with _figure(path, (width, 1.9 * lines + 0.45)) as figure:
        grid = figure.subplots(lines, columns, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            edges = list(panel["bin_edges"])
            for key, colour, label in (
                ("random", GREY, "Random pairs"),
                ("connected", BLUE, "Connected pairs"),
            ):
                heights = list(panel[key])
                axes.stairs(heights, edges, fill=True, color=colour, alpha=0.3)
                axes.stairs(heights, edges, color=colour, linewidth=1.1, label=label)
            axes.set_title(f"{panel['name']} (D = {panel['ks']:.3f})")
            axes.set_xlim(*_visible_range(edges, list(panel["connected"]), list(panel["random"])))
            axes.locator_params(axis="x", nbins=4)
            axes.set_yticks([])  # densities of area 1: only their shape tells
            axes.spines["left"].set_visible(False)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        figure.supxlabel("Cosine similarity of features", fontsize=STYLE["axes.labelsize"])
        figure.supylabel("Density of pairs", fontsize=STYLE["axes.labelsize"])
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=2)
    return _files(path)


def _visible_range(edges: list[float], *distributions: list[float]) -> tuple[float, float]:
    """Return the ends of the axis: tenths outside of which each distribution has less than a thousandth."""
    low, high = edges[-1], edges[0]
    for heights in distributions:
        mass = np.cumsum(np.array(heights) * np.diff(edges))
        low = min(low, edges[int(np.argmax(mass >= mass[-1] / 1000))])
        high = max(high, edges[int(np.argmax(mass > mass[-1] * 0.999)) + 1])
    # Without the hundredth of a step, 0.30000000000000004 would count as more than 0.3.
    return math.floor(10 * low + 0.01) / 10, math.ceil(10 * high - 0.01) / 10


def homophily_points(rows: Sequence[Row], path: str | Path) -> tuple[Path, Path]:
    """Draw the homophily of the missing half, kNN, random and given topologies (``fig:comp_homophily``).

    Args:
        rows: Each with ``dataset``, ``topology`` (a key of :data:`TOPOLOGIES`), ``mean`` and ``std`` over
            repeats (None: no bar). The data sets keep the order of the rows.
        path: Path of the two files, with or without their ending.

    Returns:
        The PNG and the SVG file.
    """
    _require_rows(rows, ("dataset", "topology", "mean", "std"))
    _require_known(rows, "topology", TOPOLOGIES)
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    present = [key for key in TOPOLOGIES if any(row["topology"] == key for row in rows)]
    width = max(4.6, 1.0 + 0.85 * len(datasets))
    with _figure(path, (width, 3.3)) as figure:
        axes = figure.subplots()
        for index, key in enumerate(present):
            label, colour, mark = TOPOLOGIES[key]
            points = [row for row in rows if row["topology"] == key]
            # Side by side within a data set, so that points and bars do not hide each other.
            shift = 0.15 * (index - (len(present) - 1) / 2)
            axes.errorbar(
                [datasets.index(row["dataset"]) + shift for row in points],
                [row["mean"] for row in points],
                yerr=[row["std"] or 0.0 for row in points],
                fmt=mark,
                color=colour,
                markersize=5,
                capsize=3,
                elinewidth=1.2,
                label=label,
            )
        for between in range(1, len(datasets)):
            axes.axvline(between - 0.5, color=STYLE["grid.color"], linewidth=0.6, zorder=0)
        axes.set_xticks(range(len(datasets)), datasets)
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-0.5, len(datasets) - 0.5)
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel("Homophily (share of edges within a class)")
        axes.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=3 if width > 7 else 2)
    return _files(path)


def filter_curves(rows: Sequence[Row], path: str | Path) -> tuple[Path, Path]:
    """Draw the accuracy of linear filters over homophily (``fig:compare different filters``).

    Args:
        rows: Each with ``homophily``, ``filter`` (a key of :data:`FILTER_CURVES`), ``mean`` and ``std`` of
            the accuracy over repeats (None: no band).
        path: Path of the two files, with or without their ending.

    Returns:
        The PNG and the SVG file.
    """
    _require_rows(rows, ("homophily", "filter", "mean", "std"))
    _require_known(rows, "filter", FILTER_CURVES)
    with _figure(path, (4.6, 3.5)) as figure:
        axes = figure.subplots()
        for key, (label, colour, mark, line) in FILTER_CURVES.items():
            points = sorted(
                (row for row in rows if row["filter"] == key), key=lambda row: float(row["homophily"])
            )
            if points:
                _curve(axes, points, label, colour, mark, line)
        axes.set_xlabel("Homophily of the graph (share of edges within a class)")
        axes.set_ylabel("Test accuracy")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axes.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=2)
    return _files(path)


def _curve(axes: Axes, rows: list[Row], label: str, colour: str, mark: str, line: str) -> None:
    x, mean = [row["homophily"] for row in rows], [row["mean"] for row in rows]
    std = [row["std"] or 0.0 for row in rows]
    axes.plot(x, mean, linestyle=line, marker=mark, color=colour, markersize=4, linewidth=1.4, label=label)
    low, high = ([m + sign * s for m, s in zip(mean, std, strict=True)] for sign in (-1, 1))
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


# ---------------------------------------------------------------------- files


@contextmanager
def _figure(path: str | Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Yield a figure in the common style, and write it when the block ends."""
    files = _files(path)
    for file in files:
        check_place(file)
    check_drawing(files[0].parent)
    import matplotlib
    from matplotlib.figure import Figure

    # The matplotlibrc of the user is not used. The backend stays as it is: a Figure made without pyplot draws
    # with Agg and needs no display.
    style: dict[Any, Any] = {**matplotlib.rcParamsDefault}
    style.pop("backend", None)
    with matplotlib.rc_context(style | STYLE):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        for file in files:
            metadata = {"Date": None, "Creator": None} if file.suffix == ".svg" else {"Software": None}
            with atomic_write(file) as temporary:
                figure.savefig(temporary, dpi=DPI, metadata=metadata)


def check_drawing(folder: Path) -> None:
    """Raise InputError if figures cannot be drawn or written to the folder; call it before long work."""
    check_folder(folder)
    if find_spec("matplotlib") is None:
        raise InputError("figures need matplotlib: run `pip install 'otherhalf[report]'`")


def _files(path: str | Path) -> tuple[Path, Path]:
    path = Path(path)
    stem = path.stem if path.suffix in (".png", ".svg") else path.name  # .3 in cora@0.3 is no ending
    return path.with_name(f"{stem}.png"), path.with_name(f"{stem}.svg")


def _require_rows(rows: Sequence[Row], keys: tuple[str, ...]) -> None:
    if not rows:
        raise InputError("there is nothing to draw: give one row or more")
    for row in rows:
        if absent := [key for key in keys if key not in row]:
            raise InputError(f"a row of the figure has no {absent[0]!r}: give {', '.join(keys)}")


def _require_known(rows: Sequence[Row], key: str, known: Mapping[str, Any]) -> None:
    for row in rows:
        if row[key] not in known:
            raise InputError(f"the {key} {row[key]!r} is not known: choose one of {', '.join(known)}")
