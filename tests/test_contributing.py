"""Each "To add …" of CONTRIBUTING.md, done from outside the package in at most three steps."""

import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score
from tests.pages import blocks, run_page

from otherhalf import BaselineClassifier, GOALClassifier, Graph, InputError, split
from otherhalf.cli.commands import main
from otherhalf.complement import encoder
from otherhalf.data.source import READERS, Reader, open_data
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.experiments.compare import compare
from otherhalf.experiments.paper.experiment import Experiment
from otherhalf.experiments.paper.registry import EXPERIMENTS
from otherhalf.experiments.runner.benchmark_data import BenchmarkData
from otherhalf.experiments.runner.executor import EXECUTORS, run_jobs
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.experiments.runner.models import make_model
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.table import Table
from otherhalf.experiments.tuning.space import OWN_VALUES, ways_of
from otherhalf.experiments.workbench import Workbench
from otherhalf.nn.backbone import Backbone, SparseLinear
from otherhalf.nn.models.registry import MODELS, ModelSpec, Option
from otherhalf.system.fields import number
from otherhalf.training.metrics import METRICS, Metric

GRAPH = contextual_sbm(num_nodes=120, num_classes=3, num_features=6, homophily=0.8, signal=3.0, seed=0)
PARTS = split(GRAPH, seed=0)
PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


class MixLayer(torch.nn.Module):
    """(1 − s) H W + s Â H W."""

    def __init__(self, width_in, width_out, *, share=0.5):
        super().__init__()
        self.linear, self.share = SparseLinear(width_in, width_out), share

    def forward(self, h, adjacency):
        h = self.linear(h)
        return (1 - self.share) * h + self.share * (adjacency @ h)


class Mix(Backbone):
    layer = MixLayer


@pytest.fixture
def mix(monkeypatch):
    spec = ModelSpec("Mix", Mix, ("normalized",), {"share": Option(0.5, number(0, 1))})
    monkeypatch.setitem(MODELS, "mix", spec)


