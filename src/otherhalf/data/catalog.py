"""``load``: a graph by the name of its data set or from an npz file."""

import difflib
from pathlib import Path

from otherhalf.data.download import download, keep
from otherhalf.data.entries import ALIASES, DATASETS, DataSet
from otherhalf.data.folders import search_folders
from otherhalf.data.formats import ogb
from otherhalf.data.graph_files import is_graph_file
from otherhalf.data.npz import read_npz
from otherhalf.data.synthetic import parse_synthetic, redraw_edges
from otherhalf.data.table_files import TABLE_ENDINGS
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.paths import user_path

__all__ = ["DATASETS", "DataSet", "load", "resolve"]


def load(name_or_path: str | Path) -> Graph:
    """Return a named data set, or the graph in an ``.npz`` file.

    A named data set is looked for as ``NAME.npz`` in the folder ``$OTHERHALF_DATA``, then in the user's
    cache (``$OTHERHALF_CACHE``, or ``~/.cache/otherhalf`` on Linux). If it is in neither, it is downloaded
    from its authors' public files and kept in the cache. In every case its content is checked against the
    catalogue, so that a name always means the same graph. Names may be in upper or lower case, with hyphens
    or underscores, or in their usual short forms (``computers``, ``photo``, ``film``).

    A name that is not in the catalogue works too if one of the two folders has ``NAME.npz``. Synthetic graphs
    have names as well: ``csbm:nodes=1000,homophily=0.2`` is a contextual stochastic block model, and
    ``cora@0.3`` is Cora with its edges redrawn at homophily 0.3 (Appendix B.3).
    """
    synthetic = _synthetic(name_or_path) if isinstance(name_or_path, str) else None
    if synthetic is not None:
        return synthetic
    if isinstance(name_or_path, Path) or _looks_like_a_path(name_or_path):
        return read_npz(_checked_path(name_or_path))
    name = resolve(name_or_path)
    if name is None:
        return _user_file(name_or_path)
    dataset = DATASETS[name]
    for path in places_of(name):
        if path.is_file():
            graph = read_npz(path, name=name)
            mismatch = dataset.mismatch(graph)
            if mismatch:
                raise InputError(
                    f"{path} is not the data set {name} ({mismatch}): remove or replace it, "
                    "or load your own graph by its path"
                )
            return graph
    if name == ogb.ARXIV:
        for folder in search_folders():
            official = ogb.official_files(folder)
            if official is not None:
                return keep(dataset, ogb.read_arxiv(official), str(official))
    return download(dataset)


def _synthetic(text: str) -> Graph | None:
    described = parse_synthetic(text)
    if described is not None:
        return described
    name, at, homophily = text.rpartition("@")
    if not at or resolve(name) is None:
        return None
    try:
        ratio = float(homophily)
    except ValueError:
        raise InputError(
            f"{homophily!r} in {text!r} is not a homophily ratio: write, for example, {name}@0.3"
        ) from None
    return redraw_edges(load(name), ratio)


def resolve(name: str) -> str | None:
    """Return a data set's name as the catalogue spells it, or None if the catalogue does not have it."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = ALIASES.get(key, key)
    return key if key in DATASETS else None


def places_of(name: str) -> list[Path]:
    """Return where the file of a named data set is looked for, in this order."""
    original = name.rpartition("@")[0] or name  # cora@0.3 is made of cora
    return [folder / f"{resolve(original) or name}.npz" for folder in search_folders()]


def _looks_like_a_path(text: str) -> bool:
    return text.endswith(".npz") or "/" in text or "\\" in text


def _checked_path(text: str | Path) -> Path:
    """Return the path of an npz file; raise InputError if something else is there that another one reads."""
    path = user_path(text)
    if path.is_dir() or path.name.lower().endswith(TABLE_ENDINGS) or is_graph_file(path.name):
        kind = "a folder" if path.is_dir() else "not an .npz file by its ending"
        raise InputError(
            f"{path} is {kind}, and load takes a data set's name or an .npz file: "
            "otherhalf.read_tables(nodes, edges) reads two tables, and otherhalf.data.source.open_data(path) "
            "a GraphML, GML or JSON file or a folder of Geom-GCN's files"
        )
    return path


def _user_file(name: str) -> Graph:
    for path in places_of(name):
        if path.is_file():
            return read_npz(path)
    if name.strip():
        _checked_path(name)
    known = [*DATASETS, *ALIASES]
    close = difflib.get_close_matches(name.lower().replace("-", "_"), known, n=3, cutoff=0.6)
    closest = list(dict.fromkeys(resolve(match) or match for match in close))
    hint = f"did you mean {' or '.join(closest)}? `otherhalf datasets`" if closest else "`otherhalf datasets`"
    raise InputError(
        f"there is no data set called {name!r}: {hint} lists them all, and the name of a file ends in .npz"
    )
