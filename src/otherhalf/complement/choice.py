r"""The choice of the kernels that join nodes: by leave-one-out, with its exact gradient.

The parameters of the mixture (weights, sharpness, ridge λ, temperature t) minimise the cross-entropy of
:math:`t\,\mathbf{R}` on training nodes, with R the leave-one-out scores of :mod:`otherhalf.complement.ridge`:

.. math::
    \mathbf{R} = \mathbf{Y} - \mathbf{B} / \mathbf{g}, \quad \mathbf{g} = \mathrm{diag}(\mathbf{G}), \quad
    \mathbf{B} = \mathbf{G}\mathbf{Y}, \quad \mathbf{G} = (\mathbf{K} + \lambda\mathbf{I})^{-1}

With :math:`\partial\mathbf{R}` the gradient by R, that by the kernel is

.. math::
    \partial\mathbf{K} = \mathbf{G}(\partial\mathbf{R} / \mathbf{g})\mathbf{B}^T
    - \mathbf{G}\,\mathrm{diag}(\langle\partial\mathbf{R}, \mathbf{B}\rangle / \mathbf{g}^2)\,\mathbf{G}
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from otherhalf.complement.descriptions import MAGNITUDE_WORDS, Descriptions
from otherhalf.complement.kernels import Kernel, cosines, mixture_block
from otherhalf.complement.ridge import centred, fit_ridge, inverse_of
from otherhalf.complement.settings import KernelSettings
from otherhalf.nn.ops.dense import dense_product
from otherhalf.system.arrays import IntArray
from otherhalf.system.profile import timed
from otherhalf.training.loop import SILENT, Monitor
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision

FIRST_NODES, FIRST_STEPS = 600, 12
"""All descriptions are tried on this many training nodes and steps; the heaviest go on."""

KEPT_KERNELS = 6
VAL_NODES = 2000
"""Most validation nodes that a choice looks at; more are sampled."""

LEAST_RIDGE = 0.01
"""A smaller λ would be lost in the rounding of single precision with ten thousand training nodes."""

SINGLE_RIDGES = (0.1, 1.0)
"""λ that single kernels are tried with."""

LEARNING_RATE = 0.2
PRIOR = 0.3
"""Strength of the pull to the start values, in training nodes: it matters where there are few of them."""

LEAST_WEIGHT = 0.02
"""Kernels with less weight are left out."""

GAIN = 0.5
"""A single kernel is chosen instead of the mixture only if its quality is better by this much (percent)."""

START = {"sharpness": 2.0, "features": 0.3, "neighbours": 0.3, "ridge": 0.3, "temperature": 6.0}


@dataclass(frozen=True)
class Choice:
    """The chosen mixture of kernels, its ridge, and its quality (percent) on leave-one-out and validation."""

    kernels: tuple[Kernel, ...]
    ridge: float
    quality: float = float("nan")


@timed("choice of kernels")
def choose_kernels(descriptions: Descriptions, settings: KernelSettings, supervision: Supervision) -> Choice:
    """Return the mixture whose ridge regression predicts labels best that it has not seen.

    The mixture is learned by leave-one-out. It is kept unless the best single kernel predicts training nodes
    left out and validation nodes better by more than :data:`GAIN`.

    Args:
        descriptions: The nodes; only labels of train and val nodes are read.
        settings: Number of training nodes and steps to learn with.
        supervision: Split, seed, metric and monitor.
    """
    split, draw = supervision.split, np.random.default_rng(supervision.seed)
    few, some = _sample(split.train, FIRST_NODES, draw), _sample(split.train, settings.nodes, draw)
    val, monitor = _sample(split.val, VAL_NODES, draw), supervision.monitor
    descriptions = descriptions.only(np.concatenate([few, some, val]))
    first = KernelLearner(descriptions, descriptions.names, few)
    first.learn(FIRST_STEPS, monitor)
    second = KernelLearner(descriptions, first.heaviest(KEPT_KERNELS), some)
    second.start_from(first)
    second.learn(settings.steps, monitor)
    judge = _Judge(descriptions, few, val, supervision.metric)
    singles = (judge.best((Kernel(name),), SINGLE_RIDGES) for name in descriptions.names)
    single = max(singles, key=lambda choice: choice.quality)
    judge = _Judge(descriptions, some, val, supervision.metric)
    mixture, single = (judge.best(c.kernels, (c.ridge,)) for c in (second.choice(), single))
    return single if single.quality > mixture.quality + GAIN else mixture


class KernelLearner:
    """Learns a mixture of kernels on a sample of training nodes.

    Only pairs i ≤ j are kept in memory: kernels are symmetric.

    Args:
        descriptions: The nodes.
        names: One kernel for each of these descriptions.
        nodes: The training nodes to learn from.
    """

    def __init__(self, descriptions: Descriptions, names: Sequence[str], nodes: IntArray) -> None:
        graph = descriptions.graph
        self.names, self.count = list(names), len(nodes)
        self.upper = torch.triu_indices(self.count, self.count)
        near = [cosines(descriptions, name, nodes, nodes)[tuple(self.upper)] for name in names]
        self.distances = [[1 - each for each in near]]
        for name in MAGNITUDE_WORDS:
            m = torch.from_numpy(descriptions.magnitude(name, nodes))
            apart = (m[self.upper[0]] - m[self.upper[1]]).square_()
            self.distances.append([apart] * len(near))
        self.codes = torch.from_numpy(graph.y[nodes])
        self.targets = centred(self.codes, graph.num_classes)
        factors = torch.tensor([START[name] for name in ("sharpness", *MAGNITUDE_WORDS)]).log()
        self.start = {
            "factors": factors[:, None].repeat(1, len(near)),
            "weights": torch.zeros(len(near)),
            "ridge": torch.tensor(START["ridge"]).log(),
            "temperature": torch.tensor(START["temperature"]).log(),
        }
        self.parameters = {name: value.clone() for name, value in self.start.items()}

    def start_from(self, other: "KernelLearner") -> None:
        """Begin with the parameters of another learner, for the kernels that it also has."""
        places = [other.names.index(name) for name in self.names]
        self.parameters["factors"] = other.parameters["factors"][:, places].clone()
        self.parameters["weights"] = other.parameters["weights"][places].clone()
        for name in ("ridge", "temperature"):
            self.parameters[name] = other.parameters[name].clone()

    def learn(self, steps: int, monitor: Monitor = SILENT) -> list[float]:
        """Take this many steps of Adam; return the loss before each."""
        # Written out: torch.optim.Adam imports the compiler, which takes longer than the steps.
        losses = []
        moments = {n: (torch.zeros_like(p), torch.zeros_like(p)) for n, p in self.parameters.items()}
        for step in range(1, steps + 1):
            loss, gradients = self.loss_and_gradients()
            losses.append(loss)
            monitor.report("kernels", step, steps)
            for name, gradient in gradients.items():
                first, second = moments[name]
                first.mul_(0.9).add_(gradient, alpha=0.1)
                second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
                scale = (second / (1 - 0.999**step)).sqrt_().add_(1e-8)
                self.parameters[name] -= LEARNING_RATE * (first / (1 - 0.9**step)) / scale
            self.parameters["ridge"].clamp_(min=float(np.log(LEAST_RIDGE)))
        return losses

    def loss_and_gradients(self) -> tuple[float, dict[str, Tensor]]:
        """Return the leave-one-out cross-entropy with its prior, and its gradient by every parameter."""
        n, values = self.count, self.parameters
        factors, shares = values["factors"].exp(), torch.softmax(values["weights"], dim=0)
        ridge, temperature = float(values["ridge"].exp()), float(values["temperature"].exp())
        parts = [self._kernel(index, factors[:, index]) for index in range(len(self.names))]
        kernel = torch.empty(n, n)
        mixed = sum(float(share) * part for share, part in zip(shares, parts, strict=True))
        kernel[tuple(self.upper)] = kernel.T[tuple(self.upper)] = mixed
        inverse, _ = inverse_of(kernel, ridge)
        dual, diagonal = inverse @ self.targets, inverse.diagonal()
        left_out = self.targets - dual / diagonal[:, None]
        loss = float(F.cross_entropy(temperature * left_out, self.codes))
        slope = torch.softmax(temperature * left_out, dim=1)
        slope[torch.arange(n), self.codes] -= 1
        slope /= n
        by_temperature = float((slope * left_out).sum()) * temperature
        slope *= temperature
        own = (slope * dual).sum(dim=1) / diagonal.square()
        by_kernel = (inverse @ (slope / diagonal[:, None])) @ dual.T
        by_kernel -= dense_product(inverse, own[:, None] * inverse)
        by_ridge = by_kernel.diagonal().sum() * ridge
        by_kernel.diagonal().mul_(0.5)  # the sum below counts the diagonal twice
        pairs = by_kernel[tuple(self.upper)] + by_kernel.T[tuple(self.upper)]
        by_share, by_factor = torch.empty(len(parts)), torch.empty_like(factors)
        for index, part in enumerate(parts):
            product = pairs * part
            by_share[index] = product.sum()
            for row, distances in enumerate(self.distances):
                by_factor[row, index] = -shares[index] * torch.dot(product, distances[index])
        gradients = {
            "factors": by_factor * factors,
            "weights": shares * (by_share - (shares * by_share).sum()),
            "ridge": by_ridge,
            "temperature": torch.tensor(by_temperature),
        }
        for name in ("factors", "weights"):
            away = values[name] - self.start[name]
            loss += PRIOR / n * float(away.square().sum())
            gradients[name] = gradients[name] + 2 * PRIOR / n * away
        return loss, gradients

    def _kernel(self, index: int, factors: Tensor) -> Tensor:
        exponent = torch.zeros_like(self.distances[0][index])
        for factor, distances in zip(factors.tolist(), self.distances, strict=True):
            exponent.add_(distances[index], alpha=-factor)
        return exponent.exp_()

    def heaviest(self, most: int) -> list[str]:
        """Return the descriptions of the heaviest kernels, heaviest first."""
        order = torch.argsort(self.parameters["weights"], descending=True, stable=True)
        return [self.names[index] for index in order[:most].tolist()]

    def choice(self) -> Choice:
        """Return the mixture without its lightest kernels."""
        shares = torch.softmax(self.parameters["weights"], dim=0)
        shares = torch.where(shares < LEAST_WEIGHT, 0.0, shares)
        parts = (shares / shares.sum()).tolist(), self.parameters["factors"].exp().T.tolist()
        kernels = (Kernel(name, w, *f) for name, w, f in zip(self.names, *parts, strict=True) if w)
        ordered = sorted(kernels, key=lambda kernel: -kernel.weight)
        return Choice(tuple(ordered), float(self.parameters["ridge"].exp()))


class _Judge:
    """Quality of mixtures on a sample of train and val nodes: 100 · metric − 20 · squared error."""

    def __init__(self, descriptions: Descriptions, train: IntArray, val: IntArray, metric: str) -> None:
        self.descriptions, self.train, self.rows = descriptions, train, np.concatenate([train, val])
        self.y = descriptions.graph.y[self.rows]
        self.truth = centred(torch.from_numpy(self.y), descriptions.graph.num_classes)
        self.metric = metric_named(metric)

    def best(self, kernels: tuple[Kernel, ...], ridges: Sequence[float]) -> Choice:
        """Return the mixture with the best of these ridges, and its quality."""
        kernel = mixture_block(kernels, self.descriptions, self.rows, self.train)
        choices = [Choice(kernels, ridge, self._quality(kernel, ridge)) for ridge in ridges]
        return max(choices, key=lambda choice: choice.quality)

    def _quality(self, kernel: Tensor, ridge: float) -> float:
        n = len(self.train)
        fitted = fit_ridge(kernel[:n], self.truth[:n], ridge)
        scores = dense_product(kernel, fitted.dual)
        scores[:n] -= fitted.own
        error = float((scores - self.truth).square().sum(dim=1).mean())
        parts = [slice(0, n), slice(n, None)]
        values = np.array([self.metric.quality_of_logits(scores[p].numpy(), self.y[p]) for p in parts])
        shares = np.array([n, len(self.y) - n])
        # A sample may lack a class that the metric needs; the other part then decides alone.
        defined = np.isfinite(values)
        value = float(np.average(values[defined], weights=shares[defined])) if defined.any() else 0.0
        return 100 * value - 20 * error


def _sample(nodes: IntArray, most: int, draw: np.random.Generator) -> IntArray:
    return np.array(nodes) if len(nodes) <= most else np.sort(draw.choice(nodes, most, replace=False))
