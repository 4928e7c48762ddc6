"""Models that earlier versions wrote, with their inputs and predictions: every later version reads them.

A release adds a folder with ``scripts/write_models.py``; folders of released versions never change. The first
version's, which have no inputs beside them, are in ``tests/estimators/test_model_folder.py``.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scripts import write_models

from otherhalf import BaselineClassifier, GOALClassifier, load, read_tables
from otherhalf.estimators.logistic import LogisticClassifier
from otherhalf.estimators.simple import MajorityClassifier, PropagationClassifier
from otherhalf.estimators.trees import TreesClassifier

CLASSES = {
    each.__name__: each
    for each in (
        BaselineClassifier,
        GOALClassifier,
        LogisticClassifier,
        MajorityClassifier,
        PropagationClassifier,
        TreesClassifier,
    )
}
VERSIONS = sorted(path.parent for path in Path(__file__).parent.glob("estimators/models_of_*/graph.npz"))
FOLDERS = [path.parent for version in VERSIONS for path in sorted(version.glob("*/model.json"))]

TOLERANCE = 1e-4
"""Bits differ between machines: products are summed in another order. That is about 1e-7, and temperatures of
up to 20 enlarge it. Predictions that mean something else differ by much more."""


def loaded(folder):
    return CLASSES[json.loads((folder / "model.json").read_text())["class"]].load(folder)


def whole_graph(folder, model):
    """The graph that the predictions are of: with nodes that the fit did not have."""
    if not folder.name.startswith("table"):
        return load(str(folder.parent / "graph.npz"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the tables have what can be warned of
        return read_tables(folder.parent / "nodes.csv", folder.parent / "edges.csv", reading=model.reading_)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name[10:]}-{path.name}")
def test_a_model_predicts_what_it_predicted(folder, tmp_path):
    model = loaded(folder)
    graph = whole_graph(folder, model)
    expected = np.loadtxt(folder / "probabilities.csv", delimiter=",")
    found = model.predict_proba(graph)
    assert found.shape == (write_models.KNOWN + write_models.NEW, len(model.classes_))
    np.testing.assert_allclose(found, expected, atol=TOLERANCE)
    assert model.num_known_ == write_models.KNOWN
    model.save(tmp_path / "again")  # as this version writes it
    again = loaded(tmp_path / "again")
    assert np.array_equal(again.predict_proba(graph), found)
    assert again.get_params() == model.get_params()


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_a_version_has_every_kind_of_model(version):
    folders = [path for path in FOLDERS if path.parent == version]
    assert {type(loaded(path)) for path in folders} == set(CLASSES.values())
    assert {path.name for path in folders} == {*write_models.MODELS, *write_models.FROM_TABLES}
    members = json.loads((version / "goal_kernel" / "model.json").read_text())["members"]
    kinds = {"spread", "label propagation", "trees", "boosted trees", "complemented", "plain"}
    assert {member["kind"] for member in members} >= kinds
    assert sum(path.stat().st_size for path in version.rglob("*.*")) < 400_000


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_script_still_writes_them(tmp_path):
    """The next release needs it."""
    quick = {name: write_models.MODELS[name] for name in ("goal_fast", "propagation")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_models, "MODELS", quick)
        write_models.write(tmp_path / "models")
    for path in (tmp_path / "models").glob("*/model.json"):
        model = loaded(path.parent)
        expected = np.loadtxt(path.parent / "probabilities.csv", delimiter=",")
        np.testing.assert_allclose(model.predict_proba(whole_graph(path.parent, model)), expected, atol=1e-6)
