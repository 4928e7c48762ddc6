"""What may come of one input, one kill or one failing call, and the count of each."""

import resource
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from otherhalf.errors import InputError

SECONDS = 20.0
"""What takes longer than this for a graph of a dozen nodes hangs."""

GOOD = ("accepted", "refused", "kept")
BAD = ("traceback", "hang", "silent", "lost")


class Hang(BaseException):
    """The time is over; no ``except Exception`` may hold it back."""


@dataclass
class Tally:
    """Counts of outcomes by part, and what went wrong, with all that is needed to do it again."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, part: str, outcome: str, what: str = "") -> None:
        self.counts.setdefault(part, Counter())[outcome] += 1
        if outcome in BAD:
            self.faults.append(f"{part}: {outcome}: {what}")

    def table(self) -> str:
        names = [*GOOD, *BAD]
        rows = [["", "tried", *names]]
        total: Counter[str] = Counter()
        for part, counts in self.counts.items():
            rows.append([part, str(counts.total()), *(str(counts[name]) for name in names)])
            total += counts
        rows.append(["all", str(total.total()), *(str(total[name]) for name in names)])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        )


def attempt(action: Callable[[], Any], check: Callable[[Any], str | None] | None = None) -> tuple[str, str]:
    """Do it; return the outcome and what is wrong with it.

    A refusal is an InputError with a message. What is accepted goes to ``check``, which returns a sentence if
    it should not have been.
    """
    try:
        with time_limit(SECONDS):
            result = action()
            wrong = check(result) if check is not None else None
    except InputError as error:
        message = str(error)
        return ("refused", message) if message.strip() else ("traceback", "a refusal without a word")
    except Hang:
        return "hang", f"more than {SECONDS:.0f} s"
    except Exception:
        return "traceback", "".join(traceback.format_exc()[-1500:])
    return ("silent", wrong) if wrong else ("accepted", "")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def memory_limit(gigabytes: float) -> Iterator[None]:
    """Let what asks for more memory than this fail at once, instead of making the machine swap."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 2**30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
