import os
import subprocess
import sys
import time

from tests.ray_nodes import RAY, wait_until

from otherhalf.cluster.guardian import dismiss, processes_of, start_guardian

pytestmark = RAY

SLEEP = """
import sys, time
log = open(sys.argv[1], "w")
time.sleep(60)
"""


def sleeper(path):
    path.parent.mkdir(exist_ok=True)
    return subprocess.Popen([sys.executable, "-c", SLEEP, str(path)])


def test_processes_with_a_log_in_the_folder_end_and_no_other(tmp_path):
    ray = tmp_path / "ray"
    ours, other = sleeper(ray / "a.log"), sleeper(tmp_path / "rays" / "b.log")
    try:
        wait_until(lambda: (tmp_path / "rays" / "b.log").exists())
        wait_until(lambda: [each.pid for each in processes_of(ray, os.getpid())] == [ours.pid])
        with (ray / "own.log").open("w"):
            guardian = start_guardian(ray)
            time.sleep(0.5)
            assert ours.poll() is None
            dismiss(guardian)
        assert guardian.poll() == 0
        assert ours.wait(5) == -9
        assert other.poll() is None
    finally:
        for each in (ours, other):
            each.kill()
            each.wait()


KILLED = """
import subprocess, sys, time
from pathlib import Path
from otherhalf.cluster.guardian import start_guardian
folder = Path(sys.argv[1])
start_guardian(folder)
subprocess.Popen([sys.executable, "-c", sys.argv[2], str(folder / "a.log")])
print("ready", flush=True)
time.sleep(60)
"""


def test_they_end_too_where_the_process_is_killed(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path), SLEEP]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    wait_until(lambda: processes_of(tmp_path, 0))
    process.kill()
    process.stdout.close()
    process.wait()
    wait_until(lambda: not processes_of(tmp_path, 0), 20)
