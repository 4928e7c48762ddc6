import bz2
import gzip
import lzma
import os
import socket
from pathlib import Path

import pytest

from otherhalf.data.files import compressed
from otherhalf.data.files.compressed import (
    check_file,
    open_bytes,
    unreadable,
    without_packing,
)
from otherhalf.errors import InputError
from otherhalf.system.memory import Room

TEXT = b"id,a\nu,1\n" * 1000


def zstandard(content):
    pa = pytest.importorskip("pyarrow")
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


PACKINGS = [
    ("", bytes),
    (".gz", gzip.compress),
    (".bz2", bz2.compress),
    (".xz", lzma.compress),
    (".ZST", zstandard),
]


@pytest.mark.parametrize(("ending", "pack"), PACKINGS)
def test_every_packing_gives_the_same_bytes(tmp_path, ending, pack):
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(pack(TEXT))
    with open_bytes(path) as opened:
        assert opened.read() == TEXT


@pytest.mark.parametrize(("ending", "pack"), PACKINGS)
@pytest.mark.parametrize("copies", [2, 10.0])
def test_a_file_that_the_memory_cannot_hold_is_not_unpacked(tmp_path, monkeypatch, ending, pack, copies):
    monkeypatch.setattr(compressed, "_BLOCK", 4096)
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(pack(bytes(10**6)))
    monkeypatch.setattr(compressed, "room", lambda: Room(copies * 10**6, "a limit"))
    with open_bytes(path, copies) as opened:
        assert len(opened.read()) == 10**6
    monkeypatch.setattr(compressed, "room", lambda: Room(copies * 10**5, "a limit"))
    said = "unpacks to more than 0 MB" if ending else "has 1 MB"
    message = rf"t.csv.* {said}, which take about {copies:.0f} times as much memory, and . MB are free, by a"
    with pytest.raises(InputError, match=message), open_bytes(path, copies) as opened:
        opened.read()
    if ending:
        with open_bytes(path, copies) as opened:
            assert len(opened.read(50_000)) == 50_000
            with pytest.raises(InputError):
                opened.read(60_000)


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs pyarrow: run `pip install otherhalf\[io\]`, or unpack"):
        open_bytes(tmp_path / "t.csv.zst")


@pytest.mark.parametrize("name", ["A.csv", "a.CSV.gz", "a.csv.bz2", "a.csv.xz", "a.csv.zst"])
def test_without_packing(name):
    assert without_packing(name) == "a.csv"


def test_no_file(tmp_path):
    with pytest.raises(InputError, match=r"no.csv does not exist: check the path"):
        check_file(tmp_path / "no.csv", "a .csv file")
    with pytest.raises(InputError, match=r"is a folder and not a file: give the path of a .csv file"):
        check_file(tmp_path, "a .csv file")
    with pytest.raises(InputError, match=r"cannot be read \(File name too long\)"):
        check_file(tmp_path / ("a" * 5000), "a .csv file")
    with pytest.raises(InputError, match=r"cannot be read \(embedded null byte\)"):
        check_file(tmp_path / "a\0", "a .csv file")


@pytest.mark.skipif(os.name != "posix", reason="pipes and sockets are files on POSIX systems alone")
def test_what_would_never_end_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))  # the name of a socket has little room
        for name in ("pipe", "zeros", "socket"):
            with pytest.raises(InputError, match=f"{name} is a pipe, a device or a socket and not a file"):
                check_file(tmp_path / name, "a .csv file")


def test_one_sentence_for_a_damaged_file():
    message = str(unreadable(Path("t.csv"), EOFError()))
    assert message == "t.csv cannot be read (EOFError): check its permissions, or write it again"
