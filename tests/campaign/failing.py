"""Part of the campaign: the n-th write, flush, rename, new file or allocation fails, for every n."""

import builtins
import errno
import io
import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import safetensors.torch
from safetensors import SafetensorError
from tests.campaign.options import call
from tests.campaign.outcome import Tally
from tests.campaign.processes import spoken
from tests.campaign.subjects import subjects

from otherhalf.errors import InputError
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store

DATA = "nodes.csv,edges.csv"
COMMANDS = {
    "fit": ["fit", DATA, "--preset", "paper", "--seed", "1", "--out", "run"],
    "predict": ["predict", "run", DATA, "--out", "run/predicted.csv"],
    "complement": ["complement", DATA, "--preset", "paper", "--out", "run/half.npz"],
}
MOST = 60
"""Of the allocations, and of the writes on a broken disk, so many fail, spread over all of them."""


class Failure:
    """Counts calls; the n-th fails."""

    def __init__(self, nth: int, error: Callable[[], Exception]) -> None:
        self.nth, self.calls, self._error = nth, 0, error

    @property
    def happened(self) -> bool:
        return self.calls >= self.nth

    def count(self) -> None:
        self.calls += 1
        if self.calls == self.nth:
            raise self._error()

    def before(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.count()
            return function(*arguments, **options)

        return counted


def full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def broken() -> OSError:
    return OSError(errno.EIO, os.strerror(errno.EIO))


class _Writer:
    """A file whose writes are counted; all else is the file's own."""

    def __init__(self, file: Any, failure: Failure) -> None:
        self._file, self._failure = file, failure

    def write(self, content: Any) -> Any:
        self._failure.count()
        return self._file.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)


@contextmanager
def failing(kind: str, failure: Failure) -> Iterator[None]:
    """Count the calls of this kind in the block."""
    with ExitStack() as stack:

        def replace(owner: Any, name: str, value: Any = None) -> None:
            stack.enter_context(patch.object(owner, name, value or failure.before(getattr(owner, name))))

        if kind in ("write", "new file"):
            original = builtins.open

            def opened(path: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
                writes = any(letter in mode for letter in "wax+") and not str(path).startswith("/dev/")
                if writes and kind == "new file":
                    failure.count()
                file = original(path, mode, *arguments, **options)
                return _Writer(file, failure) if writes and kind == "write" else file

            replace(builtins, "open", opened)
            replace(io, "open", opened)
        if kind == "write":
            replace(os, "write")
            replace(os, "pwrite")

            def serialized(*arguments: Any, **options: Any) -> None:
                try:
                    failure.count()
                except OSError as error:  # the library has an error of its own
                    raise SafetensorError(f"Error while serializing: I/O error: {error}") from None
                return original_serialize(*arguments, **options)

            original_serialize = safetensors.torch.serialize_file
            replace(safetensors.torch, "serialize_file", serialized)
        elif kind == "flush":
            replace(os, "fsync")
        elif kind == "rename":
            replace(os, "replace")
            replace(os, "rename")
        elif kind == "allocation":
            for name in ("empty", "zeros", "ones", "full", "concatenate", "stack", "repeat", "unique"):
                replace(np, name)
        yield


KINDS: dict[str, tuple[Callable[[], Exception], ...]] = {
    "write": (full, broken),
    "new file": (full,),
    "flush": (full, broken),
    "rename": (full, broken),
    "allocation": (MemoryError,),
}


def fail_every_call(tally: Tally, commands: list[str] | None = None) -> None:
    """Run each command once for every call that can fail; what was there before stays whole."""
    start = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subjects()[0].write(folder)
        os.chdir(folder)
        try:
            earlier = ["fit", DATA, "--preset", "paper", "--seed", "7", "--out", "earlier"]
            assert call(earlier)[0] == "accepted"
            for name in commands or list(COMMANDS):
                for kind, errors in KINDS.items():
                    for error in errors:
                        _fail(tally, folder, name, kind, error)
        finally:
            os.chdir(start)
    for kind in ("write", "flush"):
        for error in KINDS[kind]:
            _fail_record(tally, kind, error)


def _fail(tally: Tally, folder: Path, name: str, kind: str, error: Callable[[], Exception]) -> None:
    counter = Failure(10**9, error)
    _again(folder)
    with failing(kind, counter):
        call(COMMANDS[name])
    every = error is full  # a full disk is what happens
    for nth in range(1, counter.calls + 1, 1 if every else max(1, counter.calls // MOST)):
        _again(folder)
        failure = Failure(nth, error)
        with failing(kind, failure):
            outcome, wrong = told(COMMANDS[name])
        if not failure.happened:
            outcome, wrong = "accepted", ""  # the number of calls is not always the same
        if outcome == "refused":
            outcome, wrong = _still_whole(folder / "run")
        tally.add(f"{name}, {kind} fails", outcome, f"the {nth}th, {error.__name__}: {wrong}")


def told(words: list[str]) -> tuple[str, str]:
    """Call the program; whatever the machine refuses is said in one line, with status 1 or 2."""
    outcome, wrong = call(words)
    if outcome == "traceback" and wrong.startswith("status 1: otherhalf: "):
        lines = spoken(wrong.removeprefix("status 1: "))
        outcome = "refused" if len([line for line in lines if line]) == 1 else outcome
    return outcome, wrong


def _again(folder: Path) -> None:
    shutil.rmtree(folder / "run", ignore_errors=True)
    shutil.copytree(folder / "earlier", folder / "run")


def _still_whole(out: Path) -> tuple[str, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            GOALClassifier.load(out)
        if not (out / "result.json").read_text().endswith("}\n"):
            return "lost", "half of a result"
    except (InputError, OSError) as error:
        return "lost", str(error)
    debris = [path.name for path in out.rglob("*") if path.name.startswith((".", "tmp"))]
    return ("lost", f"debris: {debris}") if debris else ("kept", "")


def _fail_record(tally: Tally, kind: str, error: Callable[[], Exception]) -> None:
    jobs = [Job("fit", "wood", "hash", "gcn", {}, "uniform", number) for number in range(3)]
    for nth in itertools.count(1):
        with tempfile.TemporaryDirectory() as place:
            store, failure, wrong = Store(place), Failure(nth, error), ""
            outcome = "kept"
            store.add(jobs[0], Outcome({}, 1.0, 1.0, 1))
            try:
                with failing(kind, failure):
                    store.add(jobs[1], Outcome({}, 1.0, 1.0, 1))
            except InputError:
                pass
            except Exception as unexpected:
                outcome, wrong = "traceback", repr(unexpected)
            if not failure.happened:
                return
            if outcome == "kept":
                store.add(jobs[2], Outcome({}, 1.0, 1.0, 1))
                keys = {record.key for record in Store(place).records()}
                if not {jobs[0].key, jobs[2].key} <= keys:
                    outcome, wrong = "lost", "a record"
            tally.add(f"record, {kind} fails", outcome, f"the {nth}th, {error.__name__}: {wrong}")
