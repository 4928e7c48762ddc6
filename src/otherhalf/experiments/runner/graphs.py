"""The graphs of jobs: data sets by name, any other graph from a file named after its content."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from otherhalf.data.entries import splits_fingerprint
from otherhalf.data.folders import search_folders
from otherhalf.data.npz import read_npz, write_npz
from otherhalf.data.source import open_data
from otherhalf.data.splits import ONE_SPLIT
from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import data_set_of
from otherhalf.graph import Graph

PUBLISHED = ("fixed", *ONE_SPLIT)
"""Protocols whose splits come with the data."""

KEPT = 3
"""Number of opened graphs that a process keeps: the next job is often on one of them."""


@dataclass(frozen=True)
class GraphFolder:
    """Where jobs find their graphs.

    A data set of the catalogue is opened by its name. Any other graph is a file in ``folder``, named after
    the content. So every process that can read the folder, on this computer or another, finds the planned
    graph.

    Attributes:
        folder: Folder of the files; None if all graphs are in the catalogue.
    """

    folder: Path | None = None

    def put(self, graph: Graph, data_hash: str) -> None:
        """Write a graph to the folder if it is not there yet."""
        path = self._file(data_hash)
        if path is None:
            raise InputError(
                f"the runs have no folder to find {graph.name or 'the graph'} in: give the workbench "
                "graphs=GraphFolder(folder)"
            )
        if not path.is_file():
            write_npz(graph, path)

    def has(self, data: str, data_hash: str) -> bool:
        """Return whether the file of a graph is on this computer; the file is not read."""
        path = self._file(data_hash)
        if path is not None and path.is_file():
            return True
        name = data_set_of(data, data_hash)
        return name != "" and any((folder / f"{name}.npz").is_file() for folder in search_folders())

    def fetch(self, data: str, data_hash: str) -> None:
        """Download the graph if its file is not on this computer; raise InputError if that fails."""
        if not self.has(data, data_hash):
            open_data(data)

    def open(self, data: str, data_hash: str) -> Graph:
        """Return the graph; raise InputError if its content has another hash."""
        return _open(self._file(data_hash), data, data_hash)

    def _file(self, data_hash: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{data_hash.replace(':', '-')}.npz"


@lru_cache(maxsize=KEPT)
def _open(path: Path | None, data: str, data_hash: str) -> Graph:
    graph = read_npz(path) if path is not None and path.is_file() else open_data(data)
    check_content(graph, data, data_hash)
    return graph


def check_content(graph: Graph, data: str, data_hash: str) -> None:
    """Raise InputError if the content of a graph has another hash; what was computed before is not again."""
    content, _, splits = data_hash.partition(":")
    if graph.fingerprint != content or (splits and splits_fingerprint(graph) != splits):
        raise InputError(f"{data} has changed since the experiment was planned: start it again")


def hash_of(graph: Graph, split: str) -> str:
    """Return a hash of the content, and of the published splits if the protocol uses them."""
    return join_hashes(graph.fingerprint, splits_fingerprint(graph), split)


def join_hashes(content: str, splits: str, split: str) -> str:
    """Return the same from the two fingerprints."""
    return f"{content}:{splits}" if split in PUBLISHED and splits else content
