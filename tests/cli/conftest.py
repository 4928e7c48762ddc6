"""What the tests of the command line share."""

import importlib
import sys
from dataclasses import replace

import pytest

from otherhalf.cli.commands import main
from otherhalf.estimators.presets import preset_settings
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
