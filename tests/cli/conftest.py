"""What the tests of the command line share."""

import importlib
import sys
from dataclasses import replace

import pytest
from tests.cli.runs import in_this_process

from otherhalf.cli.commands import main
from otherhalf.estimators.presets import preset_settings
from otherhalf.experiments import tasks
from otherhalf.experiments.runner.executor import EXECUTORS
from otherhalf.experiments.runner.graphs import GraphFolder
from otherhalf.training.loop import TrainingSettings


@pytest.fixture
def run(monkeypatch, capfd):
    """Call the program as a shell would; return status, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["otherhalf", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfd.readouterr()
        return stop.value.code or 0, out, err

    return call


@pytest.fixture
def brief(monkeypatch):
    """Train for a few epochs only, where what is learned does not matter."""

    def few_epochs(preset, name, **options):
        settings = preset_settings(preset, name, **options)
        few = TrainingSettings(epochs=4)
        encoder = replace(settings.complement.encoder, training=few)
        head = replace(settings.complement.head, training=few)
        return replace(
            settings,
            complement=replace(settings.complement, encoder=encoder, head=head),
            goal=replace(settings.goal, training=few),
            kernel=replace(settings.kernel, nodes=60, steps=2),
            ensemble=replace(settings.ensemble, folds=1, plain=1, candidates=("GCN",)),
        )

    for module in ("otherhalf.estimators.goal", "otherhalf.estimators.find"):
        monkeypatch.setattr(importlib.import_module(module), "preset_settings", few_epochs)


@pytest.fixture
def here(monkeypatch):
    """Do the runs in this process, where a test can change them."""
    monkeypatch.setitem(EXECUTORS, "processes", in_this_process)


@pytest.fixture
def work(monkeypatch, here):
    """Replace what a run does: ``work(function of the job)``."""

    def change(function):
        monkeypatch.setattr(tasks.Worker, "__call__", lambda self, job: function(job))
        monkeypatch.setattr(GraphFolder, "fetch", lambda self, data, data_hash: None)

    return change
