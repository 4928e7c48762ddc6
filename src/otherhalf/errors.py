"""The errors that this package raises for its users, and how their sentences are shown."""

import unicodedata

# Characters that turn the direction of what follows, so that a name can look like another one.
_TURNING = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_UNSHOWN = ("Cc", "Cs", "Zl", "Zp")  # controls, halves of characters, separators of lines and paragraphs


LONGEST = 2_000
"""Most characters of a sentence: a name or a cell in it can have any length."""


def shortened(text: str) -> str:
    """Return text without its middle if it is very long: what is wrong is said first, and the fix last."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]} […] {text[-LONGEST // 4 :]}"


class InputError(ValueError):
    """The user's input cannot be used: one sentence says what is wrong and how to correct it.

    The command line prints the sentence and exits with status 2; it does so for no other error.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message)))


class NotEnoughMemory(InputError):
    """A fit needs more memory than this process may still use; nothing of it has begun."""


class RunsFailed(Exception):
    """Some runs of an experiment ended without a result; the results of the others are kept."""


def printable(text: str, keep: str = "") -> str:
    r"""Return text for one line of a terminal, in which names from users can do no harm.

    Ends of lines, escape sequences and other control characters are written out, as in ``\n`` and ``\x1b``.

    Args:
        text: The text.
        keep: Control characters that stay, such as the ends of its own lines.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign in keep or _is_shown(sign) else _written_out(sign) for sign in text)


def _is_shown(sign: str) -> bool:
    return unicodedata.category(sign) not in _UNSHOWN and ord(sign) not in _TURNING


def _written_out(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