@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    """Run a command line; return its status and output."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["otherhalf", *map(str, words)])
        with pytest.raises(SystemExit) as leaving:
            main()
        out, err = capfd.readouterr()
        return leaving.value.code or 0, out, err

    return call


def test_a_baseline(mix, tmp_path):
    model = BaselineClassifier("mix", share=0.7, hidden=16, epochs=40).fit(GRAPH, PARTS)
    assert model.score(GRAPH, PARTS.test) > 0.8
    assert model._module.layers[0].share == 0.7
    model.save(tmp_path)
    loaded = BaselineClassifier.load(tmp_path)
    assert np.array_equal(loaded.predict_proba(GRAPH), model.predict_proba(GRAPH))
    with pytest.raises(InputError, match="share must be a number ≥ 0 and ≤ 1, not 2"):
        BaselineClassifier("mix", share=2).fit(GRAPH, PARTS)


def test_a_baseline_is_compared_and_tuned(mix, run, monkeypatch):
    monkeypatch.setitem(EXECUTORS, "here", here)
    words = ("compare", "csbm:nodes=90,classes=2", "--models", "mix,mlp", "--runs", 1, "--executor", "here")
    status, out, err = run(*words, "--budget", 2, "--json")
    assert status == 0, err
    assert [row["model"] for row in json.loads(out)["rows"]] == ["mix", "mlp"]


def test_an_encoder(mix, monkeypatch):
    options = {"kind": "mix", "share": 0.3, "epochs": 30}
    named = GOALClassifier(encoder=options, epochs=5).fit(GRAPH, PARTS)
    assert named.missing_half_.encoder == "mix"
    assert named._way.embedding.encoder.module.layers[0].share == 0.3
    monkeypatch.setattr(encoder, "AUTO_KINDS", ("mix",))
    assert GOALClassifier(encoder="auto", epochs=5).fit(GRAPH, PARTS).missing_half_.encoder == "mix"


def balanced_accuracy(scores, y):
    return float(balanced_accuracy_score(y, scores.argmax(axis=1)))


def test_a_metric(monkeypatch, run):
    monkeypatch.setitem(METRICS, "balanced", Metric("balanced", "balanced accuracy", balanced_accuracy))
    model = BaselineClassifier("mlp", metric="balanced", epochs=20).fit(GRAPH, PARTS)
    predicted = model.predict_proba(GRAPH)[PARTS.test]
    assert model.score(GRAPH, PARTS.test) == balanced_accuracy(predicted, GRAPH.y[PARTS.test])
    assert (
        max(scores[0] for scores in model.history_["classifier"].scores)
        == model.history_["classifier"].best_score[0]
    )
    monkeypatch.setitem(EXECUTORS, "here", here)
    words = ("compare", "csbm:nodes=90,classes=2", "--models", "mlp", "--runs", 1, "--executor", "here")
    status, out, err = run(*words, "--metric", "balanced", "--json")
    assert status == 0, err
    assert json.loads(out)["metric"] == "balanced"


def test_a_metric_of_which_less_is_better(monkeypatch):
    """The worst trial was chosen, and the worst model was listed first."""
    error = Metric(
        "error", "error", lambda scores, y: 1 - balanced_accuracy(scores, y), larger_is_better=False
    )
    monkeypatch.setitem(METRICS, "error", error)
    graph = contextual_sbm(num_nodes=150, num_classes=2, num_features=6, signal=4.0, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        workbench = Workbench(Store(Path(folder)), executor=here, graphs=GraphFolder(Path(folder) / "graphs"))
        result = compare(graph, ["mlp", "gcn"], workbench, runs=2, budget=3, metric="error")
        for model in ("mlp", "gcn"):
            trials = [
                r.result["val"] for r in workbench.store.records("trial", model=model) if r.job.seed == 50
            ]
            chosen = [r for r in workbench.store.records("trial", model=model) if r.job.seed == 51]
            finalists = [
                r.result["val"]
                for r in workbench.store.records("trial", model=model)
                if r.job.seed == 50 and r.job.options in [c.job.options for c in chosen]
            ]
            assert max(finalists) <= sorted(trials)[1]
    tests = [float(row[1].strip("*").split(" ")[0]) for row in result.table().rows]
    assert tests == sorted(tests)
    assert result.table().rows[0][1].startswith("**")


def test_a_setting_to_the_search(mix, monkeypatch):
    monkeypatch.setitem(OWN_VALUES, "share", (0.25, 0.5, 0.75, 2.0))
    (way,) = ways_of(["mix"])
    assert way.by_name["share"].values == (0.25, 0.5, 0.75)  # the rule of the option does not allow 2
    model = make_model("mix", way.params({"share": 0.75}), 0, "accuracy")
    assert model.resolved_settings().own_options == {"share": 0.75}


def test_a_reader(monkeypatch, tmp_path, run):
    def read(data, columns):
        x, y, *edges = (np.array(row.split(), dtype=float) for row in Path(data).read_text().splitlines())
        return Graph(edges=np.array(edges, dtype=np.int64).T, x=x[:, None], y=y.astype(int), name="toy")

    monkeypatch.setattr(
        "otherhalf.data.source.READERS", [Reader(lambda data: data.endswith(".toy"), read), *READERS]
    )
    (tmp_path / "graph.toy").write_text("1 2 3 4\n0 0 1 1\n0 1\n2 3\n1 2\n")
    assert open_data(str(tmp_path / "graph.toy")).num_edges == 3
    status, out, err = run("diagnose", tmp_path / "graph.toy", "--json")
    assert status == 0, err
    assert json.loads(out)["nodes"] == 4


class Nodes(Experiment):
    """A table of how many nodes a data set has."""

    name = "nodes"
    title = "Nodes"
    label = ""
    datasets = ("texas",)
    runs = 1

    def jobs_of(self, data, request):
        """Audit the data set once."""
        return [BenchmarkData.named(data).task_job("audit", {}, 0)]

    def table(self, request, store):
        table = Table(["", "nodes"])
        for job in self.jobs(request):
            table.add(job.data, str(store.get(job).result["nodes"]))
        return table

    def values_of(self, data, request, store):
        return [store.get(job).result["nodes"] for job in self.jobs_of(data, request)]


def test_an_experiment(monkeypatch, run, data_dir):
    monkeypatch.setenv("OTHERHALF_DATA", str(data_dir))
    monkeypatch.setitem(EXPERIMENTS, "nodes", Nodes())
    monkeypatch.setitem(EXECUTORS, "here", here)
    status, out, err = run("reproduce", "nodes", "--executor", "here", "--json")
    assert status == 0, err
    assert json.loads(out)["datasets"] == {"texas": [183]}


USED = []


def here(jobs, work, workers, threads, on_start=None):
    """An executor that runs the jobs in this process."""
    jobs = list(jobs)
    USED.extend(jobs)
    yield from run_jobs(jobs, work, 0, threads, on_start)


def test_an_executor(monkeypatch, run):
    monkeypatch.setitem(EXECUTORS, "here", here)
    USED.clear()
    words = ("compare", "csbm:nodes=90,classes=2", "--models", "mlp", "--runs", 2)
    assert run(*words, "--executor", "here")[0] == 0
    assert len(USED) == 2
    status, _, err = run(*words, "--executor", "cluster")
    assert status == 2
    assert "processes" in err


NEW_PAGE = """# A page

```python
print(1 + 1)
```
```text
{shown}
```
"""


def test_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "new.md"
    page.write_text(NEW_PAGE.format(shown="2"))
    run_page(blocks(page), page)
    page.write_text(NEW_PAGE.format(shown="3"))
    with pytest.raises(AssertionError, match="the page shows '3"):
        run_page(blocks(page), page)


def test_each_is_at_most_three_steps():
    parts = re.split(r"\n\*\*an? ([\w ]+)\*\*\n", PAGE.split("## To add …")[1].split("## Rules")[0])
    steps = {
        name: len(re.findall(r"^\d\. ", text, re.MULTILINE))
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    words = {"baseline", "encoder", "metric", "reader", "experiment", "executor", "page"}
    assert set(steps) == {*words, "setting to the search", "mark of speed or memory"}
    assert max(steps.values()) <= 3
    tests = {
        name.removeprefix("test_an_").removeprefix("test_a_")
        for name in globals()
        if name.startswith("test_a")
    }
    here = set(steps) - {"mark of speed or memory"}  # tests/test_benchmarks.py
    assert {name.replace(" ", "_") for name in here} <= tests
