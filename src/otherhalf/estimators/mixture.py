r"""The blend of members: a temperature each, and weights by likelihood on nodes that they have not seen.

.. math::
    p(y_i) = \sum_m w_m\,p_m(y_i), \quad p_m = \mathrm{softmax}(t_m \log P_m)

:math:`t_m` is the likeliest of a few; the weights maximise the likelihood with a Dirichlet prior (EM). Where
nodes have weights, everything that is summed over nodes is a weighted sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.system.profile import timed

TEMPERATURES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
PRIOR = 10.0
"""Nodes that the prior counts for each member: few judged nodes leave the weights nearly equal."""

STEPS = 300
LEAST = 1e-6


@dataclass(frozen=True)
class Mixture:
    """Temperature and weight of each member that takes part, by name; the weights sum to 1."""

    temperatures: dict[str, float]
    weights: dict[str, float]

    def blend(self, members: Mapping[str, FloatArray]) -> FloatArray:
        """Return the ``[n, C]`` probabilities of the mixture."""
        total = np.zeros_like(next(iter(members.values())), dtype=np.float64)
        for name, weight in self.weights.items():
            total += weight * tempered(members[name], self.temperatures[name])
        return np.asarray(total / total.sum(axis=1, keepdims=True), dtype=np.float32)


def tempered(probabilities: FloatArray, temperature: float) -> FloatArray:
    """Return softmax(t log P)."""
    logs = temperature * np.log(np.maximum(probabilities, LEAST))
    scaled = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


@timed("blend")
def fit_mixture(members: Mapping[str, FloatArray], y: IntArray, nodes: FloatArray | None = None) -> Mixture:
    """Choose the members that take part, their temperatures and weights.

    It starts with the likeliest member. A further one takes part only if it raises the mean log likelihood of
    the blend by more than the standard error of that gain. If the blend is then worse than its first member
    by more than a standard error of the difference in correct nodes, that member stays alone.

    Args:
        members: ``[n, C]`` probabilities of nodes that the members have not been trained on.
        y: Their ``[n]`` class codes.
        nodes: Their ``[n]`` weights, with mean 1; default: all count the same.
    """
    nodes = np.ones(len(y), dtype=np.float32) if nodes is None else nodes
    temperatures = {name: _temperature(p, y, nodes) for name, p in members.items()}
    at_label = {name: _at_label(p, y, temperatures[name]) for name, p in members.items()}
    best = max(members, key=lambda name: float((nodes * np.log(at_label[name])).mean()))
    chosen = [best]
    while len(chosen) < len(members):
        tried = []
        for name in members:
            if name not in chosen:
                gain = _gain(at_label, chosen, name, nodes)
                tried.append((float(gain.mean()) - _standard_error(gain), name))
        margin, name = max(tried)
        if margin <= 0:
            break
        chosen.append(name)
    columns = np.stack([at_label[each] for each in chosen], axis=1)
    weights = dict(zip(chosen, _weights(columns, nodes).tolist(), strict=True))
    mixture = Mixture({name: temperatures[name] for name in chosen}, weights)
    if len(chosen) > 1 and _loses(mixture.blend(members), members[best], y, nodes):
        return Mixture({best: temperatures[best]}, {best: 1.0})
    return mixture


def _gain(at_label: Mapping[str, FloatArray], chosen: list[str], name: str, nodes: FloatArray) -> FloatArray:
    """Return the gain in log likelihood of each node when ``name`` joins the chosen members."""
    logs = []
    for names in (chosen, [*chosen, name]):
        columns = np.stack([at_label[each] for each in names], axis=1)
        logs.append(np.log(columns @ _weights(columns, nodes)))
    return np.asarray(nodes * (logs[1] - logs[0]))


def _at_label(probabilities: FloatArray, y: IntArray, temperature: float) -> FloatArray:
    """Return the tempered probability of the true class of each node."""
    return np.maximum(tempered(probabilities, temperature)[np.arange(len(y)), y], LEAST)


def _loses(blend: FloatArray, best: FloatArray, y: IntArray, nodes: FloatArray) -> bool:
    """Whether the blend has fewer correct nodes than the best member, by more than a standard error."""
    difference = nodes * ((blend.argmax(axis=1) == y).astype(float) - (best.argmax(axis=1) == y))
    return float(difference.mean()) < -_standard_error(difference)


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def _temperature(probabilities: FloatArray, y: IntArray, nodes: FloatArray) -> float:
    return max(TEMPERATURES, key=lambda t: float((nodes * np.log(_at_label(probabilities, y, t))).mean()))


def _weights(at_label: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return the weights of ``[n, M]`` probabilities of the true class, by EM."""
    count = at_label.shape[1]
    weights = np.full(count, 1 / count)
    for _ in range(STEPS):
        shares = at_label * weights
        shares /= shares.sum(axis=1, keepdims=True)
        weights = (nodes[:, None] * shares).sum(axis=0) + PRIOR
        weights /= weights.sum()
    return weights
