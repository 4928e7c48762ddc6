"""The classifier over precomputed rows: the complemented convolution, further hops, messages and scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from otherhalf.nn.backbone import NORMS, Architecture, SparseLinear
from otherhalf.nn.complemented import COEFFICIENTS, MESSAGE_DROPOUT, MESSAGE_WIDTH
from otherhalf.nn.conv import Coefficients
from otherhalf.nn.ops.dropout import dropout

TERMS = ("x", "o", "t", "to")
r"""Names of :math:`\mathbf{X}, \hat{\mathbf{A}}_o\mathbf{X}, \hat{\mathbf{A}}_t\mathbf{X},
\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o\mathbf{X}`."""

SIGNS = (1.0, 1.0, -1.0, -1.0)

INPUT_DROPOUT = 0.1
"""Share of entries dropped at the input: rows of sums have no entries to spare as raw features do."""


@dataclass(frozen=True, eq=False)
class RowBatch:
    """The precomputed rows of some nodes.

    Attributes:
        terms: ``[B, D]`` each, by the names of :data:`TERMS`; those of an empty half are left out.
        hops: ``[B, D]`` each: further inputs.
        messages: ``[B, M]`` label messages, or None.
        scores: ``[B, C]`` spread scores, or None.
    """

    terms: dict[str, Tensor]
    hops: tuple[Tensor, ...] = ()
    messages: Tensor | None = None
    scores: Tensor | None = None


class _Combination(torch.autograd.Function):
    """The sum of constant matrices, each times a sign and a strength, with the gradient of the strengths."""

    @staticmethod
    def forward(ctx: Any, strengths: Tensor, signs: tuple[float, ...], *terms: Tensor) -> Tensor:
        factors = [sign * strength for sign, strength in zip(signs, strengths.tolist(), strict=True)]
        total: Tensor = factors[0] * terms[0]
        for factor, term in zip(factors[1:], terms[1:], strict=True):
            total.add_(term, alpha=factor)
        ctx.signs, ctx.dtype = signs, strengths.dtype
        ctx.save_for_backward(*terms)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        g = grads[0].contiguous().flatten()
        pairs = zip(ctx.signs, ctx.saved_tensors, strict=True)
        by_strength = torch.stack([sign * torch.dot(g, term.flatten()) for sign, term in pairs])
        return by_strength.to(ctx.dtype), None, *[None] * len(ctx.signs)


class RowNet(nn.Module):
    r"""One Complemented Graph Convolution in linear form, then a perceptron, each row by itself.

    .. math::
        \mathbf{H}_1 &= \sigma(\mathrm{norm}((\alpha\mathbf{I} + \beta\hat{\mathbf{A}}_o
        - \gamma\hat{\mathbf{A}}_t - \delta\hat{\mathbf{A}}_t\hat{\mathbf{A}}_o)\mathbf{X}\mathbf{W}
        + \mathbf{X}\mathbf{W}_0 + \textstyle\sum_j\mathbf{R}_j\mathbf{W}_j + \mathbf{b})), \quad
        \mathbf{H}_{l} = \sigma(\mathrm{norm}(\mathbf{H}_{l-1}\mathbf{W}_l + \mathbf{b}_l)) \\
        \mathbf{O} &= [\mathbf{H}_1 \| \dots \| \mathbf{H}_L \| \sigma(\mathbf{M}\mathbf{W}_m + \mathbf{b}_m)
        \| \mathbf{M}]\,\mathbf{V} + \mathbf{b} + \tau\mathbf{S}

    with R the further hops, M the standardised label messages and S the spread scores. The products with the
    halves were computed before, so a mini-batch of rows needs no other row.

    Args:
        num_features: D.
        num_classes: C.
        num_hops: Number of further hops.
        num_messages: Columns of M; 0 for none.
        architecture: Width, number of hidden layers L, dropout and norm.
        convolves: Whether the complemented convolution is among the inputs; without it only X and the hops.
        scores: Whether S is added.
        coefficients: Start of α, β, γ, δ.
        learn_coefficients: Whether training moves them.
    """

    message_mean: Tensor
    message_deviation: Tensor

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        num_hops: int,
        num_messages: int,
        architecture: Architecture,
        *,
        convolves: bool = True,
        scores: bool = True,
        coefficients: tuple[float, ...] = COEFFICIENTS,
        learn_coefficients: bool = True,
    ) -> None:
        super().__init__()
        self.reads = {
            "features": num_features,
            "classes": num_classes,
            "hops": num_hops,
            "messages": num_messages,
            "convolves": convolves,
            "scores": scores,
        }
        self.dropout, width, layers = architecture.dropout, architecture.hidden, architecture.layers
        self.num_hops, norm = num_hops, NORMS[architecture.norm]
        self.coefficients_of = Coefficients(coefficients, learn=learn_coefficients) if convolves else None
        self.inputs = SparseLinear((1 + num_hops) * num_features, width)
        self.convolution = SparseLinear(num_features, width, bias=False) if convolves else None
        self.layers = nn.ModuleList(SparseLinear(width, width) for _ in range(layers - 1))
        self.norms = nn.ModuleList(norm(width) for _ in range(layers))
        self.messages = SparseLinear(num_messages, MESSAGE_WIDTH) if num_messages else None
        read = num_messages + MESSAGE_WIDTH if num_messages else 0
        self.prediction = SparseLinear(layers * width + read, num_classes)
        self.tau = nn.Parameter(torch.ones(1)) if scores else None
        self.register_buffer("message_mean", torch.zeros(num_messages))
        self.register_buffer("message_deviation", torch.ones(num_messages))

    def standardise(self, mean: Tensor, deviation: Tensor) -> None:
        """Take the mean and the deviation of the messages of the fitted graph."""
        self.message_mean.copy_(mean)
        self.message_deviation.copy_(deviation + 1e-3)

    def convolved(self, terms: dict[str, Tensor]) -> Tensor:
        """Return the rows of (αI + βÂ_o − γÂ_t − δÂ_tÂ_o)X."""
        assert self.coefficients_of is not None
        present = [index for index, name in enumerate(TERMS) if name in terms]
        strengths = self.coefficients_of()[present]
        signs = tuple(SIGNS[index] for index in present)
        rows: Tensor = _Combination.apply(strengths, signs, *(terms[TERMS[i]] for i in present))  # type: ignore[no-untyped-call]
        return rows

    def forward(self, batch: RowBatch) -> Tensor:
        """Return the logits of the nodes of the batch."""
        p = self.dropout if self.training else 0.0
        # Apart from the convolution: the gradient of rows that nothing was learned for is not needed.
        fixed = torch.cat([batch.terms["x"], *batch.hops[: self.num_hops]], dim=1)
        h = self.inputs(dropout(fixed, INPUT_DROPOUT if self.training else 0.0))
        if self.convolution is not None:
            h = h + self.convolution(self.convolved(batch.terms))
        states = [dropout(F.relu(self.norms[0](h)), p)]
        for layer, norm in zip(self.layers, list(self.norms)[1:], strict=True):
            states.append(dropout(F.relu(norm(layer(states[-1]))), p))
        if self.messages is not None:
            if batch.messages is None:
                raise ValueError("this classifier reads label messages: give a batch with some")
            m = (batch.messages - self.message_mean) / self.message_deviation
            m = dropout(m, MESSAGE_DROPOUT if self.training else 0.0)
            states += [dropout(F.relu(self.messages(m)), p), m]
        logits: Tensor = self.prediction(torch.cat(states, dim=1))
        return logits if self.tau is None or batch.scores is None else logits + self.tau * batch.scores

    def coefficients(self) -> list[tuple[float, float, float, float]]:
        """Return α, β, γ, δ of the convolution; empty without it."""
        return [] if self.coefficients_of is None else [self.coefficients_of.values()]
