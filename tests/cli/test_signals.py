"""Ctrl-C and SIGTERM: one sentence and the usual status, however often and at whatever moment they come."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from otherhalf.cli.signals import (
    STOPPED,
    STOPPED_FIT,
    STOPPED_RUNS,
    Stopped,
    end,
    ignore_signals,
    listening,
    what_is_kept,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")


@pytest.fixture(autouse=True)
def handlers():
    """Signals as a terminal gives them, also where the tests run in the background."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_raised_with_its_status(number, status):
    with pytest.raises(Stopped) as caught, listening():
        signal.raise_signal(number)
    assert caught.value.status == status
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_no_program_handles_it_by_chance():
    assert not issubclass(Stopped, Exception)


def test_an_ignored_signal_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with listening():
        signal.raise_signal(signal.SIGINT)


def test_one_that_comes_while_an_object_is_removed_is_not_lost(capsys):
    class Removed:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Stopped), listening():  # noqa: PT012
        one = Removed()
        del one
        time.sleep(5)
    assert capsys.readouterr().err == ""


def test_the_end_is_one_sentence_and_is_not_disturbed(capsys):
    with listening():
        with pytest.raises(SystemExit) as leaving:
            end(Stopped(signal.SIGTERM))
        signal.raise_signal(signal.SIGINT)
        ignore_signals()
    assert leaving.value.code == 143
    assert capsys.readouterr().err == f"otherhalf: {STOPPED}\n"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", STOPPED),
        ("--version", STOPPED),
        ("fit texas", STOPPED),
        ("fit texas --out run", STOPPED_FIT),
        ("fit texas --fast --out=run", STOPPED_FIT),
        ("predict run texas --out p.csv", STOPPED),
        ("complement texas --out half.csv", STOPPED),
        ("report run", STOPPED),
        ("compare texas --runs 3", STOPPED_RUNS),
        ("reproduce table1", STOPPED_RUNS),
        ("search --out settings", STOPPED_RUNS),
        ("tune texas --trials 9", STOPPED_RUNS),
    ],
)
def test_the_sentence_speaks_of_what_the_command_keeps(command, sentence):
    assert what_is_kept(command.split()) == sentence


def test_another_thread_listens_to_nothing():
    wrong = []

    def elsewhere():
        try:
            with listening():
                ignore_signals()
        except ValueError as error:  # what Python raises for a handler set there
            wrong.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert wrong == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_many_signals_from_the_first_import_on(number, status):
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from otherhalf.cli import main; print('ready', flush=True); main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "datasets"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.02)
    for _ in range(5):
        process.send_signal(number)
        time.sleep(0.005)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (status, f"otherhalf: {STOPPED}\n")
