"""The files of a fit in its folder: the state of one that runs, and the outcome of one that is over.

``checkpoints/run-…`` has the state of a fit, and is named after everything that decides it. The outcome is
first written there too. When it is whole, its files are moved to the folder one after the other, the result
last: an older outcome stays until then, whatever happens. A process that dies while files are moved leaves
the rest to the next one, which moves it before anything else.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otherhalf.errors import InputError
from otherhalf.estimators.model_folder import MODEL_FILE, is_weights, weights_of
from otherhalf.system.atomic import check_folder, full_disk_refused
from otherhalf.system.own_files import parse_object, read_own_file, reason_of
from otherhalf.training.checkpoint import check_threads

RESULT_FILE = "result.json"
PREDICTIONS_FILE = "predictions.csv"
HALF_FILE = "half.csv"
REPORT_FILE = "report.json"
WRITTEN = (RESULT_FILE, PREDICTIONS_FILE, HALF_FILE, REPORT_FILE, MODEL_FILE)
"""Files that a fit writes, over older ones of the same names."""
CHECKPOINTS = "checkpoints"
OUTCOME = "outcome"
STATE = re.compile(r"run-[0-9a-f]{16}")
FIX = "delete it, or start without --resume"


@dataclass(frozen=True)
class RunFiles:
    """The files of one fit; ``identity`` is a hash of everything that decides what it writes."""

    folder: Path
    identity: str

    @property
    def state(self) -> Path:
        """Folder of the checkpoints."""
        return self.folder / CHECKPOINTS / f"run-{self.identity[:16]}"

    @property
    def outcome(self) -> Path:
        """Folder of the outcome until it is whole."""
        return self.state / OUTCOME

    def check(self) -> None:
        """Raise InputError if the fit could not be written; call it before the fit, not after it."""
        check_folder(self.folder)
        for name in (*WRITTEN, CHECKPOINTS):
            path = self.folder / name
            right = path.is_dir() if name == CHECKPOINTS else path.is_file()
            if os.path.lexists(path) and not right:
                kind = "folder" if name == CHECKPOINTS else "file"
                raise InputError(f"{path} is not a {kind}: remove it, or give another --out")

    def begin(self, *, anew: bool) -> None:
        """Make the folder of the state; with ``anew``, an earlier state of the same fit is forgotten."""
        if anew:
            shutil.rmtree(self.state, ignore_errors=True)
        with full_disk_refused(self.state):
            self.state.mkdir(parents=True, exist_ok=True)

    def finished(self, show: Callable[[dict[str, Any]], Any]) -> dict[str, Any] | None:
        """Return the result if this fit is over; None if it was stopped, or never begun.

        Raise InputError if the folder holds another fit. ``show`` shows a result: one that cannot be shown is
        damaged.
        """
        path = self.folder / RESULT_FILE
        stopped = self.state.is_dir()
        if not os.path.lexists(path):
            if not stopped and next(_states(self.folder), None) is not None:
                raise InputError(
                    f"{self.folder} holds a stopped fit with other data, settings or seed: give the same "
                    "ones, or start without --resume"
                )
            return None
        result = parse_object(read_own_file(path, FIX), path, FIX)
        if result.get("run") != self.identity:
            if stopped:  # this fit was to replace the finished one
                return None
            raise InputError(
                f"{self.folder} holds a finished fit of other data, settings, seed or version: give another "
                "--out, or drop --resume to replace it"
            )
        try:
            show(result)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            raise InputError(f"{path} is damaged ({reason_of(error)}): {FIX}") from error
        if "threads" in result:  # older versions did not write it
            check_threads(result["threads"], str(path))
        return result

    def empty_outcome(self) -> Path:
        """Return the folder of the outcome, without what a fit that died has left there."""
        shutil.rmtree(self.outcome, ignore_errors=True)
        with full_disk_refused(self.outcome):
            self.outcome.mkdir(parents=True)
        return self.outcome

    def publish(self) -> None:
        """Put the whole outcome into the folder, and remove the states of all fits."""
        _move(self.outcome, self.folder)
        for state in _states(self.folder):
            shutil.rmtree(state, ignore_errors=True)
        _remove_if_empty(self.folder / CHECKPOINTS)

    def forget_state(self) -> None:
        """Remove what is left of the state of this fit, which is over: it may have died while it did so."""
        shutil.rmtree(self.state, ignore_errors=True)
        _remove_if_empty(self.folder / CHECKPOINTS)


def complete_earlier(folder: Path) -> None:
    """Move the rest of an outcome that a fit which died had begun to move."""
    for state in _states(folder):
        if (state / OUTCOME / RESULT_FILE).is_file():
            _move(state / OUTCOME, folder)
            shutil.rmtree(state, ignore_errors=True)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # there is none, another fit was stopped, or the user keeps files there
        folder.rmdir()


def _states(folder: Path) -> Iterator[Path]:
    checkpoints = folder / CHECKPOINTS
    if checkpoints.is_dir():
        yield from (path for path in sorted(checkpoints.iterdir()) if STATE.fullmatch(path.name))


def _move(outcome: Path, folder: Path) -> None:
    """Move the files of an outcome; files of the older one that they do not replace are removed.

    The result is moved last, so the older one says until then which files are its own.
    """
    older = _older_result(folder / RESULT_FILE)
    old_weights = older.get("weights", weights_of(folder))
    # If the predictions are in place already, so may be the new half and the new report.
    if (outcome / PREDICTIONS_FILE).exists():
        if older.get("half_rows") is not None:
            (folder / HALF_FILE).unlink(missing_ok=True)
        if older.get("report"):
            (folder / REPORT_FILE).unlink(missing_ok=True)
    for name in sorted((path.name for path in outcome.iterdir()), key=_place):
        if name == RESULT_FILE and is_weights(old_weights) and old_weights != weights_of(folder):
            (folder / old_weights).unlink(missing_ok=True)
        os.replace(outcome / name, folder / name)


def _place(name: str) -> int:
    """Return the place of a file among those that are moved: weights, the model that names them, the rest."""
    order = (MODEL_FILE, PREDICTIONS_FILE, HALF_FILE, REPORT_FILE, RESULT_FILE)
    return order.index(name) if name in order else -1


def _older_result(path: Path) -> dict[str, Any]:
    try:
        return parse_object(read_own_file(path, FIX), path, FIX)
    except InputError:  # there is none, or it is damaged and says nothing
        return {}
