"""Everything that a report shows: one JSON value of a fixed shape, whatever the graph and the model."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.report.fits import PLAN, embedded, fitted, graph, parts

from otherhalf import BaselineClassifier, GOALClassifier, Graph, Split, split
from otherhalf.data.synthetic import contextual_sbm
from otherhalf.estimators.run_folder import fit_into
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.report.content import collect, complete_content, content_writer
from otherhalf.report.stored import SHAPE, read_content, write_content


def checked(content, folder: Path):
    """The content after it was written and read, which checks its shape; no number is NaN."""
    json.dumps(content, allow_nan=False)
    write_content(folder, content)
    assert read_content(folder) == content
    return content


@pytest.mark.parametrize(
    "model",
    [
        fitted,
        lambda: fitted("random"),
        lambda: fitted("none"),
        embedded,
        lambda: BaselineClassifier("mlp", epochs=2).fit(graph(), parts()),
        lambda: TreesClassifier(trees=3).fit(graph(), parts()),
    ],
    ids=["found", "random", "none", "embedding", "baseline", "trees"],
)
def test_every_model_has_a_report(model, tmp_path):
    content = checked(collect(model(), graph(), parts()), tmp_path)
    assert content.keys() == SHAPE.keys()
    assert content["evaluation"]["nodes"] == len(parts().test)


def test_two_runs_say_the_same():
    one, two = (collect(fitted(), graph(), parts()) for _ in range(2))
    del one["made"]["when"], two["made"]["when"]
    assert one == two


def quick(made, **options):
    """A fast fit of a graph, and its content."""
    parts = options.pop("split", None) or split(made)
    model = GOALClassifier(ensemble={**PLAN, "classifier": False}, epochs=3, hidden=4, **options)
    return collect(model.fit(made, parts), made, parts)


def sbm(**options):
    return contextual_sbm(**{"num_nodes": 120, "num_classes": 3, "num_features": 5, "seed": 1, **options})


class TestOddGraphs:
    """Each of them once broke something, or could."""

    def test_two_classes_and_a_rare_one(self, tmp_path):
        base = sbm(num_classes=2)
        y = np.where(np.arange(120) < 12, 1, 0)
        made = Graph(edges=base.edges, x=base.x, y=y)
        content = checked(quick(made, metric="average_precision", split=split(made, "stratified")), tmp_path)
        assert content["classifier"]["metric"] == "average_precision"
        assert content["evaluation"]["by"][0]["metric"] == "accuracy"

    def test_many_classes(self, tmp_path):
        base = sbm(num_nodes=800)
        y = np.arange(800) % 200
        content = checked(quick(Graph(edges=base.edges, x=base.x, y=y), fast=True), tmp_path)
        assert len(content["graph"]["classes"]) == 200
        assert len(content["halves"]["mixing_classes"]) == 20
        assert all(len(detail["p"]) == 5 for detail in content["explorer"]["details"])

    def test_directed_weighted_edges_in_relations(self, tmp_path):
        base = sbm()
        rng = np.random.default_rng(0)
        made = Graph(
            edges=base.edges,
            x=base.x,
            y=base.y,
            directed=True,
            weights=rng.random(base.num_edges) + 0.1,
            relations=np.array(["likes", "hates"])[rng.integers(0, 2, base.num_edges)],
        )
        content = checked(quick(made), tmp_path)
        assert content["graph"]["relations"] == ["hates", "likes"]

    def test_no_features_and_ids_as_numbers(self, tmp_path):
        base = sbm()
        made = Graph(edges=base.edges, x=None, y=base.y, ids=np.arange(120) * 7)
        content = checked(quick(made), tmp_path)
        assert content["explorer"]["columns"] == []
        assert content["explorer"]["nodes"]["id"][3] == "21"
        assert [row["name"] for row in content["halves"]["rows"]] == ["given", "found", "random"]

    def test_unlabelled_test_nodes(self, tmp_path):
        base = sbm()
        parts = split(base)
        y = base.y.copy()
        y[parts.test] = -1
        made = Graph(edges=base.edges, x=base.x, y=y, classes=base.classes)
        content = checked(quick(made, split=parts), tmp_path)
        assert content["evaluation"]["part"] == "val"
        assert content["halves"]["rows"][0]["test"] is None
        assert -1 in content["explorer"]["nodes"]["label"]

    def test_nodes_without_edges_and_nodes_in_no_part(self, tmp_path):
        base = sbm()
        made = Graph(edges=base.edges[:, :40], x=base.x, y=base.y)
        order = np.random.default_rng(0).permutation(120)
        content = checked(quick(made, split=Split(order[:50], order[50:70], order[70:90])), tmp_path)
        assert content["graph"]["isolated"] > 0
        assert content["explorer"]["nodes"]["part"].count("e") == 30

    def test_labels_of_one_class_in_val(self, tmp_path):
        base = sbm()
        val = np.flatnonzero(base.y == 0)[:6]
        rest = np.setdiff1d(np.arange(120), val)
        content = checked(quick(base, split=Split(rest[:60], val, rest[60:])), tmp_path)
        assert content["evaluation"]["metrics"]

    def test_a_users_table(self, tmp_path):
        base = sbm(num_classes=2)
        nodes = pd.DataFrame(base.x, columns=[f"c{i}" for i in range(5)])
        nodes["name"] = [f"person {i}" for i in range(120)]
        nodes["group"] = np.where(np.arange(120) % 3, "x", "y")
        nodes.loc[::10, "c0"] = None
        nodes["label"] = np.array(["no", "yes"])[base.y]
        edges = pd.DataFrame(base.edges.T, columns=["source", "target"])
        edges = edges.apply(lambda column: column.map(lambda i: f"person {i}"))
        made = Graph.from_frames(nodes, edges, id="name", label="label")
        content = checked(quick(made), tmp_path)
        assert {row["name"] for row in content["columns"]} >= {"c0", "group"}
        assert set(content["explorer"]["columns"]) <= {"c0", "c1", "c2", "c3", "c4", "group"}
        assert content["explorer"]["nodes"]["id"][0] == "person 0"


class TestFolder:
    def test_it_is_part_of_the_outcome_of_a_fit(self, tmp_path):
        model = GOALClassifier(encoder="mlp", epochs=3, hidden=4)
        write = content_writer(model, graph(), parts(), command="otherhalf fit small")
        result = fit_into(model, graph(), parts(), tmp_path, write_report=write)
        content = read_content(tmp_path)
        assert content["made"]["run"] == result["run"]
        assert content["made"]["command"] == "otherhalf fit small"
        assert result["report"]
        # A fit without a report does not leave the report of another one.
        fit_into(GOALClassifier(encoder="mlp", epochs=2, hidden=4), graph(), parts(), tmp_path)
        assert not (tmp_path / "report.json").exists()

    def test_a_folder_of_an_older_version_is_completed(self, tmp_path):
        result = fit_into(GOALClassifier(encoder="mlp", epochs=3, hidden=4), graph(), parts(), tmp_path)
        complete_content(tmp_path, graph(), parts(), result)
        assert read_content(tmp_path)["made"]["run"] == result["run"]
        before = (tmp_path / "report.json").stat().st_mtime_ns
        complete_content(tmp_path, graph(), parts(), result)
        assert (tmp_path / "report.json").stat().st_mtime_ns == before


def test_a_loaded_model_says_the_same(tmp_path):
    model = fitted("both members")
    model.save(tmp_path)
    one, two = (collect(each, graph(), parts()) for each in (model, GOALClassifier.load(tmp_path)))
    del one["made"]["when"], two["made"]["when"]
    assert json.loads(json.dumps(one)) == json.loads(json.dumps(two))
