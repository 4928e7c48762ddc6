"""The sentences of a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otherhalf.diagnosis.duplicates import WORDS
from otherhalf.diagnosis.homophily import LABEL_THRESHOLD

if TYPE_CHECKING:
    from otherhalf.diagnosis.verdict import Diagnosis

LITTLE = 0.2
"""Nodes of one class are hardly more alike than nodes of two if their cosines differ by less: the number that
the paper uses for connected and random pairs."""

SCALED = {
    "none": "",
    "binary": "",
    "standard": " (every feature column scaled to mean 0 and deviation 1)",
}


def explain(diagnosis: Diagnosis) -> str:
    """Return a line each about the graph, its features, its labels, and what simple ways would score."""
    lines = ((about_graph,), (_features,), (_labels, reason, choice), (_simple,))
    texts = (" ".join(filter(None, (part(diagnosis) for part in line))) for line in lines)
    return "\n".join(filter(None, texts))


def adjective(tendency: str) -> str:
    """Return the adjective of a tendency, as in "the homophilic half"."""
    words = {"homophily": "homophilic", "heterophily": "heterophilic", "both": "homophilic and heterophilic"}
    return words[tendency]


def about_graph(d: Diagnosis) -> str:
    """Return the sizes of a graph, and what is special about its nodes and edges."""
    kind = "directed" if d.directed else "undirected"
    text = (
        f"{d.name or 'The graph'} has {d.nodes:,} nodes, {d.edges:,} {kind} edges, "
        f"{d.features:,} features and {d.classes:,} classes."
    )
    notes = {
        "isolated nodes": d.isolated,
        "nodes without a known label": d.unlabelled,
        "self loops dropped": d.dropped_self_loops,
        "repeated edges dropped": d.dropped_repeats,
    }
    for kind in ("out_neighbours", "neighbours", "features"):
        if kind in d.duplicates:
            notes[f"nodes with the same {WORDS[kind]} as another"] = d.duplicates[kind]["nodes"]
    noted = [f"{count:,} {what}" for what, count in notes.items() if count]
    return f"{text} ({'; '.join(noted)}.)" if noted else text


def _features(d: Diagnosis) -> str:
    above = "above" if d.ks > d.threshold else "not above"
    text = (
        f"The cosine similarities of connected and of random pairs{SCALED[d.scaling]} differ by a K-S "
        f"statistic of D = {d.ks:.3f} ± {d.ks_std:.3f}, {above} {d.threshold:g}"
    )
    if d.doubt:
        return " ".join(filter(None, (f"{text}, which would mean {d.tendency}.", sample(d), doubts(d))))
    text += f": by its features the graph is {d.tendency}-prone."
    return " ".join(filter(None, (text, sample(d), doubts(d))))


def sample(d: Diagnosis) -> str:
    """Return that D is of a sample of the edges, and its standard error; empty if it is of all."""
    if not d.sampled or d.compared is None or d.ks_error is None:
        return ""
    return (
        f"D is of a uniform sample of {d.compared:,} edges; its standard error is {d.ks_error:.4f}. "
        "All other measures are of all edges."
    )


def doubts(d: Diagnosis) -> str:
    """Return why D, or its verdict, is to be doubted; empty if nothing speaks against them."""
    if d.doubt:
        return d.doubt
    found = []
    if abs(d.ks - d.threshold) < d.ks_std:
        found.append("D is closer to the threshold than its spread, so the verdict is uncertain.")
    if d.tendency == "homophily" and d.mean_connected < d.mean_random:
        found.append(
            "But connected pairs are less similar than random pairs "
            f"(mean cosine {d.mean_connected:.3f} against {d.mean_random:.3f}), and D does not "
            "show in which direction the two differ: doubt this verdict."
        )
    return " ".join(found)


def _labels(d: Diagnosis) -> str:
    if d.edge_homophily is None:
        return "No edge has known labels at both ends, so the labels have no verdict."
    text = f"By the labels, {d.edge_homophily:.1%} of the edges are within a class"
    bounds = d.intervals["adjusted_homophily"]
    if d.adjusted_homophily is None or bounds is None:
        return f"{text}; with only one class, the labels have no verdict."
    text += (
        f"; adjusted for chance the homophily is {d.adjusted_homophily:.3f} "
        f"(95 % interval {bounds[0]:.3f} to {bounds[1]:.3f}), "
    )
    if d.label_tendency == "undecided":
        return text + f"which does not decide whether it is above {LABEL_THRESHOLD}."
    return (
        text + f"which means {d.label_tendency}{': the labels contradict D' if d.contradiction else ' too'}."
    )


def reason(d: Diagnosis) -> str:
    """Return why the labels contradict D; empty where they do not, or nothing tells why."""
    if not d.contradiction or d.doubt or d.separation is None:
        return ""
    measured = f"(the K-S statistic of their cosines is {d.separation:.3f})"
    if d.separation < LITTLE:
        text = f"The reason: nodes of one class are hardly more alike than nodes of two {measured}"
        if d.tendency == "heterophily":
            return f"{text}, so edges within a class do not raise D."
        return f"{text}, so D shows that connected nodes are alike in something else."
    text = f"Nodes of one class and nodes of two do differ {measured}"
    if d.tendency == "heterophily":
        return f"{text}, but too few edges are within a class for D to show it."
    if d.mean_connected < d.mean_random:
        return f"{text}, but D is large because the edges connect unlike nodes."
    return f"{text}, but connected nodes are alike in something else too."


def choice(d: Diagnosis) -> str:
    """Return which verdict is followed."""
    if d.label_tendency is None:
        return f"So fit follows D by default: the {adjective(d.missing)} half is missing."
    text = "By default fit follows the labels"
    if d.label_tendency == "undecided":
        return f'{text}, and looks for both halves; follow="ks" (--follow ks) follows D, as the paper does.'
    text += f": the {adjective(d.missing_kind('labels'))} half is missing."
    if d.contradiction:
        text += f' With follow="ks" (--follow ks), as in the paper, it is the {adjective(d.missing)} one.'
    return text


def _simple(d: Diagnosis) -> str:
    if not d.simple:
        return ""
    majority, neighbours = d.simple["majority"], d.simple["neighbours"]
    without = neighbours["without"]
    text = (
        "What simple ways would score on the known labels, without the label of the node itself: "
        f"the most frequent class ({majority['class']}) {majority['accuracy']:.1%} of "
        f"{majority['nodes']:,} nodes; the most frequent label among a node's neighbours "
        f"{neighbours['accuracy']:.1%}"
    )
    if without:
        text += f" ({without:,} nodes have no labelled neighbour, and get the most frequent class)"
    if features := d.simple.get("features"):
        text += (
            "; a logistic regression on the features alone "
            f"{features['accuracy']:.1%} (cross-validated on {features['nodes']:,} nodes)"
        )
    return f"{text}. {worth_of_simple(d)}"


def worth_of_simple(d: Diagnosis) -> str:
    """Return what the best of the simple ways already tells; empty if none was tried."""
    if not d.simple:
        return ""
    majority, best = d.simple["majority"], d.simple["neighbours"]
    does = "the labels of the neighbours already tell"
    features = d.simple.get("features")
    if features and features["accuracy"] > best["accuracy"]:
        best, does = features, "the features alone already tell"
    share = best["accuracy"]
    error = (share * (1 - share) / best["nodes"]) ** 0.5
    if share - majority["accuracy"] <= 2 * error:
        return "So neither tells clearly more than the most frequent class."
    return f"So {does} {share:.0%}: a model is worth its cost if it tells more."
