"""``load``: a graph by its data set's name or from an npz file."""

from __future__ import annotations

import difflib
from pathlib import Path

from otherhalf.data.download import download, keep
from otherhalf.data.entries import ALIASES, DATASETS, DataSet
from otherhalf.data.folders import search_folders
from otherhalf.data.formats import ogb
from otherhalf.data.npz import read_npz
from otherhalf.data.synthetic import parse_synthetic, redraw_edges
from otherhalf.errors import InputError
from otherhalf.graph import Graph

__all__ = ["DATASETS", "DataSet", "load", "resolve"]


def load(name_or_path: str | Path) -> Graph:
    """A named data set, or the graph in an ``.npz`` file.

    A named data set is looked for as ``NAME.npz`` in the folder ``$OTHERHALF_DATA``, then in the user's
    cache (``$OTHERHALF_CACHE``, or ``~/.cache/otherhalf``); failing both, it is downloaded from its
    authors' public files and kept in the cache. Whichever way it comes, its content is checked against
    the catalogue, so that a name always means the same graph. Names are taken in any case, with hyphens
    or underscores, and by their usual short forms (``computers``, ``photo``, ``film``).

    A name outside the catalogue is taken too if one of the two folders holds ``NAME.npz``. Synthetic graphs
    have names as well: ``csbm:nodes=1000,homophily=0.2`` is a contextual stochastic block model, and
    ``cora@0.3`` is Cora with its edges redrawn at homophily 0.3 (Appendix B.3).
    """
    synthetic = _synthetic(name_or_path) if isinstance(name_or_path, str) else None
    if synthetic is not None:
        return synthetic
    if isinstance(name_or_path, Path) or _looks_like_a_path(name_or_path):
        return read_npz(Path(name_or_path).expanduser())
    name = resolve(name_or_path)
    if name is None:
        return _own_file(name_or_path)
    dataset = DATASETS[name]
    for folder in search_folders():
        path = folder / f"{name}.npz"
        if path.is_file():
            graph = read_npz(path, name=name)
            mismatch = dataset.mismatch(graph)
            if mismatch:
                raise InputError(
                    f"{path} is not the data set {name} ({mismatch}): remove or replace it, "
                    "or load an own graph by its path"
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
            f"{homophily!r} in {text!r} is not a homophily ratio: write {name}@0.3, say"
        ) from None
    return redraw_edges(load(name), ratio)


def resolve(name: str) -> str | None:
    """The catalogue's spelling of a data set's name, or None if it does not know the name."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    plain = ALIASES.get(plain, plain)
    return plain if plain in DATASETS else None


def _looks_like_a_path(text: str) -> bool:
    return text.endswith(".npz") or "/" in text or "\\" in text


def _own_file(name: str) -> Graph:
    for folder in search_folders():
        path = folder / f"{name}.npz"
        if path.is_file():
            return read_npz(path)
    known = [*DATASETS, *ALIASES]
    close = difflib.get_close_matches(name.lower().replace("-", "_"), known, n=3, cutoff=0.6)
    closest = list(dict.fromkeys(resolve(match) or match for match in close))
    hint = f"did you mean {' or '.join(closest)}? `otherhalf datasets`" if closest else "`otherhalf datasets`"
    raise InputError(
        f"there is no data set called {name!r}: {hint} lists them all, and own files end in .npz"
    )
