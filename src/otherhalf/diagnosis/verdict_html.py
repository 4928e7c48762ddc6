"""A diagnosis in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otherhalf.system.html import card, facts, paragraph, shortened, two_curves

if TYPE_CHECKING:
    from otherhalf.diagnosis.verdict import Diagnosis


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """Return the verdicts, the measures and the two distributions of a diagnosis as HTML."""
    d = diagnosis
    bounds = d.intervals.get("adjusted_homophily")
    adjusted = None if d.adjusted_homophily is None else f"{d.adjusted_homophily:.3f}"
    if adjusted and bounds:
        adjusted += f" ({bounds[0]:.3f} to {bounds[1]:.3f})"
    values = {
        "by the features": f"{d.tendency}: D = {d.ks:.3f} ± {d.ks_std:.3f}, threshold {d.threshold:g}",
        "by the labels": d.label_tendency,
        "edges within a class": None if d.edge_homophily is None else f"{d.edge_homophily:.1%}",
        "adjusted homophily": adjusted,
        "label informativeness": None
        if d.label_informativeness is None
        else f"{d.label_informativeness:.3f}",
    }
    curves = two_curves(
        ("connected pairs", "random pairs"),
        (d.connected.tolist(), d.random.tolist()),
        (f"cosine {d.bin_edges[0]:g}", f"{d.bin_edges[-1]:g}"),
    )
    title = f"Diagnosis of {shortened(d.name)}" if d.name else "Diagnosis"
    return card(title, facts(values), curves, *map(paragraph, str(d).splitlines()))
