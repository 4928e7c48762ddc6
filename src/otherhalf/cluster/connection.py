"""The connection of this process to Ray, made once: only here are Ray's own settings."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from otherhalf.cluster.address import AUTO, Address, check_installed, no_answer
from otherhalf.cluster.guardian import dismiss, start_guardian
from otherhalf.errors import InputError
from otherhalf.system.memory import available_bytes, in_bytes
from otherhalf.system.scratch import folder_of_sockets

PRIVATE: Mapping[str, str] = {
    "RAY_AUTH_MODE": "token",
    # Despite its name it decides on every system whether a Ray listens on the loopback interface alone.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Workers have the priority of this process, as those of the process pool; Ray would give them the lowest.
    "RAY_worker_niceness": "0",
}
"""Settings of a Ray of our own, which Ray reads from the environment."""

QUIET: Mapping[str, str] = {"RAY_DEDUP_LOGS_SKIP_REGEX": ".", "RAY_USAGE_STATS_ENABLED": "0"}
"""Settings of every connection: standard output, where Ray prints its warnings, is for results."""

QUICK_TO_GIVE_UP: Mapping[str, str] = {
    "RAY_gcs_rpc_server_connect_timeout_s": "3",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
    "RAY_NUM_REDIS_GET_RETRIES": "4",
}
"""Settings of a process that tries an address: by default Ray waits for two minutes."""

SECONDS_TO_TRY = 40.0
LONGEST_FOLDER = 24
"""Most characters of the folder of temporary files for Ray's sockets: it adds 83, and 107 are the most."""

STORE_SHARE = 0.25
SMALLEST_STORE, LARGEST_STORE = 100_000_000, 4_000_000_000
"""Bytes of the store of shared objects of a Ray of our own: a share of the memory that is free."""

_connected: Address | None = None
_guardian: subprocess.Popen[bytes] | None = None


def connect(address: Address, cpus: int) -> Any:
    """Return the module ``ray``, connected; a connection that this process has is used again.

    Args:
        address: Where the Ray is.
        cpus: Number of processors of a Ray of our own.
    """
    global _connected
    check_installed()
    address.check_answers()
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        if _connected not in (None, address):
            raise InputError("this process is connected to another Ray: call ray.shutdown() first")
        return sys.modules["ray"]
    os.environ.update(QUIET)
    if address.is_local:
        os.environ.update(PRIVATE)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        start = _local_settings(cpus)
    else:
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        _try(address)
        start = {"address": address.text}
    import ray

    # It reads the settings again, for a process that had imported Ray before.
    import_module("ray._raylet").Config.initialize("")
    with _own_handlers(), signals_as_they_are():
        ray.init(**start, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    _connected = address
    return ray


def disconnect() -> None:
    """End the connection, and a Ray of our own with all its processes; without one, do nothing."""
    global _connected, _guardian
    if _connected is not None:
        _connected = None
        with _own_handlers():
            sys.modules["ray"].shutdown()
    if _guardian is not None:
        dismiss(_guardian)
        _guardian = None


def _local_settings(cpus: int) -> dict[str, Any]:
    global _guardian
    folder = folder_of_sockets(LONGEST_FOLDER)
    if _guardian is None:
        _guardian = start_guardian(folder)
    return {
        "address": "local",
        "num_cpus": cpus,
        "include_dashboard": False,
        "object_store_memory": _store_bytes(),
        "_temp_dir": str(folder),
    }


def _store_bytes() -> int:
    """Return the size of the store, which shall fit into the memory and into the shared memory."""
    free = available_bytes()
    with suppress(OSError):
        free = min(free, shutil.disk_usage("/dev/shm").free)
    size = int(min(LARGEST_STORE, STORE_SHARE * free))
    if size < SMALLEST_STORE:
        raise InputError(
            f"Ray needs {in_bytes(SMALLEST_STORE / STORE_SHARE)} of memory (and of /dev/shm), and "
            f"{in_bytes(free)} are free: end other programs, or use --executor processes"
        )
    return size


def _try(address: Address) -> None:
    """Raise InputError if a cluster cannot be joined. Another process tries: Ray would end this one."""
    code = (
        "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False); "
        "print('connected')"
    )
    environment = {**os.environ, **QUICK_TO_GIVE_UP}
    try:
        tried = subprocess.run(
            [sys.executable, "-c", code, address.text],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS_TO_TRY,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise no_answer(_named(address), f"nothing came within {SECONDS_TO_TRY:.0f} s") from error
    if "connected" in tried.stdout:
        return
    said = tried.stderr
    if "uthenticat" in said:
        raise InputError(
            f"the Ray at {_named(address)} and this process have no common token: let RAY_AUTH_TOKEN or "
            "~/.ray/auth_token have the token of the cluster, as on its machines (`ray get-auth-token`), or, "
            "if it was started without, RAY_AUTH_MODE=disabled"
        )
    if "ersion mismatch" in said:
        raise InputError(
            f"the Ray at {_named(address)} runs another version of Ray or Python: install the same ones "
            "on all machines (pip install -c constraints.txt)"
        )
    raise no_answer(_named(address), _last_line(said))


def _named(address: Address) -> str:
    return "this machine" if address.text == AUTO else address.text


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].rpartition("Error: ")[2][:200].rstrip(".") if lines else "it says nothing"


@contextmanager
def signals_as_they_are() -> Iterator[None]:
    """Raise in the block what a handler of a signal raises, where Ray makes a SystemError of it."""
    try:
        yield
    except SystemError as error:
        raise error.__cause__ or error from None


@contextmanager
def _own_handlers() -> Iterator[None]:
    """Keep this process's handlers of signals: Ray sets one of its own for SIGTERM."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
