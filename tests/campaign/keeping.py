"""Part of the campaign: spoilt model folders, results, checkpoints and records."""

import hashlib
import json
import random
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from tests.campaign.mutations import spoil_bytes, spoil_json, spoil_tree
from tests.campaign.outcome import Tally, attempt
from tests.campaign.subjects import subjects

from otherhalf.data.splits import split
from otherhalf.estimators import model_folder
from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.run_folder import RESULT_FILE, fit_into
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.store import Store
from otherhalf.graph import Graph


def wood() -> Graph:
    """The graph of all parts, read from its tables."""
    subject = subjects()[0]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subject.write(Path(folder))
        return subject.read(Path(folder))


def spoil_models(tally: Tally, inputs: int, seed: int) -> None:
    """Load this many spoilt models of each estimator, and predict with those that load."""
    models: dict[str, NodeClassifier] = {
        "fast": GOALClassifier(fast=True),
        "paper": GOALClassifier("paper"),
        "GCN": BaselineClassifier("gcn", epochs=3),
        "trees": TreesClassifier(trees=5),
    }
    for name, model in models.items():
        _spoil_model(tally, name, model, -(-inputs // len(models)), random.Random(f"{seed} {name}"))


def _spoil_model(tally: Tally, name: str, model: NodeClassifier, inputs: int, rng: random.Random) -> None:
    graph = wood()
    with tempfile.TemporaryDirectory() as place:
        folder, copy = Path(place) / "model", Path(place) / "copy"
        model.fit(graph, split(graph, "uniform", 0)).save(folder)
        expected = model.predict_proba(graph)
        for number in range(inputs):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            how, sealed = spoil_model(copy, rng)
            outcome, wrong = attempt(
                lambda: type(model).load(copy).predict_proba(graph),
                lambda found, sealed=sealed: _judge(found, expected, sealed),
            )
            tally.add(f"models, {name}", outcome, f"input {number}, {how}: {wrong}")


def _judge(found: Any, expected: Any, sealed: bool) -> str | None:
    """A model whose seal was made again may be another model, but never a broken one."""
    if found.shape[0] != expected.shape[0] or not np.isfinite(found).all():
        return f"probabilities of shape {found.shape}, or not finite"
    if (found < 0).any() or np.abs(found.sum(axis=1) - 1).max() > 1e-4:
        return "probabilities that do not sum to one"
    if not sealed and not np.array_equal(found, expected):
        return "other probabilities, and the folder was accepted"
    return None


def spoil_model(folder: Path, rng: random.Random) -> tuple[str, bool]:
    """Spoil one file of a model's folder; return how, and whether its checksums were made again."""
    described = folder / model_folder.MODEL_FILE
    weights = next(folder.glob("*.safetensors"))
    kind = rng.choice(
        ("bytes", "JSON", "sealed JSON", "sealed JSON", "sealed JSON", "sealed weights", "gone")
    )
    if kind == "bytes":
        path = rng.choice((described, weights))
        mutation = spoil_bytes(path.read_bytes(), rng)
        path.write_bytes(mutation.content)
        return f"{path.name}, {mutation.how}", False
    if kind == "JSON":
        mutation = spoil_json(described.read_bytes(), rng)
        described.write_bytes(mutation.content)
        return mutation.how, False
    if kind == "gone":
        rng.choice((described, weights)).unlink()
        return kind, False
    tree = json.loads(described.read_text())
    how = ""
    if kind == "sealed weights":
        tensors = load(weights.read_bytes())
        how = _spoil_tensors(tensors, rng) if tensors else "nothing"
        content = save({name: value.contiguous() for name, value in tensors.items()})
        weights.write_bytes(content)
        tree["weights_sha256"] = hashlib.sha256(content).hexdigest()
    else:
        tree, where, what = spoil_tree(tree, rng)
        how = f"{where}: {what}"
        if what == "deep":
            return f"{kind}, {how}", True
    if isinstance(tree, dict):
        tree["checksum"] = model_folder._checksum(tree)
    described.write_text(json.dumps(tree))
    return f"{kind}, {how}", True


def _spoil_tensors(tensors: dict[str, Any], rng: random.Random) -> str:
    name = rng.choice(sorted(tensors))
    value = tensors[name]
    kind = rng.choice(("drop", "shape", "nan", "dtype", "extra", "empty", "huge"))
    if kind == "drop":
        del tensors[name]
    elif kind == "shape":
        tensors[name] = value.reshape(-1)[:-1].clone()
    elif kind == "nan":
        tensors[name] = torch.full_like(value, float("nan")) if value.is_floating_point() else ~value
    elif kind == "dtype":
        tensors[name] = value.to(torch.float16 if value.dtype != torch.float16 else torch.int64)
    elif kind == "extra":
        tensors["extra"] = torch.zeros(3)
    elif kind == "empty":
        tensors[name] = value.reshape(-1)[:0].clone()
    elif value.is_floating_point():
        tensors[name] = torch.full_like(value, 3e38)
    else:
        tensors[name] = torch.full_like(value, 100)
    return f"{name}: {kind}"


def spoil_results(tally: Tally, inputs: int, seed: int) -> None:
    """Resume this many fits whose result or checkpoints were spoilt; each ends as the first one did."""
    graph, rng = wood(), random.Random(f"{seed} results")
    parts = split(graph, "uniform", 0)
    with tempfile.TemporaryDirectory() as place:
        folder, copy = Path(place) / "run", Path(place) / "copy"

        def fit(into: Path, resume: bool) -> dict[str, Any]:
            return fit_into(GOALClassifier("paper", seed=1), graph, parts, into, resume=resume)

        expected = fit(folder, False)
        for number in range(inputs):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            path = copy / RESULT_FILE
            spoil = rng.choice((spoil_bytes, spoil_json))
            mutation = spoil(path.read_bytes(), rng)
            path.write_bytes(mutation.content)
            outcome, wrong = attempt(
                lambda: fit(copy, True), lambda found: None if found.keys() else "a result without content"
            )
            if not (copy / model_folder.MODEL_FILE).is_file():
                outcome, wrong = "lost", "the model is gone"
            tally.add("results", outcome, f"input {number}, {mutation.how}: {wrong}")
        assert expected["val_accuracy"] is not None


def spoil_records(tally: Tally, inputs: int, seed: int) -> None:
    """Read this many spoilt stores, and add a record to those that can be read."""
    rng = random.Random(f"{seed} records")
    jobs = [Job("fit", "wood", "hash", "gcn", {"lr": 0.1}, "uniform", number) for number in range(4)]
    with tempfile.TemporaryDirectory() as place:
        folder, copy = Path(place) / "store", Path(place) / "copy"
        store = Store(folder)
        for job in jobs:
            store.add(job, Outcome({"test": 0.5}, 1.0, 2.0, 1))
        known = {record.key: record for record in store.records()}
        for number in range(inputs):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            path = store.path(jobs[0])
            path = copy / path.relative_to(folder)
            spoil = rng.choice((spoil_bytes, spoil_json))
            mutation = spoil(path.read_bytes(), rng)
            path.write_bytes(mutation.content)

            def use() -> dict[str, Any]:
                opened = Store(copy)
                opened.records()
                opened.add(Job("fit", "wood", "hash", "gcn", {}, "uniform", 9), Outcome({}, 1.0, 2.0, 1))
                return {record.key: record for record in Store(copy).records()}

            def judge(found: dict[str, Any]) -> str | None:
                wrong = [key for key, record in found.items() if key in known and record != known[key]]
                return f"other content for {wrong}" if wrong else None

            outcome, wrong = attempt(use, judge)
            tally.add("records", outcome, f"input {number}, {mutation.how}: {wrong}")
