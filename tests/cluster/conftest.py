"""One cluster for all tests of this folder, which ends with the last of them."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.ray_nodes import three_nodes

from otherhalf.cluster.tasks import Tasks

STARTED = []
STACK = ExitStack()


@pytest.fixture
def nodes():
    """Three nodes, also after a test that killed one."""
    if not STARTED:
        STARTED.append(STACK.enter_context(three_nodes()))
    STARTED[0].ensure(3)
    return STARTED[0]


@pytest.fixture
def tasks(nodes):
    """This process, connected to them."""
    return Tasks(nodes.address, 1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    yield
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        STACK.close()
        STARTED.clear()
