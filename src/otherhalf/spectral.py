"""The spectrum of I + Â_tÂ_o (Appendix A), and how linear filters do at a given homophily (Appendix B)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh

from otherhalf.complement.encoder import class_probabilities, fit_supervised
from otherhalf.complement.missing_half import check_trainable
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling, node_inputs
from otherhalf.nn.models.linear_filter import LinearFilterNetwork
from otherhalf.nn.ops.sparse import normalized_adjacency
from otherhalf.system.graph_checks import UNKNOWN
from otherhalf.system.seeds import generator
from otherhalf.training.loop import TrainingSettings, seeded

Vector = npt.NDArray[Any]

DENSE_NODES = 200
"""Up to so many nodes all eigenvalues are computed densely: ARPACK has no room to work on tiny graphs."""

TOLERANCE = 1e-9
"""What ARPACK is asked for, relative to eigenvalues of size 1 to 3."""

ATTEMPTS = ((40, 1_000), (120, 1_000), (360, 500))
"""(Krylov vectors, restarts at most): more vectors where fewer did not converge."""

NORMALIZATIONS = ("symmetric", "row")

ZERO = 1e-6
"""An eigenvalue below this counts as 0: far above what the solvers leave, far below what a table shows."""


@dataclass(frozen=True)
class SpectralRange:
    r"""Where the spectrum of M = I + Â_tÂ_o begins and ends.

    A product of two symmetric matrices is in general not symmetric, so three ranges have to be told apart:

    - the eigenvalues of M itself, which may be complex: those of smallest and of largest real part;
    - the eigenvalues of its symmetric part, I + ½(Â_tÂ_o + Â_oÂ_t): the range of xᵀMx over unit vectors.
      "Positive semi-definite" is a statement about these;
    - the bounds 1 ± σ from the norm σ = ‖Â_tÂ_o‖₂.

    Each lies within the next:

    .. math::
        1 - \sigma \le \lambda_{min}(sym) \le \mathrm{Re}\,\lambda(\mathbf{M})
        \le \lambda_{max}(sym) \le 1 + \sigma

    With the symmetric normalisation ‖Â‖₂ ≤ 1, so that σ ≤ 1 and all of it lies in [0, 2].

    A residual r says that λ is an eigenvalue of a matrix within r of M. For the symmetric part it follows
    that an eigenvalue lies within r of λ; for M, which is not normal, it does not.

    Attributes:
        smallest: The eigenvalue of M with the smallest real part. Of a conjugate pair the one with
            imaginary part ≥ 0 is given; of several with this real part, one.
        largest: The same for the largest real part.
        smallest_residual: ‖Mv − λv‖ of the unit eigenvector found with ``smallest``.
        largest_residual: The same for ``largest``.
        symmetric_smallest: The smallest eigenvalue of the symmetric part.
        symmetric_largest: Its largest.
        symmetric_residual: The larger of the residuals of these two.
        norm: σ.
    """

    smallest: complex
    largest: complex
    smallest_residual: float
    largest_residual: float
    symmetric_smallest: float
    symmetric_largest: float
    symmetric_residual: float
    norm: float

    @property
    def real_range(self) -> tuple[float, float]:
        """The smallest and the largest real part of an eigenvalue of M."""
        return self.smallest.real, self.largest.real

    @property
    def symmetric_range(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue of the symmetric part of M."""
        return self.symmetric_smallest, self.symmetric_largest

    @property
    def bounds(self) -> tuple[float, float]:
        """1 − σ and 1 + σ, between which the other two ranges lie."""
        return 1 - self.norm, 1 + self.norm

    @property
    def positive_definite(self) -> bool:
        """Whether xᵀMx > 0 for all x ≠ 0.

        If so, M is invertible, and H = 0 is the only solution of (I + Â_tÂ_o)H = 0. If not, then with the
        symmetric normalisation M has the eigenvalue 0.
        """
        return self.symmetric_smallest > ZERO

    @property
    def positive_semidefinite(self) -> bool:
        """Whether xᵀMx ≥ 0 for all x; with the symmetric normalisation it always is."""
        return self.symmetric_smallest > -ZERO

    @property
    def complex_ends(self) -> bool:
        """Whether one of the two eigenvalues of M is not real."""
        return max(abs(self.smallest.imag), abs(self.largest.imag)) > ZERO

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold; a complex number as [real, imaginary]."""
        values = asdict(self)
        for key in ("smallest", "largest"):
            values[key] = [values[key].real, values[key].imag]
        definite = ("positive_definite", "positive_semidefinite")
        return values | {key: getattr(self, key) for key in definite}


def spectral_range(
    homophilic: sp.spmatrix,
    heterophilic: sp.spmatrix,
    *,
    seed: int = 0,
    normalization: str = "symmetric",
) -> SpectralRange:
    r"""The range of the spectrum of I + Â_tÂ_o (Appendix A).

    .. math:: \mathbf{M} = \mathbf{I} + \hat{\mathbf{A}}_t\hat{\mathbf{A}}_o, \qquad
              \hat{\mathbf{A}} = \mathbf{D}^{-1/2}\mathbf{A}\mathbf{D}^{-1/2}

    Â_o, Â_t: the two halves, without self loops. The product is never formed; the eigenvalues come from
    ARPACK, in double precision.

    What the paper says of M (Section 5.2, the objective O_c, and Appendix A), and what holds:

    - It derives "positive semi-definite" from ρ(I + Â_tÂ_o) = ‖I + Â_tÂ_o‖₂ = ‖Â_tÂ_o‖₂ ≤ 1. The first
      equality holds for normal matrices, which M need not be, and the second drops I; nor would ρ ≤ 1 give
      the claim. The claim itself is true of any two graphs, because xᵀMx ≥ ‖x‖² − ‖Â_tx‖‖Â_ox‖ ≥ 0: the
      symmetric part never has a negative eigenvalue.
    - Appendix A infers it from positive eigenvalues of M. For a matrix that is not symmetric that is no
      proof: [[1, 4], [0, 1]] has the eigenvalue 1 only, and xᵀMx = −2 at x = (1, −1).
    - Eigenvalues need not be real: on a cycle of six nodes whose edges belong to the two halves by turns
      they are 2 and ½ ± i√3/2.
    - They need not be positive: 0 is one of them if and only if Â_tx = −Â_ox and ‖Â_ox‖ = ‖x‖ for some
      x ≠ 0. Two ideal halves do that: 0–1 and 2–3 within two classes, 0–2 and 1–3 between them, with
      x = (1, 1, −1, −1).
    - O_c is minimal where its gradient (M + Mᵀ)H is 0, which is another equation than the paper's MH = 0,
      though for this M the solutions are the same. Where M is positive definite, as the paper's table
      has it, H = 0 is the only one.
    - The table ends at 2 for seven of eight graphs. With **1** the vector of ones, D⁻¹A**1** = **1** for a
      graph without isolated nodes, so the row normalisation D⁻¹A always ends there. The symmetric one, which
      the paper defines, ends there only if Â_tÂ_ox = x for some x ≠ 0, as where D_o and D_t are proportional.
      With row normalisation ‖D⁻¹A‖₂ may exceed 1, and M need not be positive semi-definite: with 0–1 as the
      homophilic half and the star 0–1, …, 0–10 as the heterophilic one, the eigenvalues of M are 1, 1.1 and
      2, but xᵀMx = −1 at x = (0, 2, −1, …, −1).

    Args:
        homophilic: A_o, symmetric.
        heterophilic: A_t, symmetric, over the same nodes.
        seed: Of the vector that ARPACK starts from, so that two calls give the same bits.
        normalization: ``symmetric``, the paper's Â; or ``row``, D⁻¹A in its place.
    """
    if normalization not in NORMALIZATIONS:
        raise InputError(
            f"the normalization {normalization!r} is not known: choose one of {', '.join(NORMALIZATIONS)}"
        )
    if homophilic.shape != heterophilic.shape:
        raise InputError(
            f"the two halves have {homophilic.shape[0]} and {heterophilic.shape[0]} nodes: "
            "give two halves of one graph"
        )
    a_o, a_t = _normalized(homophilic, normalization), _normalized(heterophilic, normalization)
    a_o_transposed, a_t_transposed = (a_o, a_t) if normalization == "symmetric" else (a_o.T, a_t.T)
    start = generator(seed).standard_normal(a_o.shape[0])

    # ARPACK's tolerance is relative to the eigenvalue, which may be 0 for M: I is added once more, so that
    # real parts of eigenvalues lie between 1 and 3, and taken off again.
    def shifted(x: Vector) -> Vector:
        return np.asarray(2 * x + a_t @ (a_o @ x))

    def symmetric(x: Vector) -> Vector:
        return np.asarray(2 * x + (a_t @ (a_o @ x) + a_o_transposed @ (a_t_transposed @ x)) / 2)

    def gram(x: Vector) -> Vector:  # I + PᵀP for P = Â_tÂ_o, whose largest eigenvalue is 1 + σ²
        return np.asarray(x + a_o_transposed @ (a_t_transposed @ (a_t @ (a_o @ x))))

    low, high = (_extreme(shifted, which, start, symmetric=False) for which in ("SR", "LR"))
    lower, upper = (_extreme(symmetric, which, start, symmetric=True) for which in ("SA", "LA"))
    square = _extreme(gram, "LA", start, symmetric=True).value.real - 1
    return SpectralRange(
        smallest=low.value - 1,
        largest=high.value - 1,
        smallest_residual=low.residual,
        largest_residual=high.residual,
        symmetric_smallest=lower.value.real - 1,
        symmetric_largest=upper.value.real - 1,
        symmetric_residual=max(lower.residual, upper.residual),
        norm=float(np.sqrt(max(square, 0.0))),
    )


class _Eigenvalue(NamedTuple):
    value: complex
    residual: float


def _extreme(product: Any, which: str, start: Vector, *, symmetric: bool) -> _Eigenvalue:
    """The eigenvalue at one end of the spectrum; ``which`` is ARPACK's name of the end, S… or L…."""
    nodes = len(start)
    if nodes <= DENSE_NODES:
        matrix = np.stack([product(column) for column in np.eye(nodes)], axis=1)
        values, vectors = np.linalg.eigh(matrix) if symmetric else np.linalg.eig(matrix)
        end = int(np.argmin(values.real) if which.startswith("S") else np.argmax(values.real))
        value, vector = values[end], vectors[:, end]
    else:
        value, vector = _arpack(product, which, start, symmetric)
    vector = vector / np.linalg.norm(vector)
    residual = float(np.linalg.norm(product(vector) - value * vector))
    # The matrix is real: with λ its conjugate is an eigenvalue too, of the same residual.
    return _Eigenvalue(complex(value.real, abs(value.imag)), residual)


