"""Where a Ray runs: on this machine and started by us, or as a cluster that is there already."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from importlib.util import find_spec

from otherhalf.errors import InputError

AUTO = "auto"
SECONDS_TO_ANSWER = 5.0
PORT_OF_CLIENT = 10001
"""Port of Ray Client, a proxy for programs outside a cluster, which is not what an address names here."""


@dataclass(frozen=True)
class Address:
    """A Ray.

    Attributes:
        text: Empty for a Ray of our own on this machine; ``auto`` for the cluster that this machine is part
            of; otherwise ``HOST:PORT`` as ``ray start --head`` prints it.
    """

    text: str = ""

    @property
    def is_local(self) -> bool:
        """Whether we start it."""
        return not self.text

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address in ``ray``, ``ray://auto`` or ``ray://HOST:PORT``."""
        _, mark, place = text.partition("://")
        if mark and place != AUTO:
            _host_and_port(place)
        return cls(place)

    def check_answers(self) -> None:
        """Raise InputError if nothing listens at a ``HOST:PORT``, within seconds."""
        if self.text in ("", AUTO):
            return
        try:
            socket.create_connection(_host_and_port(self.text), timeout=SECONDS_TO_ANSWER).close()
        except OSError as error:
            raise no_answer(self.text, error.strerror or str(error)) from error


def no_answer(place: str, why: str) -> InputError:
    """Return the sentence for a cluster that cannot be reached."""
    return InputError(
        f"no Ray answers at {place} ({why}): give the address that `ray start --head` printed (port 6379, "
        f"not {PORT_OF_CLIENT}) on a machine of that cluster, or --executor ray for a Ray of this machine"
    )


def check_installed() -> None:
    """Raise InputError if there is no Ray on this computer."""
    if find_spec("ray") is None:
        raise InputError("Ray is not installed: pip install 'otherhalf[cluster]', or leave out --executor")


def _host_and_port(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([\w.-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})", text)
    if not found or not 0 < int(found[2]) < 65536:
        raise InputError(f"{text!r} is no address of a Ray: give ray, ray://auto or ray://HOST:PORT")
    return found[1].strip("[]"), int(found[2])
