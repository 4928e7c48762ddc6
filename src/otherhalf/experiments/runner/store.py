"""What has been run, as text that git can compare: one JSON line per finished run, never rewritten."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import otherhalf
from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import FORMAT, Job, Outcome, Record, plain
from otherhalf.system.atomic import FULL_DISK, check_folder

LONGEST_NAME = 100
SETTINGS = "experiments/tuning/settings"
"""Where the package keeps what `search` has found."""


class Store:
    """A folder of records, ``<task>/<data>/<model>.jsonl``, seen from one device.

    A run on another device than a CPU is another run: its record names the device among its options, and
    counts on that device alone.

    Several processes may add to it at once. A last line that breaks off was cut short by a kill: it is no
    record, and the next one takes its place. Where a key stands twice, its first record counts.
    """

    def __init__(self, folder: str | Path, device: str = "cpu") -> None:
        self.folder = Path(folder)
        self.device = device
        self._read: dict[Path, tuple[tuple[int, ...], dict[str, Record]]] = {}
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file: give a folder for the results")

    def check_writable(self) -> None:
        """Refuse, before the long work, a folder that could not be written to after it."""
        check_folder(self.folder)

    def path(self, job: Job) -> Path:
        """The file that a job's record stands in."""
        return self.folder / _safe(job.task) / _safe(job.data) / f"{_safe(job.model)}.jsonl"

    def get(self, job: Job) -> Record | None:
        """The record of exactly this job, if it has been run."""
        return self._records_in(self.path(job)).get(self._here(job).key)

    def has(self, job: Job) -> bool:
        """Whether exactly this job has been run."""
        return self.get(job) is not None

    def records(
        self, task: str | None = None, data: str | None = None, model: str | None = None
    ) -> list[Record]:
        """All records, or those of a task, data set or model, in the order of their files' names."""
        wanted = {"task": task, "data": data, "model": model}
        parts = ["*" if name is None else _safe(name) for name in wanted.values()]
        found: dict[str, Record] = {}
        for path in sorted(self.folder.glob("/".join(parts) + ".jsonl")):
            for key, record in self._records_in(path).items():
                # Odd names may share a file, so the job itself is asked.
                if all(value in (None, getattr(record.job, name)) for name, value in wanted.items()):
                    found.setdefault(key, record)
        return list(found.values())

    def add(self, job: Job, outcome: Outcome) -> Record:
        """Put a finished run on the disk before returning."""
        if outcome.result is None:
            raise ValueError("only a run with a result can be recorded")
        job = self._here(job)
        record = Record(
            format=FORMAT,
            key=job.key,
            job=job,
            result=plain(outcome.result),
            seconds=float(outcome.seconds),
            peak_memory_mb=float(outcome.peak_memory_mb),
            version=otherhalf.__version__,
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

    def _here(self, job: Job) -> Job:
        """The job as its record names it."""
        return job if self.device == "cpu" else replace(job, options={**job.options, "device": self.device})

    def _records_in(self, path: Path) -> dict[str, Record]:
        try:
            stat = path.stat()
            state = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if path not in self._read or self._read[path][0] != state:
                # A file that grows in between is merely read again: the state is that from before.
                self._read[path] = (state, _parse(path, path.read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}): make it readable") from error
        return self._read[path][1]


@cache
def source_commit() -> str | None:
    """The commit of the code that runs, with a + if the code was changed since; None outside a checkout."""
    package = Path(__file__).resolve().parents[2]
    # An installed package may lie within somebody's repository without being part of it.
    if _git(package, "ls-files", "--error-unmatch", "errors.py") is None:
        return None
    commit = _git(package, "rev-parse", "--short", "HEAD")
    # The settings found are data, which the record holds itself, and `search` writes them while it runs.
    changed = _git(package, "status", "--porcelain", "--", ".", f":(exclude){SETTINGS}")
    return commit and commit + ("+" if changed else "")


def _git(folder: Path, *words: str) -> str | None:
    # Without optional locks, so as not to disturb a git command that the user gives meanwhile.
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _append(path: Path, line: bytes) -> None:
    """Add a line under a lock: whole and on the disk, or not at all."""
    handle = _open_locked(path)
    try:
        end = _end_of_records(handle)
        if end and os.pread(handle, 1, end - 1) != b"\n":
            line = b"\n" + line
        try:
            os.ftruncate(handle, end)
            left = line
            while left:  # one write, unless the disk fills up in the middle of it
                left = left[os.pwrite(handle, left, end + len(line) - len(left)) :]
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, end)
            raise
    finally:
        os.close(handle)
    if end == 0:  # a new file's name must reach the disk as well
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
            # While we waited, git may have put another file in its place; ours would be lost.
            if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _end_of_records(handle: int) -> int:
    """Where the last line ends that is whole: what comes after it was cut short by a kill."""
    size = os.fstat(handle).st_size
    if size == 0 or os.pread(handle, 1, size - 1) == b"\n":
        return size
    last = os.pread(handle, size, 0).rpartition(b"\n")[2]
    return size if _is_whole(last) else size - len(last)


def _is_whole(line: bytes) -> bool:
    """Whether a last line lacks nothing but its end, as editors leave it; JSON that breaks off is no JSON."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _parse(path: Path, content: bytes) -> dict[str, Record]:
    found: dict[str, Record] = {}
    *lines, last = content.split(b"\n")
    if _is_whole(last):
        lines.append(last)
    for number, line in enumerate(lines, start=1):
        record = Record.from_line(line, f"{path}, line {number}")
        found.setdefault(record.key, record)
    return found


def _safe(name: str) -> str:
    """A file name for any name: its own if it is harmless, else something like it and a hash."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._+-]*", name) and len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    like = re.sub(r"[^A-Za-z0-9_+-]+", "_", name).strip("_")[-LONGEST_NAME:]
    return f"{like or 'none'}-{digest}" if name else "none"
