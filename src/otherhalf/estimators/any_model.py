"""A model's folder, whatever estimator wrote it."""

from pathlib import Path

from otherhalf.estimators.base import NodeClassifier
from otherhalf.estimators.baseline import BaselineClassifier
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.estimators.model_folder import class_of
from otherhalf.estimators.trees import TreesClassifier
from otherhalf.system.paths import user_path

ESTIMATORS: dict[str, type[NodeClassifier]] = {
    each.__name__: each for each in (GOALClassifier, BaselineClassifier, TreesClassifier)
}
"""The estimators that ``otherhalf tune`` may choose, by the names in their folders."""


def load_model(path: str | Path) -> NodeClassifier:
    """Read a model of one of these estimators; raise InputError if a file was altered or cut short."""
    folder = user_path(path)
    return ESTIMATORS.get(class_of(folder), GOALClassifier).load(folder)
