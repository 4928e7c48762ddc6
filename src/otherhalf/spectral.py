"""The spectrum of I + Â_tÂ_o (Appendix A), and the accuracy of linear filters (Appendix B)."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh

from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.models.linear_filter import LinearFilterNetwork
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.seeds import generator
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.metrics import score
from otherhalf.training.supervised import Supervision, check_trainable, class_probabilities, fit_supervised

Vector = npt.NDArray[Any]

DENSE_NODES = 200
"""Up to this number of nodes, all eigenvalues are computed densely: ARPACK needs larger matrices."""

TOLERANCE = 1e-9
"""Tolerance of ARPACK, relative to eigenvalues of size 1 to 3."""

ATTEMPTS = ((40, 1_000), (120, 1_000), (360, 500))
"""(Krylov vectors, most restarts) of each attempt: more vectors if fewer did not converge."""

NORMALIZATIONS = ("symmetric", "row")

ZERO = 1e-6
"""Eigenvalues below this count as 0: far above the solvers' errors, far below the digits of a table."""


@dataclass(frozen=True)
class SpectralRange:
    r"""Both ends of the spectrum of M = I + Â_tÂ_o.

    A product of two symmetric matrices is in general not symmetric, so there are three ranges:

    - the eigenvalues of M, which may be complex: those with the smallest and the largest real part;
    - the eigenvalues of its symmetric part, I + ½(Â_tÂ_o + Â_oÂ_t): the range of xᵀMx over unit vectors.
      "Positive semi-definite" is a statement about these;
    - the bounds 1 ± σ from the norm σ = ‖Â_tÂ_o‖₂.

    Each lies within the next:

    .. math::
        1 - \sigma \le \lambda_{min}(sym) \le \mathrm{Re}\,\lambda(\mathbf{M})
        \le \lambda_{max}(sym) \le 1 + \sigma

    With the symmetric normalisation ‖Â‖₂ ≤ 1, so that σ ≤ 1 and all three lie in [0, 2].

    A residual r means that λ is an eigenvalue of a matrix within r of M. For the symmetric part it follows
    that an eigenvalue lies within r of λ; for M, which is not normal, it does not.

    Attributes:
        smallest: The eigenvalue of M with the smallest real part. Of a conjugate pair, the one with
            imaginary part ≥ 0; of several with this real part, any one.
        largest: The same for the largest real part.
        smallest_residual: ‖Mv − λv‖ of the unit eigenvector v of ``smallest``.
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
    def positive_definite(self) -> bool:
        """Whether xᵀMx > 0 for all x ≠ 0.

        If so, M is invertible, and H = 0 is the only solution of (I + Â_tÂ_o)H = 0. If not, then with the
        symmetric normalisation M has the eigenvalue 0.
        """
        return self.symmetric_smallest > ZERO

    @property
    def positive_semidefinite(self) -> bool:
        """Whether xᵀMx ≥ 0 for all x; always true with the symmetric normalisation."""
        return self.symmetric_smallest > -ZERO

    def to_dict(self) -> dict[str, Any]:
        """Return values that JSON can hold; a complex number as [real, imaginary]."""
        values = asdict(self)
        for key in ("smallest", "largest"):
            values[key] = [values[key].real, values[key].imag]
        definite = ("positive_definite", "positive_semidefinite")
        return values | {key: getattr(self, key) for key in definite}


def spectral_range(
    homophilic: sp.spmatrix, heterophilic: sp.spmatrix, *, seed: int = 0, normalization: str = "symmetric"
) -> SpectralRange:
    r"""Return the range of the spectrum of I + Â_tÂ_o (Appendix A).

    .. math:: \mathbf{M} = \mathbf{I} + \hat{\mathbf{A}}_t\hat{\mathbf{A}}_o, \qquad
              \hat{\mathbf{A}} = \mathbf{D}^{-1/2}\mathbf{A}\mathbf{D}^{-1/2}

    Â_o, Â_t: the two halves, without self loops. The product is never formed; ARPACK computes the eigenvalues
    in double precision.

    The paper's claims about M (Section 5.2, the objective O_c, and Appendix A), and what is true:

    - It derives "positive semi-definite" from ρ(I + Â_tÂ_o) = ‖I + Â_tÂ_o‖₂ = ‖Â_tÂ_o‖₂ ≤ 1. The first
      equality holds for normal matrices, which M need not be, and the second drops I; and the claim does not
      follow from ρ ≤ 1. The claim is true for any two graphs, because xᵀMx ≥ ‖x‖² − ‖Â_tx‖‖Â_ox‖ ≥ 0: the
      symmetric part never has a negative eigenvalue.
    - Appendix A infers it from positive eigenvalues of M. That is no proof for a matrix that is not
      symmetric: [[1, 4], [0, 1]] has the eigenvalue 1 only, and xᵀMx = −2 at x = (1, −1).
    - Eigenvalues need not be real: on a cycle of six nodes whose edges belong alternately to the two halves,
      they are 2 and ½ ± i√3/2.
    - They need not be positive: 0 is one of them if and only if Â_tx = −Â_ox and ‖Â_ox‖ = ‖x‖ for some
      x ≠ 0. This is so for two ideal halves: 0–1 and 2–3 within two classes, 0–2 and 1–3 between them, with
      x = (1, 1, −1, −1).
    - O_c is minimal where its gradient (M + Mᵀ)H is 0. This is not the paper's equation MH = 0, but for this
      M the solutions are the same. If M is positive definite, as in the paper's table, H = 0 is the only one.
    - The table ends at 2 for seven of eight graphs. With **1** the vector of ones, D⁻¹A**1** = **1** for a
      graph without isolated nodes, so the row normalisation D⁻¹A always ends there. The symmetric one, which
      the paper defines, ends there only if Â_tÂ_ox = x for some x ≠ 0, as where D_o and D_t are proportional.
      With row normalisation ‖D⁻¹A‖₂ may exceed 1, and M need not be positive semi-definite: with 0–1 as the
      homophilic half and the star 0–1, …, 0–10 as the heterophilic one, the eigenvalues of M are 1, 1.1 and
      2, but xᵀMx = −1 at x = (0, 2, −1, …, −1).

    Args:
        homophilic: A_o, symmetric.
        heterophilic: A_t, symmetric, over the same nodes.
        seed: Seed of the start vector of ARPACK: two calls give the same bits.
        normalization: ``symmetric``, the paper's Â; or ``row``, D⁻¹A instead.
    """
    if normalization not in NORMALIZATIONS:
        raise InputError(f"normalization must be one of {', '.join(NORMALIZATIONS)}, not {normalization!r}")
    if homophilic.shape != heterophilic.shape:
        raise InputError(
            f"the two halves have {homophilic.shape[0]} and {heterophilic.shape[0]} nodes: "
            "give two halves of one graph"
        )
    a_o, a_t = _normalized(homophilic, normalization), _normalized(heterophilic, normalization)
    a_o_transposed, a_t_transposed = (a_o, a_t) if normalization == "symmetric" else (a_o.T, a_t.T)
    start = generator(seed).standard_normal(a_o.shape[0])

    # ARPACK's tolerance is relative to the eigenvalue, which may be 0 for M. So I is added once more: the
    # real parts are then between 1 and 3. It is subtracted from the result.
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
    """Return the eigenvalue at one end of the spectrum; ``which`` is ARPACK's name of the end, S… or L…."""
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
    # The matrix is real: the conjugate of λ is an eigenvalue too, with the same residual.
    return _Eigenvalue(complex(value.real, abs(value.imag)), residual)


