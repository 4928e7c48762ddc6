import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest
from tests.ray_nodes import RAY

from otherhalf.cluster import connection
from otherhalf.cluster.address import Address
from otherhalf.cluster.connection import connect
from otherhalf.errors import InputError

pytestmark = RAY


def test_a_connection_is_used_again_and_there_is_one(nodes, tasks):
    assert connect(nodes.address, 1) is tasks.ray
    with pytest.raises(InputError, match="connected to another Ray"):
        connect(Address(""), 1)


def test_handlers_of_signals_stay():
    before = signal.getsignal(signal.SIGTERM)
    with connection._own_handlers():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_a_handler_raises_arrives():
    class Stopped(BaseException):
        pass

    with pytest.raises(Stopped), connection.signals_as_they_are():
        raise SystemError("returned a result with an exception set") from Stopped()
    with pytest.raises(SystemError, match="own"), connection.signals_as_they_are():
        raise SystemError("own")


def test_what_listens_and_is_no_ray_is_given_up_within_seconds(nodes, monkeypatch):
    monkeypatch.setattr(connection, "QUICK_TO_GIVE_UP", dict.fromkeys(connection.QUICK_TO_GIVE_UP, "1"))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        place = f"127.0.0.1:{listening.getsockname()[1]}"
        begun = time.monotonic()
        with pytest.raises(InputError, match=rf"no Ray answers at {place} \(.+\): give the address"):
            connection._try(Address(place))
        assert time.monotonic() - begun < connection.SECONDS_TO_TRY + 5


def test_another_token_is_refused(nodes, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 32)
    with pytest.raises(InputError, match="have no common token: let RAY_AUTH_TOKEN"):
        connection._try(nodes.address)


def test_the_store_is_a_share_of_what_is_free(monkeypatch):
    monkeypatch.setattr(connection, "available_bytes", lambda: 1_000_000_000)
    assert connection._store_bytes() == 250_000_000
    monkeypatch.setattr(connection, "available_bytes", lambda: 100_000_000)
    with pytest.raises(InputError, match="Ray needs 400 MB of memory"):
        connection._store_bytes()


LOCAL = """
import operator
import sys
import psutil
import ray                       # a program may have imported it before
from otherhalf.cluster.address import Address
from otherhalf.cluster.connection import connect, disconnect
from otherhalf.cluster.tasks import Tasks

tasks = Tasks(Address(), 1)
assert dict(tasks.run(operator.add, [1], lambda one: (one, 1), at_once=1)) == {1: 2}
family = [psutil.Process(), *psutil.Process().children(recursive=True)]
listening = {c.laddr.ip for p in family for c in p.net_connections("inet") if c.status == "LISTEN"}
print(listening - {"127.0.0.1", "::ffff:127.0.0.1"}, file=sys.stderr)
print([p.name() for p in family if "dashboard" in p.name()], file=sys.stderr)
disconnect()
assert not any(p.is_running() and p.status() != "zombie" for p in family[1:])
"""


def test_a_ray_of_our_own_listens_to_this_machine_alone_and_leaves_nothing(tmp_path):
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="t") as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        environment |= {"TMPDIR": folder, "HOME": str(tmp_path), "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
        done = subprocess.run([sys.executable, "-c", LOCAL], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout, os.listdir(folder)) == (0, "", []), done.stderr
    assert done.stderr.splitlines()[-2:] == ["set()", "[]"]
    assert os.listdir(tmp_path) == []  # no token is left in the home folder
