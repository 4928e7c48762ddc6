"""The command line; :func:`main` is what ``otherhalf`` runs."""

from otherhalf.cli.signals import Stopped, end, ignore_signals, listen


def main() -> None:
    """Run the command line as a process of its own, which listens to signals from the first import on."""
    try:
        try:
            listen()
            from otherhalf.cli.commands import main as run_command

            run_command()
        except SystemExit:
            ignore_signals()  # the interpreter ends, and must not be disturbed
            raise
        except Stopped as stopped:
            end(stopped)
    except Stopped as stopped:  # one more, while the first was handled
        end(stopped)


__all__ = ["main"]