def _arpack(product: Any, which: str, start: Vector, symmetric: bool) -> tuple[Any, Vector]:
    nodes = len(start)
    operator = LinearOperator((nodes, nodes), matvec=product, dtype=np.float64)
    solve = eigsh if symmetric else eigs
    for vectors, restarts in ATTEMPTS:
        try:
            values, found = solve(
                operator, 1, which=which, v0=start, ncv=min(vectors, nodes), maxiter=restarts, tol=TOLERANCE
            )
        except ArpackNoConvergence:
            continue
        return values[0], found[:, 0]
    raise RuntimeError(
        f"ARPACK did not find the eigenvalue at the end {which!r} of a matrix of {nodes} nodes with "
        f"{ATTEMPTS[-1][0]} Krylov vectors: the eigenvalues there lie too close together; "
        "give more in otherhalf.spectral.ATTEMPTS, or another seed"
    )


def _normalized(adjacency: sp.spmatrix, normalization: str) -> sp.csr_matrix:
    """Â without self loops in float64; the models' own operator is float32, too coarse for eigenvalues."""
    matrix = sp.csr_matrix(adjacency, dtype=np.float64)
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    inverse = np.zeros_like(degree)
    np.divide(1.0, degree, out=inverse, where=degree > 0)
    if normalization == "row":
        return sp.csr_matrix(sp.diags(inverse) @ matrix)
    scaling = sp.diags(np.sqrt(inverse))
    return sp.csr_matrix(scaling @ matrix @ scaling)


