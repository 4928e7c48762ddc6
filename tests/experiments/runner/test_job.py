import hashlib
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherhalf.data.entries import DATASETS
from otherhalf.errors import InputError
from otherhalf.experiments.runner import job as job_module
from otherhalf.experiments.runner.job import FORMAT, Job, Outcome, Record, as_json, data_set_of

FIELDS = {
    "task": "fit",
    "data": "cora",
    "data_hash": "abc",
    "model": "gcn",
    "options": {"lr": 0.01, "shape": {"hidden": 64}},
    "split": "uniform",
    "seed": 3,
}


def job(**changes):
    return Job(**{**FIELDS, **changes})


def record():
    one = job()
    return Record(FORMAT, one.key, one, {"test": 0.5}, 1.0, 2.0, "0.1", None, 1, "2026-01-01T00:00:00+00:00")


def test_the_key_is_the_same_on_every_machine_and_in_every_version():
    # If it changed, no record would be found any more.
    assert job().key == "fb94c60ee972d2a5733ec2c4ff586dda1bb643d32fd5e64ed7414b000671f37d"


@pytest.mark.parametrize(
    "changes",
    [
        {"task": "half"},
        {"data": "texas"},
        {"data_hash": "abd"},
        {"model": "mlp"},
        {"options": {"lr": 0.02, "shape": {"hidden": 64}}},
        {"options": {"lr": 0.01, "shape": {"hidden": 64}, "bias": False}},
        {"split": "fixed"},
        {"seed": 4},
    ],
)
def test_every_field_is_in_the_key(changes):
    assert job(**changes).key != job().key


def test_the_types_of_containers_and_numbers_are_not_in_the_key():
    one = job(
        options={"a": (1, 2), "b": np.float64(0.1), "c": np.int32(7), "d": np.bool_(True)}, seed=np.int64(3)
    )
    two = job(options={"d": True, "c": 7, "b": 0.1, "a": [1, 2]})
    assert one.key == two.key
    assert one == two


def test_integers_and_floats_are_different():
    assert job(options={"a": 1}).key != job(options={"a": 1.0}).key


def test_options_changed_later_by_the_caller_do_not_change_the_job():
    options = {"list": [1]}
    made = job(options=options)
    options["list"].append(2)
    assert made.key == job(options={"list": [1]}).key


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_json_does_not_have(value):
    with pytest.raises(InputError, match=r"cora gcn.*finite"):
        job(options={"lr": value})


def test_a_seed_must_be_an_integer():
    with pytest.raises(TypeError):
        job(seed=1.5)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4), st.text(), st.integers())
def test_a_job_read_from_json_has_the_same_key(options, name, seed):
    made = job(options=options, data=name, seed=seed)
    again = Job.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again == made
    assert again.key == made.key


@pytest.mark.parametrize("values", [{**FIELDS, "more": 1}, {"task": "fit"}])
def test_missing_and_unknown_fields(values):
    with pytest.raises(TypeError):
        Job.from_dict(values)


def test_the_summary_of_a_traceback_is_its_last_line():
    outcome = Outcome(None, 0.0, 0.0, 1, "crash", "Traceback\n  File x\nKeyError: 'a'\n")
    assert outcome.summary == "KeyError: 'a'"
    assert not outcome.done


def test_as_json():
    assert as_json({"a": (1, np.float32(0.5)), "b": np.int64(3)}) == {"a": [1, 0.5], "b": 3}


def test_a_data_set_is_known_by_its_content():
    content, splits = DATASETS["cora"].fingerprint, DATASETS["cora"].splits_fingerprint
    assert data_set_of("cora", content) == data_set_of("cora", f"{content}:{splits}") == "cora"
    assert data_set_of("cora", f"{content}:others") == ""
    assert data_set_of("cora", "another") == ""
    assert data_set_of("mine", content) == ""
    assert data_set_of("ogbn_arxiv", "anything") == ""  # the catalogue has no hash of it
    assert job(data_hash=content).data_set == "cora"
    assert job().data_set == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "1"),
        ("seconds", True),
        ("seconds", 10**400),
        ("peak_memory_mb", None),
        ("threads", 1.5),
        ("version", 1),
        ("commit", 5),
        ("finished", None),
        ("result", []),
        ("format", "1"),
        ("job", None),
        ("job", []),
    ],
)
def test_a_record_with_a_mistyped_field_is_refused(name, value):
    """Also with the check that belongs to it, as a forger would give it."""
    values = json.loads(record().line)
    values[name] = value
    values["check"] = job_module._check({key: each for key, each in values.items() if key != "check"})
    with pytest.raises(InputError, match=r"^here is no record of a run \(.*\): remove that line"):
        Record.from_line(json.dumps(values).encode(), "here")


@pytest.mark.parametrize("changes", [{"format": 1}, {"format": 0}, {"format": -2}, {"check": None}])
def test_an_older_format_is_no_way_around_the_check(changes):
    values = json.loads(record().line) | changes
    with pytest.raises(InputError, match="changed since it was written"):
        Record.from_line(json.dumps(values).encode(), "here")


@pytest.mark.parametrize(("name", "value"), [("task", 5), ("data", None), ("options", []), ("seed", "0")])
def test_a_record_of_a_mistyped_job_is_refused(name, value):
    values = json.loads(record().line)
    values["job"][name] = value
    values["key"] = hashlib.sha256(job_module.canonical(values["job"]).encode()).hexdigest()
    values["check"] = job_module._check({key: each for key, each in values.items() if key != "check"})
    with pytest.raises(InputError, match="is no record of a run"):
        Record.from_line(json.dumps(values).encode(), "here")


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b"null", b"[]", b'{"format": ' + b"9" * 5000 + b"}", b"\xff"]
)
def test_a_line_that_is_anything_else_is_refused(line):
    with pytest.raises(InputError, match="is no record of a run"):
        Record.from_line(line, "here")
