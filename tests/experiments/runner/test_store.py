import errno
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import otherhalf
from otherhalf.errors import InputError
from otherhalf.experiments.runner import store as store_module
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store, source_commit


def job(seed=0, **changes):
    fields = {"task": "fit", "data": "cora", "data_hash": "h", "model": "gcn", "options": {"lr": 0.1}}
    return Job(**{**fields, "split": "uniform", "seed": seed, **changes})


def outcome(test=0.1 + 0.2):
    return Outcome({"test": test, "per_class": (1, 2)}, 1.5, 200.25, 1)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def file_of(store):
    return store.folder / "fit" / "cora" / "gcn.jsonl"


def test_what_is_added_is_found_again_with_its_provenance(store):
    assert store.get(job()) is None
    added = store.add(job(), outcome())
    assert store.get(job()) == added == Store(store.folder).get(job())
    assert added.result == {"test": 0.1 + 0.2, "per_class": [1, 2]}
    assert (added.seconds, added.peak_memory_mb, added.threads) == (1.5, 200.25, 1)
    assert (added.format, added.version, added.commit) == (2, otherhalf.__version__, source_commit())
    assert datetime.fromisoformat(added.finished).utcoffset().total_seconds() == 0


def test_a_record_is_one_line_of_sorted_json(store):
    store.add(job(), outcome())
    (line,) = file_of(store).read_text().splitlines()
    values = json.loads(line)
    assert list(values) == sorted(values)
    assert '"test": 0.30000000000000004' in line
    assert Job.from_dict(values["job"]).key == values["key"] == job().key


@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"options": {"lr": 0.2}}, {"data_hash": "i"}, {"split": "fixed"}, {"model": "mlp"}]
)
def test_a_record_of_another_configuration_never_counts(store, other):
    store.add(job(), outcome())
    assert not store.has(job(**other))


def test_records_are_chosen_by_task_data_and_model(store):
    for task in ("fit", "half"):
        for data in ("cora", "texas"):
            for model in ("gcn", "mlp"):
                store.add(job(task=task, data=data, model=model), outcome())
    assert len(store.records()) == 8
    assert len(store.records(data="cora")) == 4
    (one,) = store.records("half", "texas", "mlp")
    assert (one.job.task, one.job.data, one.job.model) == ("half", "texas", "mlp")
    assert store.records("none") == []


def test_of_a_key_that_stands_twice_the_first_counts(store):
    store.add(job(), outcome(0.1))
    store.add(job(), outcome(0.9))
    assert store.get(job()).result["test"] == 0.1
    assert [record.result["test"] for record in store.records()] == [0.1]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=200), st.text(max_size=200)), min_size=1, max_size=4))
def test_any_name_is_a_file_within_the_folder(tmp_path_factory, names):
    store = Store(tmp_path_factory.mktemp("store"))
    jobs = {(data, model): job(data=data, model=model) for data, model in names}
    for one in jobs.values():
        store.add(one, outcome())
        assert store.path(one).resolve().is_relative_to(store.folder.resolve())
    for (data, model), one in jobs.items():
        assert store.has(one)
        assert [record.job for record in store.records("fit", data, model)] == [one]
    assert len(store.records()) == len(jobs)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "nodes.csv,edges.csv", "-x", ".hidden", "é", "x" * 300]
)
def test_odd_names(store, name):
    store.add(job(data=name, model=name), outcome())
    assert store.has(job(data=name, model=name))
    assert [record.job.data for record in store.records(data=name)] == [name]
    assert len(list(store.folder.glob("fit/*/*.jsonl"))) == 1


def test_names_that_share_a_file_do_no_harm(store):
    store.add(job(model=""), outcome(0.1))
    store.add(job(model="none"), outcome(0.2))
    assert store.path(job(model="")) == store.path(job(model="none"))
    assert [record.result["test"] for record in store.records(model="none")] == [0.2]
    assert store.get(job(model="")).result["test"] == 0.1


def test_a_kill_at_any_byte_of_a_record_loses_only_that_record(store):
    for seed in (0, 1):
        store.add(job(seed), outcome())
    path = file_of(store)
    content = path.read_bytes()
    start = content.index(b"\n") + 1
    for cut in range(start, len(content) - 1):  # without its last byte, the line's end, it is still a record
        path.write_bytes(content[:cut])
        fresh = Store(store.folder)
        assert fresh.has(job(0))
        assert not fresh.has(job(1))
        assert path.read_bytes() == content[:cut]  # reading repairs nothing
        fresh.add(job(1), outcome())
        assert [record.job.seed for record in fresh.records()] == [0, 1]
        assert path.read_bytes().count(b"\n") == 2


