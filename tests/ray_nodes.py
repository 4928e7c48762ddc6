"""A Ray cluster of three nodes on this machine, for tests."""

import secrets
import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from otherhalf.cluster.address import Address
from otherhalf.cluster.connection import PRIVATE, QUIET, disconnect

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
TOKEN = secrets.token_hex(16)
"""One for all clusters of a test process: Ray keeps the first that it sees."""

QUICK_TO_NOTICE = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "5000",
}
"""Ray would notice a dead node after fifteen seconds, if no connection breaks."""


class Nodes:
    """The nodes: the first one is that of this process, and each has one processor."""

    def __init__(self, folder):
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(initialize_head=True, head_node_args={**NODE, "temp_dir": folder})
        self.ensure(3)

    @property
    def address(self):
        return Address(self.cluster.address)

    def ensure(self, count):
        """Start nodes until there are so many."""
        while len(self.cluster.list_all_nodes()) < count:
            self.cluster.add_node(num_cpus=1, object_store_memory=NODE["object_store_memory"])
        self.cluster.wait_for_nodes()

    def kill_one(self):
        """Kill a node with all its processes, without a warning to any of them."""
        node = next(iter(self.cluster.worker_nodes))
        self.cluster.remove_node(node, allow_graceful=False)


@contextmanager
def three_nodes():
    """Yield the cluster; afterwards none of its processes is left.

    Ray is imported here and not before: it reads these settings when it is.
    """
    folder = Path(tempfile.mkdtemp(prefix="r-", dir="/tmp"))
    (folder / "ray").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            **PRIVATE,
            **QUIET,
            **QUICK_TO_NOTICE,
            "RAY_AUTH_TOKEN": TOKEN,
            "RAY_TMPDIR": str(folder),
        }.items():
            patch.setenv(name, value)
        handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
        nodes = Nodes(str(folder / "ray"))
        try:
            yield nodes
        finally:
            disconnect()
            nodes.cluster.shutdown()
            for each, handler in handlers.items():
                signal.signal(each, handler)
            shutil.rmtree(folder, ignore_errors=True)


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.05)


RAY = pytest.mark.skipif(
    sys.platform != "linux" or find_spec("ray") is None,
    reason="needs Linux and `pip install 'otherhalf[cluster]'`",
)
