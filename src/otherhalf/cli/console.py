"""Output of the command line: a result, one line for an error, notes for warnings, commands to type."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

import typer

from otherhalf.cli.signals import Stopped, end, listening
from otherhalf.errors import InputError, RunsFailed, printable
from otherhalf.system.atomic import FULL_DISK

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The parent of typer's own errors (a wrong option, a missing argument), which it does not export."""


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


def set_threads(threads: int | None) -> None:
    """Set the number of threads of torch, if one is given."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def command_line() -> str:
    """Return the command as one would type it again."""
    return typed(sys.argv[1:])


def typed(words: Iterable[str]) -> str:
    """Return a command of this program as one would type it in a shell."""
    return " ".join(["otherhalf", *map(_quoted, words)])


def _quoted(word: str) -> str:
    """Return a word for a shell; control characters, which no terminal should get, written out."""
    return shlex.quote(word) if printable(word) == word else f"$'{''.join(map(_escaped, word))}'"


def _escaped(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if "\udc80" <= sign <= "\udcff":  # a byte of a file name that is no text
        return f"\\x{ord(sign) - 0xDC00:02x}"
    return printable(sign)


def say(text: str) -> None:
    """Print a sentence on standard error, in one line."""
    if sys.stderr is not None:  # print would write it to standard output
        with suppress(OSError):  # a broken pipe, and nobody to tell it to
            print(f"otherhalf: {printable(text)}", file=sys.stderr)


def print_result(values: dict[str, Any], text: str, as_json: bool, *commands: str) -> None:
    """Print a result on standard output: as one JSON object, or as text and the commands to type next."""
    if as_json:
        print_json(values)
        return
    from otherhalf.cli.summary import Summary

    summary = Summary()
    for line in text.split("\n"):
        summary.say(line)
    if commands:
        summary.next(*commands)
    summary.print()


def print_json(values: dict[str, Any]) -> None:
    """Print a result on standard output as one JSON object, in one line."""
    print(json.dumps(values))


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
