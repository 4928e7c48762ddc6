"""End the processes of a Ray of our own when the process that started it is gone, even if it was killed.

Ray's own helpers wait for each other for a minute then. The guardian is a process of its own, which reads
from a pipe whose other end only the starting process holds: the system closes it in any case.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

SECONDS_TO_END = 20.0


def start_guardian(folder: Path) -> subprocess.Popen[bytes]:
    """Start a guardian of the Ray whose files are in a folder; this process holds its pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "otherhalf.cluster.guardian", str(folder), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in a terminal is not for it
    )


def dismiss(guardian: subprocess.Popen[bytes]) -> None:
    """Let a guardian end what is left, and wait for it."""
    if guardian.stdin is not None:
        guardian.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        guardian.wait(SECONDS_TO_END)


def processes_of(folder: Path, starter: int) -> list[psutil.Process]:
    """Return the processes but the starter that have a file in the folder open: Ray's have logs."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            opened = [Path(file.path) for file in process.open_files()]
            if process.pid != starter and any(folder in path.parents for path in opened):
                found.append(process)
    return found


def main(folder: Path, starter: int) -> None:
    """Wait until the pipe is closed, then end the processes, also those that they start meanwhile."""
    sys.stdin.buffer.read()
    end = time.monotonic() + SECONDS_TO_END
    while (left := processes_of(folder, starter)) and time.monotonic() < end:
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