def test_a_last_record_without_the_end_of_its_line_is_kept(store):
    """Some editors and merges drop it."""
    for seed in (0, 1):
        store.add(job(seed), outcome())
    path = file_of(store)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert Store(store.folder).has(job(1))
    store.add(job(2), outcome())
    assert [record.job.seed for record in store.records()] == [0, 1, 2]
    assert path.read_bytes().count(b"\n") == 3


def test_a_kill_in_the_very_first_record(store):
    store.add(job(0), outcome())
    path = file_of(store)
    path.write_bytes(path.read_bytes()[:20])
    assert store.records() == []
    store.add(job(1), outcome())
    assert [record.job.seed for record in store.records()] == [1]


def as_format_1(values):
    return {key: value for key, value in {**values, "format": 1}.items() if key != "check"}


def changed(**changes):
    return lambda values: json.dumps({**values, **changes})


def without(name):
    return lambda values: json.dumps({key: value for key, value in values.items() if key != name})


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: "no json",
        lambda values: "",
        lambda values: "[]",
        lambda values: "7",
        lambda values: "<<<<<<< HEAD",
        lambda values: json.dumps(values)[:-1],
        lambda values: "\udcff",
        *map(without, ["format", "key", "job", "result", "seconds", "peak_memory_mb", "version", "commit"]),
        changed(key="0" * 64),
        changed(format="one"),
        changed(result=None),
        changed(result={"test": float("nan")}),
        changed(seconds=None),
        changed(peak_memory_mb="much"),
        changed(job=None),
        lambda values: changed(job={**values["job"], "seed": 99})(values),
        lambda values: changed(job={**values["job"], "options": {"lr": float("nan")}})(values),
    ],
)
@pytest.mark.parametrize("older", [False, True])
def test_a_damaged_record_is_named_and_nothing_is_deleted(store, damage, older):
    for seed in range(3):
        store.add(job(seed), outcome())
    path = file_of(store)
    lines = path.read_text().splitlines()
    values = json.loads(lines[1])
    lines[1] = damage(as_format_1(values) if older else values)
    content = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
    path.write_bytes(content)
    for read in (lambda: store.has(job(0)), store.records):
        with pytest.raises(InputError, match=r"gcn\.jsonl, line 2 is no record .*remove that line.*restore"):
            read()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [changed(result={"test": 0.31}), changed(seconds=1.0), changed(commit="0000000"), without("check")],
)
def test_a_changed_digit_is_noticed(store, change):
    store.add(job(), outcome())
    path = file_of(store)
    path.write_text(change(json.loads(path.read_text())) + "\n")
    with pytest.raises(InputError, match=r"no record of a run \(it has (been changed since|no 'check')"):
        store.get(job())


def test_a_record_of_the_first_format_counts(store):
    store.add(job(), outcome())
    path = file_of(store)
    path.write_text(json.dumps(as_format_1(json.loads(path.read_text()))) + "\n")
    assert store.get(job()).result["test"] == outcome().result["test"]


def test_a_record_of_a_newer_version_asks_for_an_upgrade(store):
    store.add(job(), outcome())
    path = file_of(store)
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 3, "key": "?"}) + "\n")
    with pytest.raises(InputError, match="line 1 was written by a newer otherhalf: upgrade"):
        store.has(job())


def test_reading_is_not_repeated_unless_the_file_has_changed(store, monkeypatch):
    store.add(job(), outcome())
    assert store.has(job())
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", None)
        start = time.perf_counter()
        assert all(store.has(job()) for _ in range(2000))
        assert time.perf_counter() - start < 5
    Store(store.folder).add(job(1), outcome())  # as another process would
    assert store.has(job(1))
    shutil.rmtree(store.folder)
    assert not store.has(job())


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "results").touch()
    with pytest.raises(InputError, match="is a file"):
        Store(tmp_path / "results")
    with pytest.raises(InputError, match="no folder that can be written to"):
        Store(tmp_path / "results" / "below").check_writable()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no folder that can be written to"):
        Store(tmp_path / "results").check_writable()
    with pytest.raises(InputError, match="make it writable"):
        Store(tmp_path).add(job(), outcome())


FILL = """
import resource, sys
from otherhalf.errors import InputError
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
store = Store(sys.argv[1])
for seed in range(100):
    job = Job("fit", "cora", "h", "gcn", {"lr": 0.1}, "uniform", seed)
    try:
        store.add(job, Outcome({"test": 0.5}, 1.0, 1.0, 1))
    except InputError as error:
        print(seed, error)
        break
"""


