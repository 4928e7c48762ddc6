"""Download, check and keep a data set, with a server on this machine."""

import hashlib
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import requests

from otherhalf.data import download as module
from otherhalf.data.catalog import DATASETS, load
from otherhalf.data.entries import DataSet, splits_fingerprint
from otherhalf.data.formats.heterophilous import read_heterophilous
from otherhalf.data.sources import SOURCES, Source
from otherhalf.errors import InputError

ADDRESS = "example.org/data/tiny.npz"
RAW_FOLDERS = {
    "cora": ("Planetoid/Cora/raw", "geom_gcn_splits"),
    "citeseer": ("Planetoid/CiteSeer/raw", "geom_gcn_splits"),
    "pubmed": ("Planetoid/PubMed/raw", "geom_gcn_splits"),
    "chameleon": ("WikipediaNetwork/chameleon/geom_gcn/raw",),
    "squirrel": ("WikipediaNetwork/squirrel/geom_gcn/raw",),
    "actor": ("Actor/raw",),
    "texas": ("WebKB/texas/raw",),
    "wisconsin": ("WebKB/wisconsin/raw",),
    "cornell": ("WebKB/cornell/raw",),
    "minesweeper": ("HeterophilousGraphDataset/minesweeper/raw",),
    "tolokers": ("HeterophilousGraphDataset/tolokers/raw",),
}


