"""Part of the campaign: odd arguments for every command."""

import contextlib
import io
import os
import random
import re
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import typer.main
from tests.campaign.keeping import wood
from tests.campaign.outcome import SECONDS, Hang, Tally, time_limit
from tests.campaign.subjects import subjects

from otherhalf.cli.commands import app, main
from otherhalf.data.splits import split
from otherhalf.estimators.goal import GOALClassifier

DATA = "nodes.csv,edges.csv"
QUICK = {
    "diagnose": [DATA],
    "inspect": [DATA],
    "complement": [DATA],
    "fit": [DATA, "--fast"],
    "predict": ["model", DATA],
}
"""Commands that end within a second or two whatever is accepted, with arguments that are right."""

REFUSED = {"compare": [DATA], "search": [DATA], "reproduce": ["table1"]}
"""Commands whose runs are long: of these, only options that no run can have are tried."""

WRONG = ("-1", "0", "x", "", "1e9", "9" * 25, "nan", "~nouser/x", "a\nb", "\x1b[1m", "../..", "\udcff")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
ODD = (
    *WRONG, "1", "3", "label", "soil", "height", "rings", "id", "source", "out", "model", "nodes.csv",
    "nodes.csv/x", "/dev/null", "/dev/full", "best", "paper", "uniform", "fixed", "stratified", "auto",
    "roc_auc", "balanced", "ash=2", "soil=number", "*", "h*", ".", "/", "out.csv", "out.npz", "out.parquet",
    "no.such/folder/x.csv", str(2**31), str(2**63), str(2**64), "cpu", "cuda", "tpu", "é🌲",
    "train=nodes.csv", "a=b=c", "1,2", ",", ",,", "x" * 300,
)  # fmt: skip


def odd_options(tally: Tally, inputs: int, seed: int) -> None:
    """Call this many command lines with odd options, arguments and files."""
    rng = random.Random(f"{seed} options")
    start = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        subjects()[0].write(Path(folder))
        graph = wood()
        os.chdir(folder)
        try:
            GOALClassifier(fast=True).fit(graph, split(graph, "uniform", 0)).save("model")
            for number in range(inputs):
                words = command_line(rng)
                outcome, wrong = call(words)
                tally.add(f"options, {words[0]}", outcome, f"input {number}, {words}: {wrong}")
        finally:
            os.chdir(start)


def command_line(rng: random.Random) -> list[str]:
    name = rng.choice((*QUICK, *QUICK, *REFUSED))
    words = [name, *(QUICK | REFUSED)[name]]
    values: tuple[str, ...] = ODD if name in QUICK else WRONG
    named = [each for each in _options(name) if each.opts[0].startswith("--")]
    for option in rng.sample(named, rng.choice((1, 1, 2, 3))):
        if option.name in ("help", "as_json") or not _may_try(name, option.name):
            continue
        words += [option.opts[0]] if option.is_flag else [option.opts[0], rng.choice(values)]
    if name in REFUSED:
        words += ["--runs", rng.choice(("0", "x", "-3"))]  # so that nothing runs
    elif rng.random() < 0.2:
        words[rng.randrange(1, len(words))] = rng.choice(ODD)
    return words


def _may_try(command: str, option: str) -> bool:
    """Leave out what changes this process for all later inputs, or takes minutes."""
    return option not in ("threads", "fast") and (command, option) != ("fit", "method")


def _options(name: str) -> list[Any]:
    return list(typer.main.get_command(app).commands[name].params)  # type: ignore[attr-defined]


def call(words: list[str]) -> tuple[str, str]:
    """Call the program in this process; return the outcome and what is wrong with it."""
    out, err, before = io.StringIO(), io.StringIO(), (sys.argv, warnings.showwarning)
    sys.argv = ["otherhalf", *words]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with time_limit(SECONDS), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        status = stop.code or 0
    except Hang:
        return "hang", f"more than {SECONDS:.0f} s"
    except BaseException:
        return "traceback", traceback.format_exc()[-1500:]
    finally:
        sys.argv, warnings.showwarning = before
        for number, handler in handlers.items():
            signal.signal(number, handler)
    lines = [line for line in err.getvalue().split("\n") if line]
    if any(CONTROL.search(line) for line in lines):
        return "traceback", f"control characters on the terminal: {err.getvalue()!r}"
    messages = [line for line in lines if not line.startswith("otherhalf: note: ")]
    if status == 2 and len(messages) == 1 and messages[0].startswith("otherhalf: "):
        return "refused", messages[0]
    if status == 0 and "Traceback" not in err.getvalue():
        return "accepted", ""
    return "traceback", f"status {status}: {err.getvalue()[-800:]}"
