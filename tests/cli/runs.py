"""Runs of experiments that tests make up, and what commands answer about them."""

import json

import pytest

from otherhalf.experiments.runner.executor import run_jobs

CSBM = "csbm:nodes=60,classes=2,features=4,homophily=0.2,signal=3"
FEW = {"epochs": 4, "patience": 4}


def in_this_process(jobs, work, workers, threads, on_start=None):
    return run_jobs(jobs, work, 0, threads, on_start)


def made_up(job):
    test = 0.5 + 0.01 * job.seed + 0.001 * len(job.model)
    nodes = {"train": 36, "val": 12, "test": 12}
    return {"test": test, "val": 0.75, "epochs": 1, "nodes": nodes, "encoder": "gcn", "encoder_share": 0.5}


def answer(outcome):
    """Return the JSON object, which must be all of standard output."""
    status, out, err = outcome
    assert status == 0, err
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def lines_in(folder):
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.jsonl"))
