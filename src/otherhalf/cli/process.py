"""The command line as a process of its own."""

import gc

from otherhalf.cli.signals import Stopped, end, ignore_signals, listen

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""New objects after which Python looks for cycles. After each 700, as usual, it would walk through the
libraries again and again while they are imported: a fifth of the time that takes."""


def main() -> None:
    """Run the command line as a process of its own, which listens to signals from the first import on."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        try:
            listen()
            from otherhalf.cli.commands import main as run_command

            run_command()
        except SystemExit:
            ignore_signals()  # the interpreter ends, and must not be disturbed
            gc.freeze()  # the last search for cycles would take most of a second, to free what ends anyway
            raise
        except Stopped as stopped:
            end(stopped)
    except Stopped as stopped:  # one more, while the first was handled
        end(stopped)
