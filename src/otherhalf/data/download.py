"""Download a data set from its authors' public files, check it, and keep it in the cache."""

import os
import zipfile
import zlib
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from otherhalf.data.entries import DataSet
from otherhalf.data.folders import cache_folder, where_to_place
from otherhalf.data.npz import read_npz, write_npz
from otherhalf.data.sources import SOURCES
from otherhalf.errors import InputError
from otherhalf.graph import Graph
from otherhalf.system.deadline import within
from otherhalf.system.scratch import temporary_folder
from otherhalf.system.version import VERSION

TIMEOUT_SECONDS = 30
DEADLINE_SECONDS = 1800
ATTEMPTS = 2
# Some servers would otherwise pack a file for the transfer, or declare a .gz file as packed text.
_HEADERS = {"User-Agent": f"otherhalf/{VERSION}", "Accept-Encoding": "identity"}

# What readers raise on a file with wrong content. (InputError is a ValueError.)
_UNREADABLE = (
    *(ValueError, KeyError, IndexError, TypeError, OverflowError, RuntimeError),
    *(OSError, EOFError, zlib.error, zipfile.BadZipFile),
)


def download(dataset: DataSet) -> Graph:
    """Download the raw files of a data set, build the graph, check it, and keep it as ``NAME.npz``.

    Two checks protect the user: the SHA-256 of every raw file whose original bytes are known, and the
    fingerprint of the finished graph, which is the only check of the other files. If either fails nothing is
    kept.
    """
    source = SOURCES.get(dataset.name)
    if source is None:
        raise InputError(f"{dataset.name} has no public download: {where_to_place(dataset.name)}")
    with temporary_folder() as folder:
        for address in source.addresses:
            _fetch(dataset.name, address, folder / address.rsplit("/", 1)[-1])
        origin = f"the download from {url_of(source.addresses[0])}"
        if len(source.addresses) > 1:
            origin += f" and {len(source.addresses) - 1} more address(es)"
        try:
            graph = source.parse(folder)
        except _UNREADABLE as error:
            reason = str(error).replace(f"{folder}{os.sep}", "")
            raise InputError(
                f"{origin} cannot be read ({reason}), so nothing was kept: {where_to_place(dataset.name)}"
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
    """Return the SHA-256 of every raw file whose original bytes are known, by address."""
    lines = files("otherhalf.data").joinpath("raw_files.sha256").read_text(encoding="ascii").splitlines()
    return {address: digest for digest, address in (line.split(maxsplit=1) for line in lines)}


def url_of(address: str) -> str:
    """Return the URL of ``host/path``: at the host, or below the mirror that ``OTHERHALF_MIRROR`` names."""
    mirror = os.environ.get("OTHERHALF_MIRROR")
    if not mirror:
        return f"https://{address}"
    if not mirror.startswith(("http://", "https://")):
        raise InputError(f"OTHERHALF_MIRROR is {mirror!r}: give a URL that starts with http:// or https://")
    return f"{mirror.rstrip('/')}/{address}"


def _fetch(name: str, address: str, path: Path) -> None:
    """Download the file at ``address`` to ``path``. Raise InputError if it fails or the hash is wrong.

    A server has :data:`TIMEOUT_SECONDS` for each answer and :data:`DEADLINE_SECONDS` for the whole file. It
    may send to another address that is https, and to no other.
    """
    # Heavy to import, and not needed where the data are on this computer.
    import pooch
    from requests import RequestException
    from tqdm import tqdm

    url = url_of(address)
    for attempt in range(1, ATTEMPTS + 1):
        # disable=None shows the bar on a terminal only. pooch sets the total; it must not be empty before.
        bar = tqdm(desc=path.name, total=1, unit="B", unit_scale=True, leave=False, disable=None)
        hooks = {"response": _check_redirect}
        fetch = pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT_SECONDS, headers=_HEADERS, hooks=hooks)
        try:
            within(DEADLINE_SECONDS, partial(fetch, url, path, None))
            break
        except TimeoutError as error:
            raise InputError(
                f"{url} could not be downloaded ({error}): {where_to_place(name)}, or try again with a "
                "faster network"
            ) from error
        except RequestException as error:
            response = error.response
            missing = response is not None and response.status_code < 500  # another attempt will not help
            if missing or attempt == ATTEMPTS:
                reason = (
                    _cause(error) if response is None else f"HTTP {response.status_code} {response.reason}"
                )
                raise InputError(
                    f"{name} is not on this computer and {url} could not be downloaded ({reason}): "
                    f"{where_to_place(name)}, or try again with a network"
                ) from error
        finally:
            bar.close()
    expected = known_hashes().get(address)
    actual = pooch.file_hash(str(path))
    if expected not in (None, actual):
        raise InputError(
            f"{url} has the SHA-256 {actual}, not {expected}, so nothing was kept: "
            f"try again, or {where_to_place(name)}"
        )


def _check_redirect(response: Any, **options: Any) -> None:
    """Raise InputError if a server sends to an address that is not https."""
    if response.is_redirect:
        target = urljoin(response.url, response.headers["location"])
        if urlsplit(target).scheme != "https":
            raise InputError(
                f"{response.url} sends to {target}, which is not https, so nothing was downloaded: try "
                "again, or place the file yourself"
            )


def _cause(error: BaseException) -> BaseException:
    """Return the first of a chain of errors: "Connection refused" where requests adds a paragraph."""
    while error.__context__ is not None:
        error = error.__context__
    return error
