"""Which half a graph has: the verdict of the paper, which needs no labels, and that of known labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from otherhalf.diagnosis import homophily
from otherhalf.diagnosis.duplicates import find_duplicates
from otherhalf.diagnosis.homophily import Interval, label_tendency
from otherhalf.diagnosis.memory import diagnosis_need
from otherhalf.diagnosis.sentences import explain
from otherhalf.diagnosis.separation import class_separation
from otherhalf.diagnosis.similarity import (
    Cosine,
    blocks,
    cosine_counts,
    densities,
    ks_error,
    ks_statistic,
    mean_cosine,
    random_pairs,
    sampled_edges,
)
from otherhalf.diagnosis.simple import simple_scores
from otherhalf.diagnosis.units import UnitFree
from otherhalf.diagnosis.verdict_html import diagnosis_html
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.arrays import UNKNOWN, IntArray
from otherhalf.system.graph_checks import checked_indices
from otherhalf.system.profile import timed
from otherhalf.system.seeds import generator

Values = npt.NDArray[np.float64]

KS_THRESHOLD = 0.2
"""Section 4.1: a graph with a larger K-S statistic is homophily-prone."""

MIN_EDGES = 100
"""With fewer edges, D exceeds the paper's threshold by chance.

The K-S statistic of two samples of size E from one distribution is above 1.36·√(2/E) in one case of twenty;
that is 0.19 for 100.
"""

MOST_EDGES = 2_000_000
"""Above so many edges, a uniform sample of so many is compared: the standard error of D is then below 0.0004
for the edges, less than the spread of the random pairs, and the time no longer grows with the edges."""

BINS = 50
FOLLOW = ("ks", "labels", "homophily", "heterophily")


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The result of :func:`diagnose`: ``print`` gives sentences, :meth:`to_dict` values.

    A measure is None where it is undefined: no labels, no edge with both labels known, or one class.
    ``unlabelled`` counts the nodes whose label is unknown or was hidden. ``bin_edges`` [51], ``connected``
    [50] and ``random`` [50] are the two cosine distributions, as densities (area 1); the random one is that
    of all draws together. ``duplicates`` has, for each way in which nodes can be identical
    (:func:`~otherhalf.diagnosis.duplicates.find_duplicates`), the number of ``groups`` of identical nodes and
    of the ``nodes`` in them; it is empty in a model file written before these were counted.

    ``scaling`` says how the features were freed of units before cosines were taken
    (:class:`~otherhalf.diagnosis.units.UnitFree`). ``doubt`` says why D means nothing or little; it is empty
    where D can mean something. ``separation`` is how far the features tell the known classes apart
    (:func:`~otherhalf.diagnosis.separation.class_separation`). ``simple`` has what simple ways would score on
    the known labels (:func:`~otherhalf.diagnosis.simple.simple_scores`); it is empty if that was not wanted.

    ``compared`` is the number of edges whose cosines D is of: all, or a sample of :data:`MOST_EDGES`.
    ``ks_error`` is the standard error of D (:func:`~otherhalf.diagnosis.similarity.ks_error`): by the random
    pairs, and by the sample of edges if there is one. Both are None in a model file written before.
    """

    ks: float
    ks_std: float
    tendency: str
    threshold: float = field(repr=False)
    ks_draws: tuple[float, ...] = field(repr=False)
    edge_homophily: float | None
    node_homophily: float | None = field(repr=False)
    class_insensitive_homophily: float | None = field(repr=False)
    adjusted_homophily: float | None
    label_informativeness: float | None
    intervals: Mapping[str, Interval | None] = field(repr=False)
    label_tendency: str | None
    mean_connected: float = field(repr=False)
    mean_random: float = field(repr=False)
    bin_edges: Values = field(repr=False)
    connected: Values = field(repr=False)
    random: Values = field(repr=False)
    name: str = field(repr=False)
    nodes: int = field(repr=False)
    edges: int = field(repr=False)
    classes: int = field(repr=False)
    features: int = field(repr=False)
    directed: bool = field(repr=False)
    isolated: int = field(repr=False)
    unlabelled: int = field(repr=False)
    dropped_self_loops: int = field(repr=False)
    dropped_repeats: int = field(repr=False)
    duplicates: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    scaling: str = field(default="none", repr=False)
    doubt: str = field(default="", repr=False)
    separation: float | None = field(default=None, repr=False)
    simple: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    compared: int | None = field(default=None, repr=False)
    ks_error: float | None = field(default=None, repr=False)

    @property
    def sampled(self) -> bool:
        """Whether D is of a sample of the edges; all other measures are of all edges."""
        return self.compared is not None and self.compared < self.edges

    @property
    def missing(self) -> str:
        """The kind of half that is missing, by the K-S verdict."""
        return opposite(self.tendency)

    @property
    def contradiction(self) -> bool:
        """Whether the labels have a verdict, and it is not that of the K-S statistic."""
        return self.label_tendency in ("homophily", "heterophily") and self.label_tendency != self.tendency

    def follow(self, which: str) -> str:
        """Return the tendency to use.

        Args:
            which: ``"ks"`` for the K-S verdict; ``"labels"`` for that of the labels or, if they have none,
                the K-S verdict; ``"homophily"`` or ``"heterophily"`` to override both.
        """
        if which not in FOLLOW:
            raise InputError(f"follow={which!r} is not known: choose one of {', '.join(FOLLOW)}")
        if which in ("homophily", "heterophily"):
            return which
        if which == "labels" and self.label_tendency in ("homophily", "heterophily"):
            return str(self.label_tendency)
        return self.tendency

    def missing_kind(self, which: str) -> str:
        """Return the kind of half to find: the opposite of the tendency that :meth:`follow` gives.

        Following the labels, it is ``both`` where they show neither tendency.
        """
        if which == "labels" and self.label_tendency == "undecided":
            return "both"
        return opposite(self.follow(which))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the two distributions, in Python types that JSON has.

        ``duplicates`` is as in :meth:`otherhalf.diagnosis.duplicate_audit.DuplicateAudit.to_dict`, without
        the numbers that need a split.
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for distribution in ("bin_edges", "connected", "random"):
            del values[distribution]
        values["ks_draws"] = list(self.ks_draws)
        values["intervals"] = {key: bounds and list(bounds) for key, bounds in self.intervals.items()}
        values["duplicates"] = {"split": None, "kinds": {k: dict(v) for k, v in self.duplicates.items()}}
        values["simple"] = {way: dict(score) for way, score in self.simple.items()}
        return values | {"missing": self.missing, "contradiction": self.contradiction}

    def explanation(self) -> str:
        """Return the diagnosis in a few lines of sentences."""
        return explain(self)

    __str__ = explanation

    def _repr_html_(self) -> str:
        return diagnosis_html(self)