# ---------------------------------------------------------------------- filters


def filter_accuracy(
    graph: Graph,
    split: Split,
    kind: str,
    seed: int = 0,
    *,
    shape: Architecture | None = None,
    training: TrainingSettings | None = None,
) -> dict[str, Any]:
    """Train a network of one linear filter and score it (Appendix B.3).

    The paper gives no settings for this experiment: by default these are the usual ones of a GCN, two
    layers of :class:`Architecture` trained by the default :class:`TrainingSettings`.

    Args:
        graph: The graph, such as ``load("cora@0.3")``.
        split: Labels of ``train`` teach, labels of ``val`` select, labels of ``test`` are read to score.
        kind: One of :data:`~otherhalf.nn.models.linear_filter.FILTERS`.
        seed: Of weights and dropout.
        shape: The frame.
        training: How it is trained.

    Returns:
        The accuracies ``test`` (None where no test node has a label) and ``val``, and ``epochs``.
    """
    check_trainable(graph, split)
    inputs = node_inputs(graph, Scaling.fit(graph.x, "auto"))
    adjacency = normalized_adjacency(graph.adjacency)
    with seeded(seed):
        module = LinearFilterNetwork(
            graph.num_features, graph.num_classes, graph.num_nodes, shape or Architecture(), kind=kind
        )
        history = fit_supervised(module, (inputs, adjacency), graph, split, training or TrainingSettings())
    scored = split.test[graph.y[split.test] != UNKNOWN]
    right = class_probabilities(module, inputs, adjacency).argmax(axis=1)[scored] == graph.y[scored]
    return {
        "test": float(right.mean()) if len(scored) else None,
        "val": history.best_score[0],
        "epochs": history.epochs,
    }
