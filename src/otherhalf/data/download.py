"""Download a data set from its authors' public files, check it, and keep it in the cache."""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from otherhalf.data.entries import DataSet
from otherhalf.data.folders import cache_folder, where_to_place
from otherhalf.data.npz import read_npz, write_npz
from otherhalf.data.sources import SOURCES
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.version import VERSION

TIMEOUT_SECONDS = 30
ATTEMPTS = 2
_CHUNK = 1 << 16

# What readers raise on a file that is not what it should be. (InputError is a ValueError.)
_UNREADABLE = (ValueError, KeyError, IndexError, OSError, EOFError, zlib.error, zipfile.BadZipFile)


def download(dataset: DataSet) -> Graph:
    """Fetch the raw files of a data set, build the graph, check it, keep it as ``NAME.npz``.

    Two checks stand between the network and the user: the SHA-256 of every raw file whose original
    bytes are known, and the fingerprint of the finished graph. The second alone guards the rest. If
    either fails nothing is kept.
    """
    source = SOURCES.get(dataset.name)
    if source is None:
        raise InputError(f"{dataset.name} has no public download: {where_to_place(dataset.name)}")
    with tempfile.TemporaryDirectory(prefix="otherhalf-") as temporary:
        folder = Path(temporary)
        with _progress(f"downloading {dataset.name}", len(source.addresses)) as show:
            for number, address in enumerate(source.addresses):
                path = folder / address.rsplit("/", 1)[-1]
                for share in _fetch(dataset.name, address, path):
                    show(number + share)
        origin = f"what came from {url_of(source.addresses[0])}"
        if len(source.addresses) > 1:
            origin += f" and {len(source.addresses) - 1} more address(es)"
        try:
            graph = source.parse(folder)
        except _UNREADABLE as error:
            reason = str(error).replace(f"{folder}{os.sep}", "")
            place = where_to_place(dataset.name)
            raise InputError(
                f"{origin} cannot be understood ({reason}), so nothing was kept: {place}"
            ) from error
        return keep(dataset, graph, origin)


def keep(dataset: DataSet, graph: Graph, origin: str) -> Graph:
    """Check the graph against the catalogue, keep it in the cache, and read it back from there."""
    mismatch = dataset.mismatch(graph)
    if mismatch:
        raise InputError(
            f"{origin} is not the data set {dataset.name} ({mismatch}), so nothing was kept: "
            f"{where_to_place(dataset.name)}"
        )
    path = cache_folder() / f"{dataset.name}.npz"
    write_npz(graph, path)
    return read_npz(path, name=dataset.name)


def known_hashes() -> dict[str, str]:
    """The SHA-256 of every raw file whose original bytes were at hand, by address."""
    lines = files("otherhalf.data").joinpath("raw_files.sha256").read_text(encoding="ascii").splitlines()
    return {address: digest for digest, address in (line.split(maxsplit=1) for line in lines)}


def url_of(address: str) -> str:
    """The URL of ``host/path``: at the host itself, or under the mirror ``OTHERHALF_MIRROR`` names."""
    mirror = os.environ.get("OTHERHALF_MIRROR")
    if not mirror:
        return f"https://{address}"
    if not mirror.startswith(("http://", "https://")):
        raise InputError(f"OTHERHALF_MIRROR is {mirror!r}: give a URL that starts with http:// or https://")
    return f"{mirror.rstrip('/')}/{address}"


class _NetworkError(Exception):
    """The transfer failed; ``final`` says that trying again will not help."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


def _fetch(name: str, address: str, path: Path) -> Iterator[float]:
    """Put the file at ``address`` into ``path`` and check its hash; tell the share that has come so far."""
    url = url_of(address)
    for attempt in range(1, ATTEMPTS + 1):
        digest = hashlib.sha256()
        try:
            with path.open("wb") as file:
                for chunk, share in _chunks(url):
                    digest.update(chunk)
                    file.write(chunk)
                    yield share
            break
        except _NetworkError as error:
            if error.final or attempt == ATTEMPTS:
                raise InputError(
                    f"{name} is not on this computer and {url} could not be fetched ({error}): "
                    f"{where_to_place(name)}, or try again with a network"
                ) from error
    expected = known_hashes().get(address)
    if expected is not None and digest.hexdigest() != expected:
        raise InputError(
            f"{url} has the SHA-256 {digest.hexdigest()}, not {expected}, so nothing was kept: "
            f"try again, or {where_to_place(name)}"
        )


def _chunks(url: str) -> Iterator[tuple[bytes, float]]:
    """The bytes behind ``url``, each piece with the share of the whole that has come so far.

    Every failure of the network, and of nothing else, is a _NetworkError.
    """
    try:
        request = urllib.request.Request(url, headers={"User-Agent": f"otherhalf/{VERSION}"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            length = int(response.headers.get("Content-Length") or 0)
            received = 0
            while chunk := response.read(_CHUNK):
                received += len(chunk)
                yield chunk, received / length if length else 0.0
    except urllib.error.HTTPError as error:
        raise _NetworkError(f"HTTP {error.code} {error.reason}", final=error.code < 500) from error
    except urllib.error.URLError as error:
        raise _NetworkError(str(error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise _NetworkError(str(error) or type(error).__name__) from error
    except ValueError as error:  # a mirror with a port that is no number, and the like
        raise _NetworkError(str(error), final=True) from error
    if received < length:  # http.client takes an early end of the stream for the end of the file
        raise _NetworkError(f"cut short after {received} of {length} bytes")


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[float], None]]:
    """A bar on stderr over the files, if a person is watching; silence in logs and pipes."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
