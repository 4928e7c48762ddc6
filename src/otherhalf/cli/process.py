"""The command line as a process of its own."""

import gc
import os

from otherhalf.cli.signals import Stopped, end, ignore_signals, listen

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""New objects after which Python looks for cycles. After each 700, as usual, it would walk through the
libraries again and again while they are imported: a fifth of the time that takes."""


TURNS = "10000"
"""How often an idle thread looks for work before it sleeps. By default it looks for so long that it takes the
core from other work: beside two busy processes a fast fit of Cora took 47 s, and 21 s with this number. Where
nothing else runs, it makes no difference."""


def wait_politely() -> None:
    """Let the threads of torch's products leave their cores soon after their work, unless the user chose."""
    if "OMP_WAIT_POLICY" not in os.environ:  # GNU's OpenMP reads both when torch is imported
        os.environ.setdefault("GOMP_SPINCOUNT", TURNS)


def main() -> None:
    """Run the command line as a process of its own, which listens to signals from the first import on."""
    wait_politely()
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