class Server(ThreadingHTTPServer):
    """Serve ``files`` by address; the first ``failures`` requests fail in the way ``how``."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.failures = 0
        self.how = "503"
        self.redirect = ""


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        address = self.path.lstrip("/")
        self.server.requests.append(address)
        body = self.server.files.get(address)
        if body is None:
            self.send_error(404)
            return
        if self.server.redirect:
            self.send_response(302)
            self.send_header("Location", self.server.redirect)
            self.end_headers()
            return
        failing = len(self.server.requests) <= self.server.failures
        if failing and self.server.how == "503":
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if failing else body)

    def log_message(self, *arguments: object) -> None:
        """Keep the tests quiet."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A mirror on this machine, an empty cache, no data folder, and an empty place for temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.delenv("OTHERHALF_DATA", raising=False)
    monkeypatch.setenv("OTHERHALF_CACHE", str(tmp_path / "cache"))
    running = Server()
    monkeypatch.setenv("OTHERHALF_MIRROR", f"http://127.0.0.1:{running.server_port}/")
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def tiny(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A made-up data set ``tiny`` that the server has."""
    masks = {f"{part}_masks": np.eye(3, dtype=bool)[[k]] for k, part in enumerate(("train", "val", "test"))}
    path = tmp_path / "tiny.npz"
    np.savez(
        path,
        node_features=np.random.default_rng(0).random((3, 400)),
        node_labels=np.array([0, 1, 1]),
        edges=np.array([[0, 1], [1, 2]]),
        **masks,
    )
    server.files[ADDRESS] = path.read_bytes()
    graph = read_heterophilous(path, "tiny", sparse=False)
    entry = DataSet(
        name="tiny",
        nodes=3,
        edges=2,
        classes=2,
        features=400,
        description="",
        source="",
        paper="",
        licence="",
        traps="",
        fingerprint=graph.fingerprint,
        splits_fingerprint=splits_fingerprint(graph),
    )
    monkeypatch.setitem(DATASETS, "tiny", entry)
    source = Source((ADDRESS,), lambda folder: read_heterophilous(folder / "tiny.npz", "tiny", sparse=False))
    monkeypatch.setitem(SOURCES, "tiny", source)
    digest = hashlib.sha256(server.files[ADDRESS]).hexdigest()
    monkeypatch.setattr(module, "known_hashes", lambda: {ADDRESS: digest})
    return entry


def _left(tmp_path: Path) -> list[Path]:
    """What lies in the cache and among the temporary files."""
    return [path for folder in ("cache", "temporary") for path in (tmp_path / folder).rglob("*")]


def test_downloaded_once_then_read_from_the_cache(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    graph = load("tiny")
    assert (graph.name, graph.fingerprint) == ("tiny", tiny.fingerprint)
    assert _left(tmp_path) == [tmp_path / "cache" / "tiny.npz"]
    server.shutdown()
    assert load("tiny").fingerprint == tiny.fingerprint
    assert server.requests == [ADDRESS]


@pytest.mark.parametrize("how", ["503", "cut short"])
def test_one_failure_is_tried_again(server: Server, tiny: DataSet, how: str) -> None:
    server.failures, server.how = 1, how
    assert load("tiny").fingerprint == tiny.fingerprint
    assert len(server.requests) == 2


@pytest.mark.parametrize(("how", "reason"), [("503", "HTTP 503"), ("cut short", "bytes read")])
def test_two_failures_leave_nothing(
    server: Server, tiny: DataSet, tmp_path: Path, how: str, reason: str
) -> None:
    server.failures, server.how = 2, how
    with pytest.raises(InputError, match=reason) as caught:
        load("tiny")
    assert f"place tiny.npz in the folder $OTHERHALF_DATA or in {tmp_path / 'cache'}" in str(caught.value)
    assert _left(tmp_path) == []


def test_a_missing_file_is_not_asked_for_twice(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.files.clear()
    with pytest.raises(InputError, match=r"tiny\.npz could not be downloaded \(HTTP 404 Not Found\): place"):
        load("tiny")
    assert len(server.requests) == 1
    assert _left(tmp_path) == []


def test_a_wrong_hash_is_refused_with_both_hashes(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    expected = hashlib.sha256(server.files[ADDRESS]).hexdigest()
    server.files[ADDRESS] += b"!"
    actual = hashlib.sha256(server.files[ADDRESS]).hexdigest()
    with pytest.raises(InputError, match=f"{ADDRESS} has the SHA-256 {actual}, not {expected}"):
        load("tiny")
    assert _left(tmp_path) == []


def test_wrong_content_is_refused_where_no_hash_is_known(
    server: Server, tiny: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "known_hashes", dict)
    arrays = dict(np.load(tmp_path / "tiny.npz"))
    arrays["node_labels"] = np.array([1, 0, 0])
    np.savez(tmp_path / "other.npz", **arrays)
    actual = read_heterophilous(tmp_path / "other.npz", "tiny", sparse=False).fingerprint
    server.files[ADDRESS] = (tmp_path / "other.npz").read_bytes()
    with pytest.raises(
        InputError, match=f"its fingerprint is {actual}, not {tiny.fingerprint}.*nothing was kept"
    ):
        load("tiny")
    assert _left(tmp_path) == []


@pytest.mark.parametrize("body", [b"", b"<html>Sign in to this network</html>"])
def test_something_else_than_the_file(
    server: Server, tiny: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setattr(module, "known_hashes", dict)
    server.files[ADDRESS] = body
    with pytest.raises(InputError, match=f"{ADDRESS} cannot be read .*nothing was kept"):
        load("tiny")
    assert _left(tmp_path) == []


def test_interrupted_by_the_user(
    server: Server, tiny: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = requests.Response.iter_content

    def interrupted(response: requests.Response, chunk_size: int) -> Iterator[bytes]:
        yield next(real(response, chunk_size))
        raise KeyboardInterrupt

    monkeypatch.setattr(requests.Response, "iter_content", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("tiny")
    assert _left(tmp_path) == []


@pytest.mark.parametrize("terminal", [True, False])
def test_the_progress_bar_is_for_terminals(
    tiny: DataSet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    load("tiny")
    out, err = capsys.readouterr()
    assert out == ""
    assert ("tiny.npz" in err) == terminal


def test_offline_the_message_names_the_file_to_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OTHERHALF_MIRROR", f"http://127.0.0.1:{unused.getsockname()[1]}")
        monkeypatch.setenv("OTHERHALF_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("OTHERHALF_DATA", str(tmp_path))
        with pytest.raises(InputError, match="cora is not on this computer") as caught:
            load("cora")
    assert f"place cora.npz in the folder $OTHERHALF_DATA or in {tmp_path / 'cache'}" in str(caught.value)
    assert "Connection refused" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "cache").exists()


def test_a_server_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OTHERHALF_MIRROR", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("OTHERHALF_CACHE", str(tmp_path))
        monkeypatch.delenv("OTHERHALF_DATA", raising=False)
        with pytest.raises(InputError, match="timed out"):
            load("texas")


def test_a_server_that_never_ends(
    server: Server, tiny: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(requests.Response, "iter_content", lambda *arguments, **more: iter(let_go.wait, True))
    monkeypatch.setattr(module, "DEADLINE_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"could not be downloaded \(it was not done after 0\.2 seconds\)"):
        load("tiny")
    let_go.set()


@pytest.mark.parametrize(
    ("target", "followed"),
    [("http://127.0.0.1:1/other", False), ("/other", False), ("https://127.0.0.1:1/other", True)],
)
def test_a_server_may_send_to_https_alone(server: Server, tiny: DataSet, target: str, followed: bool) -> None:
    server.redirect = target
    message = "Connection refused" if followed else "which is not https, so nothing was downloaded"
    with pytest.raises(InputError, match=message):
        load("tiny")


def test_a_mirror_that_is_no_url(tiny: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    for mirror in ("nonsense", "file:///tmp"):
        monkeypatch.setenv("OTHERHALF_MIRROR", mirror)
        with pytest.raises(InputError, match="give a URL that starts with http"):
            load("tiny")
    monkeypatch.setenv("OTHERHALF_MIRROR", "http://127.0.0.1:port")
    with pytest.raises(InputError, match="could not be downloaded"):
        load("tiny")


def test_without_a_mirror_the_address_itself_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTHERHALF_MIRROR", raising=False)
    assert module.url_of("example.org/a") == "https://example.org/a"


def test_what_has_no_public_download_says_so(server: Server) -> None:
    with pytest.raises(
        InputError, match=r"debian_bookworm has no public download: place debian_bookworm\.npz"
    ):
        load("debian")
    assert server.requests == []


@pytest.mark.parametrize("name", RAW_FOLDERS)
def test_the_original_files_rebuild_the_data_set(
    data_dir: Path, server: Server, tmp_path: Path, name: str
) -> None:
    raw = data_dir / "raw"
    if not raw.is_dir():
        pytest.skip("raw files absent: set OTHERHALF_DATA to a folder with raw/")
    for address in SOURCES[name].addresses:
        file = address.rsplit("/", 1)[1]
        copies = [raw / folder / file for folder in RAW_FOLDERS[name] if (raw / folder / file).is_file()]
        server.files[address] = copies[0].read_bytes()
        assert address in module.known_hashes()
    graph = load(name)
    assert graph.fingerprint == DATASETS[name].fingerprint
    assert splits_fingerprint(graph) == DATASETS[name].splits_fingerprint
    assert sorted(server.requests) == sorted(SOURCES[name].addresses)
    assert _left(tmp_path) == [tmp_path / "cache" / f"{name}.npz"]
