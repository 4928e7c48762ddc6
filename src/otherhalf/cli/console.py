"""Output of the command line beside its result: one line for an error, progress bars, notes for warnings."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from otherhalf.cli.signals import Stopped, end, listening
from otherhalf.errors import InputError, RunsFailed, printable
from otherhalf.system.atomic import FULL_DISK

if TYPE_CHECKING:
    from otherhalf.training.loop import OnStep

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The parent of typer's own errors (a wrong option, a missing argument), which it does not export."""

BARS = 6


def run(app: typer.Typer) -> NoReturn:
    """Run a command line.

    Exit status: 0 done, 2 the input is wrong, 1 anything else; 128 + the number of a signal that ended it,
    which is 130 after Ctrl-C and 143 after SIGTERM.
    """
    warnings.showwarning = _show_warning
    with listening():
        try:
            _prepare_streams()
            # Typer itself would print its errors in a box of many lines.
            status = app(prog_name="otherhalf", standalone_mode=False)
            if status == 128 + signal.SIGINT:  # what typer makes of a KeyboardInterrupt
                raise Stopped(signal.SIGINT)
            sys.stdout.flush()  # what cannot be written is noticed here, not when the interpreter ends
        except Stopped as stopped:
            end(stopped)
        except (KeyboardInterrupt, typer.Abort):
            end(Stopped(signal.SIGINT))
        except InputError as error:
            _leave(2, str(error))
        except BrokenPipeError:
            _leave_quietly()
        except (MemoryError, RuntimeError, ImportError, OSError, RunsFailed) as error:
            from otherhalf.system.memory import memory_sentence, out_of_memory

            if out_of_memory(error):
                _leave(2, memory_sentence(error))
            if isinstance(error, RuntimeError | ImportError):
                raise
            if isinstance(error, OSError) and error.errno in FULL_DISK:
                _leave(2, f"{error}: free some space and start again")
            _leave(1, str(error))
        except USAGE_ERROR as error:
            _leave(2, _one_line(error))
    sys.exit(status)


@contextmanager
def progress() -> Iterator[OnStep | None]:
    """Show a progress bar for each stage on standard error if it is a terminal.

    Stages follow each other, so a stage is over when another one begins: its bar is then full, also where a
    training stopped early. The last :data:`BARS` stages are shown: a fit has more than a screen has lines.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    from otherhalf.cli.stages import in_words

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def on_step(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                fill()
                for task in bars.tasks[: 1 - BARS]:
                    bars.update(task.id, visible=False)
                tasks[stage] = bars.add_task(in_words(stage), total=total)
            bars.update(tasks[stage], completed=done, total=total)

        def fill() -> None:
            for task in bars.tasks:
                bars.update(task.id, completed=task.total)

        yield on_step
        fill()


def set_threads(threads: int | None) -> None:
    """Set the number of threads of torch, if one is given."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def command_line() -> str:
    """Return the command as one would type it again."""
    return shlex.join(["otherhalf", *sys.argv[1:]])


def say(text: str) -> None:
    """Print a sentence on standard error, in one line."""
    if sys.stderr is not None:  # print would write it to standard output
        with suppress(OSError):  # a broken pipe, and nobody to tell it to
            print(f"otherhalf: {printable(text)}", file=sys.stderr)


def print_result(values: dict[str, Any], text: str, as_json: bool) -> None:
    """Print a result on standard output: as one JSON object, or as text."""
    print(json.dumps(values) if as_json else printable(text, keep="\n"))


def _prepare_streams() -> None:
    """Let any text be printed, and let no file that is opened take the place of a closed stream."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the smallest number that is free
    if sys.stdout is None:
        raise InputError("standard output is closed, and the result could not be printed: open it")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII stream would refuse other letters
            stream.reconfigure(errors="backslashreplace")


def _leave_quietly() -> NoReturn:
    """End as other Python programs do when nobody reads their output any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # or the interpreter would complain when it flushes
    sys.exit(1)


def _leave(status: int, message: str) -> NoReturn:
    if message:
        say(message)
    sys.exit(status)


def _one_line(error: Any) -> str:
    """Return typer's message on a wrong option as one line; empty where it has printed the help instead."""
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "otherhalf"
    return message and f"{message[0].lower()}{message[1:]}: see `{command} --help`"


def _show_warning(message: Warning | str, *details: Any, **more: Any) -> None:
    say(f"note: {message}")
