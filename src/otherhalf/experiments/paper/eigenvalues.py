"""The eigenvalues of I + Â_tÂ_o (``tab:eigen``), from the same runs as ``topology``."""

from typing import Any

from otherhalf.experiments.paper.experiment import Experiment, Request
from otherhalf.experiments.paper.published import DATASETS, EIGENVALUES, SHORT
from otherhalf.experiments.paper.summaries import DASH
from otherhalf.experiments.paper.topology import half_jobs
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table
from otherhalf.spectral import NORMALIZATIONS

SHOWN = 0.00005
"""A smaller imaginary part rounds to zero at the four digits of the table."""

NOTES = [
    "The range of the real parts of the eigenvalues of M = I + Â_tÂ_o, of the halves that the preset `paper` "
    "finds; in brackets ours less the paper's. Symmetric: Â = D^(-1/2)AD^(-1/2), as the paper defines it. "
    "Row: D^(-1)A in its place. Symmetric part: the eigenvalues of (M + Mᵀ)/2 with the symmetric "
    "normalisation, that is the range of xᵀMx over unit vectors.",
    "A product of two symmetric matrices is in general not symmetric, so M may have complex eigenvalues, and "
    "positive eigenvalues do not show that it is positive semi-definite; the symmetric part does. The "
    "paper's argument for it, ρ(M) = ‖M‖₂ = ‖Â_tÂ_o‖₂ ≤ 1, does not hold: the first equality needs "
    "a normal matrix, and the second drops I. The claim itself holds for any two halves, because "
    "xᵀMx ≥ ‖x‖² − ‖Â_tx‖‖Â_ox‖ ≥ 0 with the symmetric normalisation. With row normalisation it need not "
    "hold, yet there the range always ends at 2 if no node is isolated in either half, as it does in seven "
    "of the paper's eight.",
]


class Eigenvalues(Experiment):
    """One row per data set, or per split if several are requested."""

    name = "eigenvalues"
    title = "Eigenvalues of I + Â_tÂ_o"
    label = "tab:eigen"
    datasets = DATASETS
    runs = 1

    def jobs_of(self, data: str, request: Request) -> list[Job]:
        """Return the jobs that learn the missing halves."""
        return half_jobs(data, request.runs)

    def table(self, request: Request, store: Store) -> Table:
        """Return the paper's range, and ours in three ways."""
        table = Table(["", "paper", "symmetric", "row", "symmetric part"])
        for data in request.datasets:
            for seed, job in enumerate(half_jobs(data, request.runs)):
                name = SHORT.get(data, data) + (f", split {seed}" if request.runs > 1 else "")
                low, high = EIGENVALUES[data]
                record = store.get(job)
                spectrum = None if record is None else record.result["spectrum"]
                table.add(name, f"[{low:.4f}, {high:.4f}]", *_cells(spectrum, data))
        table.notes = list(NOTES)
        return table

    def values_of(self, data: str, request: Request, store: Store) -> dict[str, Any]:
        """Return the paper's range, and ours under each normalisation, by split."""
        records = [store.get(job) for job in self.jobs_of(data, request)]
        spectra = [None if record is None else record.result["spectrum"] for record in records]
        gaps = [
            None if each is None else {n: _gaps(each[n], data) for n in NORMALIZATIONS} for each in spectra
        ]
        return {"paper": list(EIGENVALUES[data]), "spectra": spectra, "gaps": gaps}


def _cells(spectrum: dict[str, Any] | None, data: str) -> tuple[str, str, str]:
    if spectrum is None:
        return DASH, DASH, DASH
    symmetric, row = spectrum["symmetric"], spectrum["row"]
    part = f"[{symmetric['symmetric_smallest']:.4f}, {symmetric['symmetric_largest']:.4f}]"
    return _range(symmetric, data), _range(row, data), part


def _range(ends: dict[str, Any], data: str) -> str:
    low, high = _gaps(ends, data)
    return f"[{_number(ends['smallest'])}, {_number(ends['largest'])}]\n({low:+z.4f}, {high:+z.4f})"


def _number(value: list[float]) -> str:
    real, imaginary = value
    return f"{real:.4f}" + (f" ± {imaginary:.4f}i" if abs(imaginary) > SHOWN else "")


def _gaps(ends: dict[str, Any], data: str) -> list[float]:
    real = (ends["smallest"][0], ends["largest"][0])
    return [ours - paper for ours, paper in zip(real, EIGENVALUES[data], strict=True)]
