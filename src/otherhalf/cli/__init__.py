"""The command line; :func:`main` is what ``otherhalf`` runs."""

from otherhalf.cli.commands import main

__all__ = ["main"]
