"""Fixtures shared by all tests."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Examples are the same in every run, so that a test that passed passes again; HYPOTHESIS_PROFILE=search draws
# new ones, which is how defects are found. How long an example takes is the machine's affair, not the test's.
IN_ANY_TIME = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", IN_ANY_TIME, derandomize=True)
settings.register_profile("search", IN_ANY_TIME)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# One thread, here and in the processes that tests start: the graphs are small, and several threads would only
# wait for each other where the machine has other work. Set before anything imports torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Let what a test draws without a seed not depend on the tests before it, in whatever process."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real data sets; tests that need them are skipped where it is absent."""
    named = os.environ.get("OTHERHALF_DATA")
    if not named or not (Path(named) / "cora.npz").is_file():
        pytest.skip("real data absent: set OTHERHALF_DATA")
    return Path(named).resolve()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With several test processes, a file's tests go to one of them: what a file prepares, it prepares once.

    All tests with a Ray cluster go to the same process, which keeps one cluster; two would be one too many.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        with_ray = hasattr(getattr(item, "module", None), "RAY")
        item.add_marker(pytest.mark.xdist_group("ray" if with_ray else item.nodeid.split("::")[0]))