@timed("diagnosis")
def diagnose(
    graph: Graph,
    *,
    nodes: Any = None,
    seed: int = 0,
    draws: int = 10,
    threshold: float = KS_THRESHOLD,
    simple: bool = True,
) -> Diagnosis:
    r"""Decide whether a graph mostly connects similar nodes (Graph Discrimination, Section 4.1).

    .. math:: D = \frac{1}{T} \sum_{t=1}^{T} \mathrm{KS}(\mathbf{d}_1, \mathbf{d}_2^{(t)}), \qquad
              \mathbf{d}_1 = \{\cos(v_i, v_j) : (v_i, v_j) \in \mathcal{E}\}

    :math:`\mathbf{d}_1`: the cosine similarities of all connected pairs; :math:`\mathbf{d}_2^{(t)}`: those of
    as many uniform random pairs, drawn T times. D above ``threshold`` means homophily-prone. Edge direction
    is not used. Of more than :data:`MOST_EDGES` edges, a uniform sample of so many stands for all. Columns of
    numbers are scaled before (:class:`~otherhalf.diagnosis.units.UnitFree`), so that their units do not
    matter; sparse features, bags of words and 0/1 columns are taken as they are.

    Known labels have a verdict too: the homophily measures use the edges with both labels known, and adjusted
    homophily decides (:func:`homophily.label_tendency`). Its 95 % interval treats edges as independent
    (:func:`homophily.intervals`).

    Args:
        graph: The graph.
        nodes: Indices or mask of the only nodes whose labels may be used; default: all.
        seed: Seed of the random pairs and the bootstrap.
        draws: T, at least 2.
        threshold: D above this means homophily.
        simple: Whether to estimate what simple ways would score, which takes up to a few seconds.
    """
    if draws < 2:
        raise InputError(f"draws must be ≥ 2, to measure the spread of D, not {draws}")
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold must be from 0 to 1, the range of the K-S statistic, not {threshold}")
    diagnosis_need(graph, min(graph.num_edges, MOST_EDGES)).check()
    pairs_rng, bootstrap_rng, separation_rng, simple_rng, edges_rng = generator(seed).spawn(5)
    edges = graph.undirected_edges
    compared = sampled_edges(edges, MOST_EDGES, edges_rng)
    features = UnitFree.of(graph.x)
    cosine = Cosine(features.x, compared.shape[1] * (draws + 1))
    connected = cosine_counts(cosine, blocks(compared))
    random = np.zeros_like(connected)
    statistics = []
    for _ in range(draws):
        sample = cosine_counts(cosine, random_pairs(graph.num_nodes, compared.shape[1], pairs_rng))
        statistics.append(ks_statistic(connected, sample))
        random += sample
    ks = float(np.mean(statistics))

    y = _visible_labels(graph, nodes)
    bounds = homophily.intervals(edges, y, bootstrap_rng)
    middle = len(connected) // 2
    low = -1 if connected[:middle].any() or random[:middle].any() else 0
    return Diagnosis(
        ks=ks,
        ks_std=float(np.std(statistics, ddof=1)),
        ks_draws=tuple(statistics),
        threshold=float(threshold),
        tendency="homophily" if ks > threshold else "heterophily",
        edge_homophily=homophily.edge_homophily(edges, y),
        node_homophily=homophily.node_homophily(edges, y),
        class_insensitive_homophily=homophily.class_insensitive_homophily(edges, y),
        adjusted_homophily=homophily.adjusted_homophily(edges, y),
        label_informativeness=homophily.label_informativeness(edges, y),
        intervals=bounds,
        label_tendency=label_tendency(bounds["adjusted_homophily"], edges, y),
        mean_connected=mean_cosine(connected),
        mean_random=mean_cosine(random),
        bin_edges=np.linspace(low, 1, BINS + 1),
        connected=densities(connected, low, BINS),
        random=densities(random, low, BINS),
        name=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        classes=graph.num_classes,
        features=graph.num_features,
        directed=bool(graph.directed),
        isolated=len(graph.isolated),
        unlabelled=int((y == UNKNOWN).sum()),
        dropped_self_loops=graph.dropped_self_loops,
        dropped_repeats=graph.dropped_repeats,
        duplicates=find_duplicates(graph).to_dict(),
        scaling=features.scaling,
        doubt=_doubt(features, connected + random, edges.shape[1]),
        separation=class_separation(cosine, y, separation_rng),
        simple=simple_scores(graph, features, y, simple_rng) if simple else {},
        compared=compared.shape[1],
        ks_error=ks_error(connected, random, edges.shape[1]),
    )


