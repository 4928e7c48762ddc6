"""Signals that ask a command to end: Ctrl-C (SIGINT) and SIGTERM, any number of them.

It imports nothing heavy, so that a command listens from its first moment on.
"""

import _thread
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SECONDS_TO_TRY_AGAIN = 0.01
STOPPED = "stopped: start the same command again"
STOPPED_FIT = "stopped; finished work is kept: the same command with --resume continues"
STOPPED_RUNS = "stopped; finished runs are kept: the same command continues"


class Stopped(BaseException):
    """A signal asked this process to end; like KeyboardInterrupt, it is no error that a program handles."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number
        """Exit status, as shells give it."""


@contextmanager
def listening() -> Iterator[None]:
    """Raise :class:`Stopped` in the block whenever a signal comes; then handle signals as before.

    A signal that is ignored stays ignored: ``nohup`` and background jobs of shells want that.
    """
    if not _are_ours():
        yield
        return
    before, hook = {each: signal.getsignal(each) for each in SIGNALS}, sys.unraisablehook
    try:
        listen()
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        sys.unraisablehook = hook


def listen() -> None:
    """Do so until the process ends."""
    if _are_ours():
        sys.unraisablehook = _try_again(sys.unraisablehook)
        for each in SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:
                signal.signal(each, _stop)


def ignore_signals() -> None:
    """Ignore all further signals: the process is about to end."""
    if _are_ours():
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)


def end(stopped: Stopped) -> NoReturn:
    """End the process with one sentence."""
    ignore_signals()
    if sys.stderr is not None:
        print(f"otherhalf: {what_is_kept(sys.argv[1:])}", file=sys.stderr)
    sys.exit(stopped.status)


def what_is_kept(words: Sequence[str]) -> str:
    """Return the sentence for a command that was stopped."""
    if words and words[0] in ("compare", "reproduce", "search", "tune"):
        return STOPPED_RUNS
    with_folder = any(word.partition("=")[0] == "--out" for word in words)
    return STOPPED_FIT if words and words[0] == "fit" and with_folder else STOPPED


def _are_ours() -> bool:
    """Return whether this is the main thread: Python gives signals to no other."""
    return threading.current_thread() is threading.main_thread()


def _stop(number: int, frame: Any) -> NoReturn:
    raise Stopped(number)


def _try_again(usual: Any) -> Any:
    """Return a hook for errors that Python cannot raise, such as those in ``__del__``.

    A signal that comes there would be lost, and leave a traceback; it is sent again a moment later.
    """

    def hook(unraisable: Any) -> None:
        if isinstance(unraisable.exc_value, Stopped):
            number = unraisable.exc_value.status - 128
            threading.Timer(SECONDS_TO_TRY_AGAIN, _thread.interrupt_main, [number]).start()
        else:
            usual(unraisable)

    return hook
