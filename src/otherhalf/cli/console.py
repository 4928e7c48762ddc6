"""Output of the command line beside its result: one line for an error, progress bars, notes for warnings."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from otherhalf.errors import InputError, RunsFailed, printable

if TYPE_CHECKING:
    from otherhalf.training.loop import OnStep

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The parent of typer's own errors (a wrong option, a missing argument), which it does not export."""

SIGINT_STATUS = 130
BARS = 6
STOPPED = (
    "stopped; finished work is kept: continue a fit with --out by --resume, an experiment by the same command"
)


def run(app: typer.Typer) -> NoReturn:
    """Run a command line. Exit status: 0 done, 2 the input is wrong, 1 anything else."""
    warnings.showwarning = _show_warning
    try:
        # Typer itself would print its errors in a box of many lines.
        status = app(prog_name="otherhalf", standalone_mode=False)
    except InputError as error:
        _leave(2, str(error))
    except (KeyboardInterrupt, typer.Abort):
        _leave(1, STOPPED)
    except (MemoryError, RuntimeError, OSError, RunsFailed) as error:
        from otherhalf.system.memory import memory_sentence, out_of_memory

        if out_of_memory(error):
            _leave(2, memory_sentence(error))
        if isinstance(error, RuntimeError):
            raise
        _leave(1, str(error))
    except USAGE_ERROR as error:
        _leave(2, _one_line(error))
    if status == SIGINT_STATUS:
        _leave(1, STOPPED)
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
    print(f"otherhalf: {printable(text)}", file=sys.stderr)


def print_result(values: dict[str, Any], text: str, as_json: bool) -> None:
    """Print a result on standard output: as one JSON object, or as text."""
    print(json.dumps(values) if as_json else printable(text, keep="\n"))


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