@pytest.mark.parametrize("limit", [10, 1100, 1111])
def test_a_full_disk_loses_no_finished_run(store, limit):
    """The limit on the size of a file makes the system write a part and refuse the rest."""
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(store.folder), str(limit)],
        capture_output=True,
        text=True,
        check=True,
    )
    kept, message = done.stdout.strip().split(" ", 1)
    assert "gcn.jsonl cannot be written (File too large): free some space and start again" in message
    assert "\n" not in message
    content = file_of(store).read_bytes()
    assert content == b"" or content.endswith(b"\n")
    assert len(content) <= limit
    assert [record.job.seed for record in store.records()] == list(range(int(kept)))
    store.add(job(int(kept)), outcome())
    assert store.has(job(int(kept)))


@pytest.mark.parametrize(
    ("number", "fix"), [(errno.ENOSPC, "free some space"), (errno.EDQUOT, "free"), (errno.EIO, "writable")]
)
def test_a_disk_that_refuses_at_the_very_end_leaves_nothing_of_the_record(store, monkeypatch, number, fix):
    store.add(job(0), outcome())
    content = file_of(store).read_bytes()

    def refuse(handle):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(InputError, match=fix):
            store.add(job(1), outcome())
    assert file_of(store).read_bytes() == content
    assert not store.has(job(1))


def add_many(folder, first, count):
    store = Store(folder)
    for seed in range(first, first + count):
        store.add(job(seed), Outcome({"test": 0.5, "filling": "x" * 20_000}, 1.0, 1.0, 1))


def test_several_processes_add_to_one_file(store):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=add_many, args=(store.folder, 40 * i, 40)) for i in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert sorted(record.job.seed for record in store.records()) == list(range(120))
    assert file_of(store).read_bytes().count(b"\n") == 120


def test_a_file_that_git_replaces_meanwhile_gets_the_record(store, monkeypatch):
    store.add(job(0), outcome())
    path = file_of(store)
    flock = store_module.fcntl.flock

    def replace_first(handle, how):
        monkeypatch.undo()
        temporary = path.with_suffix(".new")
        shutil.copy(path, temporary)
        temporary.replace(path)
        flock(handle, how)

    monkeypatch.setattr(store_module.fcntl, "flock", replace_first)
    store.add(job(1), outcome())
    assert [record.job.seed for record in store.records()] == [0, 1]


def test_a_writer_killed_again_and_again_leaves_a_sound_store(store):
    code = (
        "import sys; from tests.experiments.runner import test_store; "
        "test_store.add_many(sys.argv[1], int(sys.argv[2]), 100_000)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    for round_ in range(4):
        first = round_ * 100_000
        process = subprocess.Popen([sys.executable, "-c", code, store.folder, str(first)], env=environment)
        while not store.has(job(first)):
            time.sleep(0.01)
            assert process.poll() is None
        time.sleep(0.01 * round_)
        process.send_signal(signal.SIGKILL)
        process.wait()
        seeds = [record.job.seed for record in store.records() if record.job.seed >= first]
        assert seeds == list(range(first, first + len(seeds)))


def test_outside_a_checkout_there_is_no_commit(monkeypatch):
    monkeypatch.setattr(store_module, "_git", lambda *words: None)
    assert source_commit.__wrapped__() is None


@pytest.mark.parametrize(("state", "mark"), [("", ""), (" M errors.py", "+")])
def test_changed_code_is_marked(monkeypatch, state, mark):
    answers = {"ls-files": "errors.py", "rev-parse": "abc1234", "status": state}
    monkeypatch.setattr(store_module, "_git", lambda folder, command, *words: answers[command])
    assert source_commit.__wrapped__() == "abc1234" + mark


def test_without_git_there_is_no_commit(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert source_commit.__wrapped__() is None


def test_a_failed_run_cannot_be_recorded(store):
    with pytest.raises(ValueError, match="only a run with a result"):
        store.add(job(), Outcome(None, 1.0, 1.0, 1, "crash", "KeyError"))


def test_a_run_on_another_device_is_another_run(tmp_path):
    cpu, cuda = Store(tmp_path), Store(tmp_path, "cuda")
    job = Job("fit", "cora", "hash", "gcn", {"lr": 0.1}, "uniform", 0)
    cuda.add(job, Outcome({"test": 0.5}, 1.0, 1.0, 1))
    assert not cpu.has(job)
    assert cuda.get(job).result == {"test": 0.5}
    assert cuda.get(job).job.options == {"lr": 0.1, "device": "cuda"}
    cpu.add(job, Outcome({"test": 0.6}, 1.0, 1.0, 1))
    assert (cpu.get(job).result["test"], cuda.get(job).result["test"]) == (0.6, 0.5)
