"""Available memory: the least of what the machine, the control groups and the process's own limits leave."""

import errno
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from otherhalf.errors import NotEnoughMemory
from otherhalf.system import memory

GB = 1 << 30
NO_LIMIT_V1 = 9223372036854771712


@pytest.fixture
def cgroups(tmp_path, monkeypatch):
    """Give a function that writes the files of control groups, on a machine with 8 GB free."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * GB))
    monkeypatch.setattr(memory, "CGROUP_MOUNT", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "RESOURCE_LIMITS", {})

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


def test_the_tightest_limit_has_a_name(cgroups):
    assert memory.room() == (8 * GB, "the machine")
    cgroups("0::/\n", {"memory.max": 3 * GB, "memory.current": GB})
    assert memory.room() == (2 * GB, "the limit of the container or job (cgroup)")


LIMITED = """
import resource, sys
from otherhalf.system.memory import room
before = room()
limit = getattr(resource, sys.argv[1])
resource.setrlimit(limit, (int(sys.argv[2]), resource.getrlimit(limit)[1]))
print(before.free, *room(), sep="|")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="another system has other limits")
@pytest.mark.parametrize(("name", "option"), [("RLIMIT_AS", "-v"), ("RLIMIT_DATA", "-d")])
def test_a_limit_of_the_process_counts_less_what_it_uses(name, option):
    bound = 300 << 20
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, name, str(bound)], capture_output=True, text=True, check=True
    )
    before, free, limit = done.stdout.strip().split("|")
    assert int(before) > bound  # or the limit would not be the tightest
    assert 0 < int(free) < bound
    assert limit == f"the limit of this process (ulimit {option})"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "(MemoryError)"),
        (MemoryError("Unable to allocate 1.00 TiB for an array"), "(Unable to allocate 1.00 TiB"),
        (
            RuntimeError(
                "[enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't allocate memory: "
                "you tried to allocate 4 bytes. Error code 12 (Cannot allocate memory)\nframe #0: somewhere"
            ),
            "(can't allocate memory: you tried to allocate 4 bytes. Error code 12 (Cannot allocate memory))",
        ),
        (RuntimeError("std::bad_alloc"), "(std::bad_alloc)"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "([Errno 12] Cannot allocate memory)"),
    ],
)
def test_an_error_of_memory_is_one_sentence(error, said):
    assert memory.out_of_memory(error)
    sentence = memory.memory_sentence(error)
    assert sentence.startswith(f"there was not enough memory {said}")
    assert "\n" not in sentence
    assert " are free now, by the " in sentence


def test_what_libraries_raise_is_recognised():
    pa = pytest.importorskip("pyarrow")
    torch = pytest.importorskip("torch")
    assert memory.out_of_memory(pa.ArrowMemoryError("malloc of size 9 failed"))
    with pytest.raises(RuntimeError) as refused:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert memory.out_of_memory(refused.value)
    with pytest.raises(MemoryError) as refused:
        np.empty(1 << 60, dtype=np.uint8)
    assert memory.out_of_memory(refused.value)


@pytest.mark.parametrize(
    "error", [RuntimeError("size mismatch"), ValueError("x"), OSError(2, "No such file")]
)
def test_other_errors_are_others(error):
    assert not memory.out_of_memory(error)


def test_bytes_in_words():
    assert [memory.in_bytes(size) for size in (2e6, 999e6, 1.24e9)] == ["2 MB", "999 MB", "1.2 GB"]


def tight(free):
    limit = memory.RESOURCE_LIMITS["RLIMIT_AS"]
    return memory.Room(free, limit.title), limit


@pytest.mark.parametrize("kind", [ImportError, OSError])
def test_a_library_that_a_limit_keeps_from_loading(monkeypatch, kind):
    error = kind("libtorch_cpu.so: failed to map segment from shared object")
    monkeypatch.setattr(memory, "_process_allowances", lambda: iter([tight(1)]))
    assert memory.out_of_memory(error)
    assert not memory.out_of_memory(kind("No module named x"))
    monkeypatch.setattr(memory, "_process_allowances", lambda: iter(()))
    assert not memory.out_of_memory(error)


def test_a_limit_that_is_too_small_for_the_libraries(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    needed = memory.RESOURCE_LIMITS["RLIMIT_AS"].libraries
    monkeypatch.setattr(memory, "_process_allowances", lambda: iter([tight(needed)]))
    memory.check_room_for_libraries()
    monkeypatch.setattr(memory, "_process_allowances", lambda: iter([tight(needed - 1)]))
    with pytest.raises(NotEnoughMemory, match=r"take about 1\.5 GB .* by .*ulimit -v\): raise that limit$"):
        memory.check_room_for_libraries()
    monkeypatch.setitem(sys.modules, "torch", object())
    memory.check_room_for_libraries()


LOADED = """
import psutil
before = psutil.Process().memory_info()
import numba, pyarrow, sklearn.ensemble, torch
after = psutil.Process().memory_info()
print(after.vms - before.vms, after.data - before.data)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count other things")
def test_the_libraries_take_about_what_is_said():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    for taken, limit in zip(map(int, done.stdout.split()), memory.RESOURCE_LIMITS.values(), strict=True):
        assert limit.libraries / 2 < taken < limit.libraries


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize("limit", ["v 300000", "v 900000", "d 200000"])
def test_a_command_says_it_before_it_loads_them(limit):
    command = f"ulimit -{limit}; exec {sys.executable} -m otherhalf diagnose csbm:nodes=50"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("otherhalf: the libraries of otherhalf alone take about")
    assert done.stderr.count("\n") == 1