def _visible_labels(graph: Graph, nodes: Any) -> npt.NDArray[np.int64]:
    """Return the labels of ``nodes``, and UNKNOWN for all other nodes."""
    if nodes is None:
        return graph.y
    chosen = checked_indices("nodes", nodes)
    if len(chosen) and chosen.max() >= graph.num_nodes:
        raise InputError(
            f"nodes names node {chosen.max()}, but the graph has {graph.num_nodes} nodes (0 … N−1): "
            "give nodes of this graph"
        )
    y = np.full_like(graph.y, UNKNOWN)
    y[chosen] = graph.y[chosen]
    return y


def _doubt(features: UnitFree, cosines: IntArray, edges: int) -> str:
    """Return the sentence that says why D means nothing, or little; empty where it can mean something."""
    columns = features.used_columns()
    if columns == 0:  # a graph made without features has a column of ones
        return "D means nothing here: no feature column varies."
    if np.count_nonzero(cosines) == 1:
        return f"D means nothing here: every pair has the cosine {mean_cosine(cosines):.3f}."
    if columns == 1:
        return "D means little here: only one feature column varies, so every cosine is −1, 0 or 1."
    if edges < MIN_EDGES:
        chance = min(1.0, 1.36 * (2 / edges) ** 0.5)
        return f"D means little here: with {edges} edges, chance alone can bring it to {chance:.2f}."
    return ""


def opposite(tendency: str) -> str:
    """Return the kind of half that a graph of this tendency lacks."""
    return "heterophily" if tendency == "homophily" else "homophily"
