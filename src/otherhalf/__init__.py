"""Find the missing half of a graph and classify its nodes with both halves."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from otherhalf.system.threads import wait_politely
from otherhalf.system.version import VERSION

if TYPE_CHECKING:
    from otherhalf.complement.missing_half import MissingHalf as MissingHalf
    from otherhalf.data.catalog import load as load
    from otherhalf.data.own_splits import split_by_column as split_by_column
    from otherhalf.data.own_splits import split_by_ids as split_by_ids
    from otherhalf.data.own_splits import split_by_time as split_by_time
    from otherhalf.data.splits import split as split
    from otherhalf.data.tables import read_tables as read_tables
    from otherhalf.diagnosis.verdict import Diagnosis as Diagnosis
    from otherhalf.diagnosis.verdict import diagnose as diagnose
    from otherhalf.errors import InputError as InputError
    from otherhalf.estimators.baseline import BaselineClassifier as BaselineClassifier
    from otherhalf.estimators.find import find_missing_half as find_missing_half
    from otherhalf.estimators.goal import GOALClassifier as GOALClassifier
    from otherhalf.estimators.on_graph import OnGraph as OnGraph
    from otherhalf.graph import Graph as Graph
    from otherhalf.graph import Split as Split

wait_politely()  # before torch is imported

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
    "OnGraph": "estimators.on_graph",
    "Split": "graph",
    "diagnose": "diagnosis.verdict",
    "find_missing_half": "estimators.find",
    "load": "data.catalog",
    "read_tables": "data.tables",
    "split": "data.splits",
    "split_by_column": "data.own_splits",
    "split_by_ids": "data.own_splits",
    "split_by_time": "data.own_splits",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'otherhalf' has no attribute {name!r}")
    value = getattr(import_module(f"otherhalf.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
