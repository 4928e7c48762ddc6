"""The command line; :func:`main` is what ``otherhalf`` runs."""

from otherhalf.cli.process import main

__all__ = ["main"]
