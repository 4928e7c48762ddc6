"""Two sparse products in a row with what is added between them, in as few passes over memory as possible."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from otherhalf.nn.ops.compiled import Int32s, compiled, over_rows
from otherhalf.nn.ops.kernels import Floats, add_rows
from otherhalf.nn.ops.products import add_product, arrays_of, is_compiled
from otherhalf.nn.ops.sparse import SparseOperator

ROWS = 64
"""Rows of a block: those of its matrices, 16 kB each if they are 64 wide, stay in the cache."""

Pair = tuple[float, float]


def chained(
    first: SparseOperator,
    second: SparseOperator,
    x: Tensor,
    outer: Pair,
    inner: Pair,
    *,
    keep: bool = False,
    against: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor | None, list[float]]:
    r"""Return :math:`a_1\mathbf{X} + a_2\mathbf{P} + \mathbf{M}_2(b_1\mathbf{X} + b_2\mathbf{P})` with
    :math:`\mathbf{P} = \mathbf{M}_1\mathbf{X}`; P; and four dot products. Without a gradient.

    A product whose factors are all 0 is not computed, unless P is wanted.

    Args:
        first: M₁.
        second: M₂.
        x: X.
        outer: a₁ and a₂.
        inner: b₁ and b₂.
        keep: Whether P is returned.
        against: U and V: then ⟨X, U⟩, ⟨X, V⟩, ⟨P, U⟩ and ⟨P, V⟩ are returned too.
    """
    size = (len(x), len(x))
    if x.dim() != 2 or first.shape != size or second.shape != size:  # compiled code would read out of bounds
        raise ValueError(f"matrices of {first.shape} and {second.shape} do not go with {tuple(x.shape)}")
    if against is not None and any(each.shape != x.shape for each in against):
        raise ValueError(f"dot products need matrices of {tuple(x.shape)}")
    x = x.detach().contiguous()
    wanted = keep or against is not None or bool(outer[1] or inner[1])
    follows = bool(inner[0] or inner[1])
    if wanted and follows and is_compiled((first.matrix, second.matrix), x):
        return _compiled(first, second, x, (*outer, *inner), keep, against)
    p = first @ x if wanted else None
    result = outer[0] * x
    if p is not None:
        result.add_(p, alpha=outer[1])
    if follows:
        between = inner[0] * x
        if p is not None:
            between.add_(p, alpha=inner[1])
        result.add_(second @ between)
    dots = []
    if against is not None and p is not None:
        dots = [float(torch.vdot(a.flatten(), b.flatten())) for a in (x, p) for b in against]
    return result, p if keep else None, dots


def _compiled(
    first: SparseOperator,
    second: SparseOperator,
    x: Tensor,
    factors: tuple[float, ...],
    keep: bool,
    against: tuple[Tensor, Tensor] | None,
) -> tuple[Tensor, Tensor | None, list[float]]:
    nothing = x.new_empty(0, x.shape[1])
    result, between, p = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x) if keep else nothing
    u, v = (nothing, nothing) if against is None else (each.contiguous() for each in against)
    assert isinstance(first.matrix, Tensor)
    arrays = arrays_of(first.matrix)
    assert arrays is not None
    crow, col, values = arrays
    sums = np.zeros((len(x) if against is not None else 0, 4))
    over_rows(
        multiply_and_mix,
        crow,
        x.shape[1],
        col,
        values,
        *(each.numpy() for each in (x, result, between, p)),
        np.array(factors, dtype=np.float32),
        u.numpy(),
        v.numpy(),
        sums,
    )
    assert isinstance(second.matrix, Tensor)
    add_product(second.matrix, between, result, reset=False)
    return result, p if keep else None, sums.sum(axis=0).tolist() if against is not None else []


@compiled("void(f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], f8[::1], i8, i8)", reorder=True)
def add_dots(
    x: Floats, p: Floats, u: Floats, v: Floats, sums: npt.NDArray[np.float64], first: int, last: int
) -> None:
    """Add the part of the rows ``first`` … ``last`` − 1 to ⟨X, U⟩, ⟨X, V⟩, ⟨P, U⟩ and ⟨P, V⟩."""
    a, b = x[first:last].reshape(-1), p[first:last].reshape(-1)
    c, d = u[first:last].reshape(-1), v[first:last].reshape(-1)
    of_ac = of_ad = of_bc = of_bd = np.float32(0.0)
    for i in range(len(a)):
        of_ac += a[i] * c[i]
        of_ad += a[i] * d[i]
        of_bc += b[i] * c[i]
        of_bd += b[i] * d[i]
    sums[0] += of_ac
    sums[1] += of_ad
    sums[2] += of_bc
    sums[3] += of_bd


@compiled(
    "void(i4[::1], i4[::1], f4[::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[::1], f4[:, ::1],"
    "f4[:, ::1], f8[:, ::1], i8, i8)"
)
def multiply_and_mix(
    crow: Int32s,
    col: Int32s,
    values: Floats,
    x: Floats,
    result: Floats,
    between: Floats,
    kept: Floats,
    factors: Floats,
    u: Floats,
    v: Floats,
    sums: npt.NDArray[np.float64],
    first: int,
    last: int,
) -> None:
    """Compute the rows ``first`` … ``last`` − 1 of P = M X, of a₁X + a₂P and of b₁X + b₂P.

    P is kept if ``kept`` has rows. If ``sums`` has rows, its row ``first``, which no other thread writes,
    gets these rows' share of ⟨X, U⟩, ⟨X, V⟩, ⟨P, U⟩ and ⟨P, V⟩.
    """
    width = x.shape[1]
    a1, a2, b1, b2 = factors
    for top in range(first, last, ROWS):
        end = min(top + ROWS, last)
        add_rows(crow, col, values, x, between, True, top, end)
        if sums.shape[0]:
            add_dots(x, between, u, v, sums[first], top, end)
        for i in range(top, end):
            p, a, mixed = between[i], x[i], result[i]
            if kept.shape[0]:
                copy = kept[i]
                for j in range(width):
                    copy[j] = p[j]
            for j in range(width):
                product = p[j]
                mixed[j] = a1 * a[j] + a2 * product
                p[j] = b1 * a[j] + b2 * product
