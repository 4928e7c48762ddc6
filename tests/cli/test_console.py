"""What the command line says beside its result: one line for an error, notes, progress on a terminal."""

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings

import pytest
import typer

from otherhalf.cli import console
from otherhalf.cli.signals import STOPPED, Stopped
from otherhalf.errors import InputError, RunsFailed, printable

CSBM = "csbm:nodes=120,classes=3,features=6,homophily=0.1,signal=3"
FULL = "otherhalf: [Errno 28] No space left on device: free some space and start again\n"


def outcome_of(error, capsys):
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def command(count: int = 1) -> None:
        if error is not None:
            raise error
        warnings.warn("a note", stacklevel=1)
        print("done")

    with pytest.raises(SystemExit) as leaving:
        console.run(app)
    out, err = capsys.readouterr()
    return leaving.value.code or 0, out, err


@pytest.fixture(autouse=True)
def no_arguments(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["otherhalf"])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back afterwards


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (None, 0, "otherhalf: note: a note\n"),
        (InputError("k must be an integer ≥ 1, not 0"), 2, "otherhalf: k must be an integer ≥ 1, not 0\n"),
        (InputError("a\nb\x1b[2J.csv: gone"), 2, "otherhalf: a\\nb\\x1b[2J.csv: gone\n"),
        (RunsFailed("2 runs failed"), 1, "otherhalf: 2 runs failed\n"),
        (OSError(5, "Input/output error"), 1, "otherhalf: [Errno 5] Input/output error\n"),
        (OSError(28, "No space left on device"), 2, FULL),
        (KeyboardInterrupt(), 130, f"otherhalf: {STOPPED}\n"),
        (Stopped(signal.SIGTERM), 143, f"otherhalf: {STOPPED}\n"),
    ],
)
def test_status_and_one_line(error, status, line, capsys):
    assert outcome_of(error, capsys) == (status, "" if error else "done\n", line)


@pytest.mark.parametrize("error", [ZeroDivisionError(), RuntimeError("size mismatch")])
def test_any_other_error_keeps_its_traceback(error, capsys):
    with pytest.raises(type(error)):
        outcome_of(error, capsys)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 1.00 TiB for an array"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.\nframe #0"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_an_error_of_memory_is_one_sentence(error, capsys):
    status, out, err = outcome_of(error, capsys)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("otherhalf: there was not enough memory (")


def test_a_wrong_option_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["otherhalf", "--count", "many"])
    status, out, err = outcome_of(None, capsys)
    assert (status, out) == (2, "")
    assert err.startswith("otherhalf: ")
    assert err.endswith("see `otherhalf --help`\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm(run, monkeypatch, number):
    monkeypatch.setattr(signal, "getsignal", lambda each: signal.SIG_DFL)  # also where they are ignored

    def interrupted(*_, **__):
        os.kill(os.getpid(), number)
        time.sleep(10)  # is cut short

    monkeypatch.setattr("otherhalf.estimators.run_folder.fit_into", interrupted)
    assert run("fit", CSBM) == (128 + number, "", f"otherhalf: {STOPPED}\n")


def test_a_full_disk(run, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("otherhalf.diagnosis.verdict.diagnose", full)
    assert run("diagnose", CSBM) == (2, "", FULL)


def test_the_command_can_be_typed_again(monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["/somewhere/__main__.py", "fit", "my nodes.csv,edges.csv", "--out", "run"]
    )
    assert console.command_line() == "otherhalf fit 'my nodes.csv,edges.csv' --out run"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    "word", ["plain", "my nodes.csv", "it's", "$HOME", "a\nb", "\x1b[2J'\\", "\u2028é", "\udcff,x"]
)
def test_any_word_can_be_typed_again(word):
    command = console.typed(["fit", word])
    assert command.startswith("otherhalf fit ")
    assert command == printable(command)  # nothing in it can change the terminal
    script = command.replace("otherhalf fit ", "printf %s ", 1)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert done.stdout == os.fsencode(word)


def command(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "otherhalf", *words], stderr=subprocess.PIPE, text=True, check=False, **options
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_that_cannot_be_written():
    with open("/dev/full", "w") as full:
        done = command("datasets", "--json", stdout=full)
    assert (done.returncode, done.stderr) == (2, FULL)


def test_output_that_nobody_reads():
    reading, writing = os.pipe()
    os.close(reading)
    done = command("datasets", "--json", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(os.name != "posix", reason="closes a stream of the new process")
def test_closed_streams():
    done = command("datasets", "--json", preexec_fn=lambda: os.close(1))
    assert done.returncode == 2
    assert done.stderr.startswith("otherhalf: standard output is closed")
    done = command("predict", preexec_fn=lambda: os.close(2), stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")  # its sentence is not a result


def test_output_in_ascii():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code = "from otherhalf.cli import commands\nimport typer\nfrom otherhalf.cli.console import run\n"
    code += "app = typer.Typer()\napp.command()(lambda: print('k ≥ 1'))\nrun(app)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, b"k \\u2265 1\n")
