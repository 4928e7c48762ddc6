"""Commands in processes of their own, which have everything imported when they begin."""

import contextlib
import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import psutil

from otherhalf.cli.signals import SIGNALS, Stopped, end, listen

GRACE = 15.0
"""Seconds after which a process that was told to end, or lost its parent, should be gone."""


@dataclass(frozen=True)
class Running:
    """A command that runs in a session of its own."""

    pid: int
    errors: Path

    def send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, seconds: float = 120) -> int | None:
        """Return the exit status, 128 + the signal's number after a signal; None if it does not end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            time.sleep(0.01)
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None

    def survivors(self) -> list[int]:
        """Return the processes of the session that are still there after a time of grace."""
        end = time.monotonic() + GRACE
        while (left := _session(self.pid)) and time.monotonic() < end:
            time.sleep(0.05)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left

    @property
    def said(self) -> str:
        return self.errors.read_text(errors="replace")


def start(words: list[str], folder: Path) -> Running:
    """Call the program with these words, in this folder."""
    errors = folder / "stderr.txt"
    # A signal waits until the program listens: before that, no program could say a word.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return Running(pid, errors)
    status = 1
    try:
        os.setsid()
        os.chdir(folder)
        output = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from otherhalf.cli.commands import main

        sys.argv = ["otherhalf", *words]
        listen()
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            main()
        except Stopped as stopped:
            end(stopped)
    except SystemExit as stop:
        status = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _session(leader: int) -> list[int]:
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, psutil.Error):
            if os.getsid(pid) == leader and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
    return found


def spoken(said: str) -> list[str]:
    """Return what a command said beside notes and its plans."""
    return [line for line in said.splitlines() if not line.startswith("otherhalf: note: ")]
