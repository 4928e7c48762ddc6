"""Available memory: the smaller of what the machine has free and what the control groups allow."""

from types import SimpleNamespace

import psutil
import pytest

from otherhalf.system import memory

GB = 1 << 30
NO_LIMIT_V1 = 9223372036854771712


@pytest.fixture
def cgroups(tmp_path, monkeypatch):
    """Give a function that writes the files of control groups, on a machine with 8 GB free."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * GB))
    monkeypatch.setattr(memory, "CGROUP_MOUNT", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "OWN_CGROUPS", tmp_path / "own")

    def write(own, files):
        (tmp_path / "own").write_text(own)
        for name, content in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")

    return write


def test_without_control_groups_the_machine_decides(cgroups):
    assert memory.available_bytes() == 8 * GB


def test_version_2(cgroups):
    cgroups("0::/job\n", {"job/memory.max": 3 * GB, "job/memory.current": GB})
    assert memory.available_bytes() == 2 * GB


def test_the_limit_of_a_parent_holds_too(cgroups):
    files = {
        "jobs/memory.max": 4 * GB,
        "jobs/memory.current": 3 * GB,
        "jobs/mine/memory.max": "max",
        "jobs/mine/memory.current": GB,
    }
    cgroups("0::/jobs/mine\n", files)
    assert memory.available_bytes() == GB


def test_file_cache_that_can_be_dropped_is_free(cgroups):
    stat = f"anon {GB // 2}\ninactive_file {GB}\nactive_file 5"
    cgroups("0::/\n", {"memory.max": 3 * GB, "memory.current": 2 * GB, "memory.stat": stat})
    assert memory.available_bytes() == 2 * GB


def test_version_1(cgroups):
    files = {
        "memory/job/memory.limit_in_bytes": 2 * GB,
        "memory/job/memory.usage_in_bytes": GB,
        "memory/job/memory.stat": f"cache {GB}\ninactive_file 7\ntotal_inactive_file {GB // 4}",
        "memory/memory.limit_in_bytes": NO_LIMIT_V1,
        "memory/memory.usage_in_bytes": 5 * GB,
    }
    cgroups("9:name=systemd:/\n4:cpu,memory:/job\n0::/\n", files)
    assert memory.available_bytes() == GB + GB // 4


def test_in_a_container_the_path_of_the_host_is_not_visible(cgroups):
    cgroups("0::/host/docker/abc\n", {"memory.max": GB, "memory.current": GB // 2})
    assert memory.available_bytes() == GB // 2


@pytest.mark.parametrize("limit", ["max", NO_LIMIT_V1, 100 * GB])
def test_a_limit_above_the_machine_changes_nothing(cgroups, limit):
    cgroups("0::/\n", {"memory.max": limit, "memory.current": GB})
    assert memory.available_bytes() == 8 * GB


def test_a_group_above_its_limit_leaves_nothing(cgroups):
    cgroups("0::/\n", {"memory.max": GB, "memory.current": 2 * GB})
    assert memory.available_bytes() == 0


def test_on_this_machine():
    assert 0 < memory.available_bytes() <= psutil.virtual_memory().total
