class InputError(ValueError):
    """What the user gave cannot be used: one sentence saying what is wrong and how to put it right.

    The command line prints the sentence and leaves with status 2; nothing else does.
    """


class RunsFailed(Exception):
    """Some runs of an experiment ended without a result; the others are kept."""
