"""The store of records: text that git can compare, one JSON line per finished run, never rewritten."""

import fcntl
import hashlib
import json
import os
import re
import stat
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import FORMAT, Job, Outcome, Record, as_json
from otherhalf.system.atomic import FULL_DISK, check_folder
from otherhalf.system.version import VERSION

LONGEST_NAME = 100
SETTINGS = "experiments/tuning/settings"
"""Folder of the settings that come with the package."""


class Store:
    """A folder of records, ``<task>/<data>/<model>.jsonl``, for the runs on one device.

    A run on another device than the CPU is another run: its record has the device among its options, and
    counts on that device only.

    Several processes may add records at the same time. A last line without an end was cut short by a kill: it
    is no record, and the next record replaces it. If a key occurs twice, its first record counts.
    """

    def __init__(self, folder: str | Path, device: str = "cpu") -> None:
        self.folder = Path(folder)
        self.device = device
        self._read: dict[Path, tuple[tuple[int, ...], dict[str, Record]]] = {}
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file: give a folder for the results")

    def check_writable(self) -> None:
        """Raise InputError if the folder cannot be written; call it before long work, not after it."""
        check_folder(self.folder)

    def path(self, job: Job) -> Path:
        """Return the file of a job's record."""
        return self.folder / _safe(job.task) / _safe(job.data) / f"{_safe(job.model)}.jsonl"

    def get(self, job: Job) -> Record | None:
        """Return the record of exactly this job; None if it has not been run."""
        return self._records_in(self.path(job)).get(self.key_of(job))

    def key_of(self, job: Job) -> str:
        """Return the key of a job's record."""
        return self._recorded(job).key

    def has(self, job: Job) -> bool:
        """Return whether exactly this job has been run."""
        return self.get(job) is not None

    def records(
        self, task: str | None = None, data: str | None = None, model: str | None = None
    ) -> list[Record]:
        """Return all records, or those of a task, data set or model, sorted by the names of their files."""
        wanted = {"task": task, "data": data, "model": model}
        parts = ["*" if name is None else _safe(name) for name in wanted.values()]
        matches: dict[str, Record] = {}
        for path in sorted(self.folder.glob("/".join(parts) + ".jsonl")):
            for key, record in self._records_in(path).items():
                # Two unusual names may share a file, so the job is compared too.
                if all(value in (None, getattr(record.job, name)) for name, value in wanted.items()):
                    matches.setdefault(key, record)
        return list(matches.values())

    def add(self, job: Job, outcome: Outcome) -> Record:
        """Write the record of a finished run to the disk, and return it."""
        if outcome.result is None:
            raise ValueError("only a run with a result can be recorded")
        job = self._recorded(job)
        record = Record(
            format=FORMAT,
            key=job.key,
            job=job,
            result=as_json(outcome.result),
            seconds=float(outcome.seconds),
            peak_memory_mb=float(outcome.peak_memory_mb),
            version=VERSION,
            commit=source_commit(),
            threads=outcome.threads,
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        path = self.path(job)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _append(path, record.line.encode())
        except OSError as error:
            fix = "free some space" if error.errno in FULL_DISK else "make it writable"
            raise InputError(
                f"{path} cannot be written ({error.strerror}): {fix} and start again; every run finished "
                "before is kept and will not be run again"
            ) from error
        return record

    def _recorded(self, job: Job) -> Job:
        """Return the job as it stands in its record."""
        return job if self.device == "cpu" else replace(job, options={**job.options, "device": self.device})

    def _records_in(self, path: Path) -> dict[str, Record]:
        try:
            status = path.stat()
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if not stat.S_ISREG(status.st_mode):  # a pipe or a device would never end
                raise InputError(f"{path} is not a file: remove it")
            if path not in self._read or self._read[path][0] != state:
                # The state is from before reading: a file that grows meanwhile is read again.
                self._read[path] = (state, _parse(path, path.read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}): make it readable") from error
        return self._read[path][1]


@cache
def source_commit() -> str | None:
    """Return the commit of this code, with a + if the code was changed since; None outside a repository."""
    package = Path(__file__).resolve().parents[2]
    # An installed package may be inside a repository that it is no part of.
    if _git(package, "ls-files", "--error-unmatch", "errors.py") is None:
        return None
    commit = _git(package, "rev-parse", "--short", "HEAD")
    # Settings do not count: the record holds them, and `search --out` may write them while it runs.
    changed = _git(package, "status", "--porcelain", "--", ".", f":(exclude){SETTINGS}")
    return commit and commit + ("+" if changed else "")


def _git(folder: Path, *words: str) -> str | None:
    # Without optional locks, so that a git command of the user at the same time does not fail.
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def _append(path: Path, line: bytes) -> None:
    """Add a line under a lock: it is completely on the disk afterwards, or not at all."""
    handle = _open_locked(path)
    try:
        end = _end_of_records(handle)
        if end and os.pread(handle, 1, end - 1) != b"\n":
            line = b"\n" + line
        try:
            os.ftruncate(handle, end)
            left = line
            while left:  # one write, unless the disk becomes full
                left = left[os.pwrite(handle, left, end + len(line) - len(left)) :]
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, end)
            raise
    finally:
        os.close(handle)
    if end == 0:  # the name of a new file must reach the disk too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _open_locked(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            # Meanwhile git may have replaced the file: a record in the old one would be lost.
            if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _end_of_records(handle: int) -> int:
    """Return the end of the last complete line: the rest was cut short by a kill."""
    size = os.fstat(handle).st_size
    if size == 0 or os.pread(handle, 1, size - 1) == b"\n":
        return size
    last = os.pread(handle, size, 0).rpartition(b"\n")[2]
    return size if _is_json(last) else size - len(last)


def _is_json(line: bytes) -> bool:
    """Return whether a line without a newline, as some editors leave it, is complete."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parse(path: Path, content: bytes) -> dict[str, Record]:
    records: dict[str, Record] = {}
    *lines, last = content.split(b"\n")
    if _is_json(last):
        lines.append(last)
    for number, line in enumerate(lines, start=1):
        record = Record.from_line(line, f"{path}, line {number}")
        records.setdefault(record.key, record)
    return records


def _safe(name: str) -> str:
    """Return a file name for any name: the name itself if possible, else one like it with a hash."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._+-]*", name) and len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    like = re.sub(r"[^A-Za-z0-9_+-]+", "_", name).strip("_")[-LONGEST_NAME:]
    return f"{like or 'none'}-{digest}" if name else "none"