def _arpack(product: Any, which: str, start: Vector, symmetric: bool) -> tuple[Any, Vector]:
    nodes = len(start)
    operator = LinearOperator((nodes, nodes), matvec=product, dtype=np.float64)
    solve = eigsh if symmetric else eigs
    for vectors, restarts in ATTEMPTS:
        try:
            values, eigenvectors = solve(
                operator, 1, which=which, v0=start, ncv=min(vectors, nodes), maxiter=restarts, tol=TOLERANCE
            )
        except ArpackNoConvergence:
            continue
        return values[0], eigenvectors[:, 0]
    raise RuntimeError(
        f"ARPACK did not find the eigenvalue at the end {which!r} of a matrix of {nodes} nodes with "
        f"{ATTEMPTS[-1][0]} Krylov vectors, because the eigenvalues there are too close together: "
        "give more in otherhalf.spectral.ATTEMPTS, or another seed"
    )


def _normalized(adjacency: sp.spmatrix, normalization: str) -> sp.csr_matrix:
    """Return Â without self loops in float64; the operator of the models, in float32, is not exact enough."""
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
    architecture: Architecture | None = None,
    training: TrainingSettings | None = None,
) -> dict[str, Any]:
    """Train a network of one linear filter and score it (Appendix B.3).

    The paper gives no settings for this experiment. The defaults are those of a GCN: the default
    :class:`Architecture` and :class:`TrainingSettings`.

    Args:
        graph: The graph, such as ``load("cora@0.3")``.
        split: Labels of ``train`` teach, labels of ``val`` select, labels of ``test`` are read to score.
        kind: One of :data:`~otherhalf.nn.models.linear_filter.FILTERS`.
        seed: Seed of weights and dropout.
        architecture: Architecture of the network.
        training: Settings of the training.

    Returns:
        The accuracies ``test`` (None if no test node has a label) and ``val``, and ``epochs``.
    """
    check_trainable(graph, split)
    arguments = PreparedGraph(graph, Scaling.of(graph, "auto")).arguments(["normalized"])
    with seeded(seed):
        module = LinearFilterNetwork(*graph.sizes, architecture, kind=kind)
        history = fit_supervised(module, arguments, graph, training or TrainingSettings(), Supervision(split))
    test = score("accuracy", class_probabilities(module, *arguments), graph.y, split.test)
    return {"test": None if np.isnan(test) else test, "val": history.best_score[0], "epochs": history.epochs}
