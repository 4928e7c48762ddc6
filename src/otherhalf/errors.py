"""The errors that this package raises for its users."""


class InputError(ValueError):
    """The user's input cannot be used: one sentence says what is wrong and how to correct it.

    The command line prints the sentence and exits with status 2; it does so for no other error.
    """


class RunsFailed(Exception):
    """Some runs of an experiment ended without a result; the results of the others are kept."""
