"""Find the missing half of a graph and classify its nodes with both halves."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from otherhalf.system.version import VERSION

if TYPE_CHECKING:
    from otherhalf.complement.missing_half import MissingHalf
    from otherhalf.data.catalog import load
    from otherhalf.data.splits import split
    from otherhalf.data.tables import read_tables
    from otherhalf.diagnosis.verdict import Diagnosis, diagnose
    from otherhalf.errors import InputError
    from otherhalf.estimators.baseline import BaselineClassifier
    from otherhalf.estimators.find import find_missing_half
    from otherhalf.estimators.goal import GOALClassifier
    from otherhalf.graph import Graph, Split

__version__ = VERSION

# Where each public name lives. Names are imported on first use, so that `import otherhalf` and
# `otherhalf --help` do not wait for torch.
_HOME = {
    "BaselineClassifier": "estimators.baseline",
    "Diagnosis": "diagnosis.verdict",
    "GOALClassifier": "estimators.goal",
    "Graph": "graph",
    "InputError": "errors",
    "MissingHalf": "complement.missing_half",
    "Split": "graph",
    "diagnose": "diagnosis.verdict",
    "find_missing_half": "estimators.find",
    "load": "data.catalog",
    "read_tables": "data.tables",
    "split": "data.splits",
}

__all__ = [
    "BaselineClassifier",
    "Diagnosis",
    "GOALClassifier",
    "Graph",
    "InputError",
    "MissingHalf",
    "Split",
    "diagnose",
    "find_missing_half",
    "load",
    "read_tables",
    "split",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'otherhalf' has no attribute {name!r}")
    value = getattr(import_module(f"otherhalf.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
