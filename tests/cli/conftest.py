"""What the tests of the command line share."""

import sys

import pytest

from otherhalf.cli.commands import main


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
