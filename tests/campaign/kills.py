"""Part of the campaign: commands that are killed at random moments, and continued."""

import json
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.campaign.outcome import Tally
from tests.campaign.processes import start
from tests.campaign.subjects import subjects

from otherhalf.errors import InputError
from otherhalf.estimators.goal import GOALClassifier
from otherhalf.experiments.runner.store import Store

DATA = "nodes.csv,edges.csv"
FITS = {
    "fit --preset paper": ["--preset", "paper"],
    "fit --fast": ["--fast"],
    "fit": ["--no-simple"],
}
COMPARE = ["compare", DATA, "--models", "mlp,gcn", "--runs", "3", "--store", "store", "--workers", "2"]
SIGNALS = {signal.SIGKILL: 137, signal.SIGTERM: 143, signal.SIGINT: 130}
LASTING = ("model.json", "predictions.csv", "half.csv", "report.json", "result.json")


def kill_fits(tally: Tally, kills: int, seed: int) -> None:
    """Kill fits: half of them into the folder of an earlier one, which must stay whole until the end."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subjects()[0].write(folder)
        _run(folder, ["fit", DATA, "--fast", "--seed", "7", "--out", "earlier"])
        shares = zip(FITS.items(), (kills - kills // 2 - kills // 10, kills // 2, kills // 10), strict=True)
        for (name, options), share in shares:
            words = ["fit", DATA, *options, "--seed", "1", "--out"]
            began = time.monotonic()
            _run(folder, [*words, "whole"])
            duration = time.monotonic() - began
            rng = random.Random(f"{seed} {name}")
            for number in range(share):
                moment, sign = rng.uniform(0, 1.1) * duration, rng.choice(list(SIGNALS))
                over = rng.random() < 0.5
                outcome, wrong = _kill_one(folder, words, moment, sign, over)
                what = f"kill {number} by {sign.name} after {moment:.2f} s{', over an older fit' * over}"
                tally.add(f"kills, {name}", outcome, f"{what}: {wrong}")
            shutil.rmtree(folder / "whole")


def _kill_one(
    folder: Path, words: list[str], moment: float, sign: signal.Signals, over: bool
) -> tuple[str, str]:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    if over:
        shutil.copytree(folder / "earlier", out)
    running = start([*words, "out"], folder)
    time.sleep(moment)
    running.send(sign)
    status = running.wait()
    wrong = _ended_well(status, sign, running.said)
    if wrong:
        return wrong
    if over:
        try:
            GOALClassifier.load(out)
            json.loads((out / "result.json").read_text())
        except (InputError, OSError, ValueError) as error:
            return "lost", f"the older fit: {error}"
    again = start([*words, "out", *(["--resume"] if _may_resume(out) else [])], folder)
    if again.wait() != 0:
        return "lost", f"cannot be continued: {again.said[-500:]}"
    different = [name for name in LASTING if _lasting(out / name) != _lasting(folder / "whole" / name)]
    if different:
        return "silent", f"{', '.join(different)}: not as without the kill"
    debris = sorted(str(path.relative_to(out)) for path in out.rglob("*") if not _belongs(path, out))
    return ("lost", f"debris: {debris}") if debris else ("kept", "")


def _ended_well(status: int | None, sign: signal.Signals, said: str) -> tuple[str, str] | None:
    if status is None:
        return "hang", f"{sign.name} did not end it"
    if status not in (0, SIGNALS[sign]):
        return "traceback", f"status {status} after {sign.name}: {said[-800:]}"
    if "Traceback" in said:
        return "traceback", said[-1500:]
    if sign is not signal.SIGKILL and status and "otherhalf: stopped" not in said:
        return "traceback", f"no word after {sign.name}: {said[-300:]!r}"
    return None


def _may_resume(out: Path) -> bool:
    """Whether the folder holds no result of the earlier fit, which --resume would rightly refuse."""
    result = out / "result.json"
    return not result.exists() or json.loads(result.read_text())["seed"] != 7


def _belongs(path: Path, out: Path) -> bool:
    own = json.loads((out / "model.json").read_text())["weights"]
    return path.name in (*LASTING, own)


def _lasting(path: Path) -> Any:
    """The content of a file, less what differs from run to run: times and memory."""
    if not path.exists():
        return None
    if path.suffix != ".json":
        return path.read_bytes()
    return _without_times(json.loads(path.read_text()))


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        gone = ("seconds", "stages", "peak_memory_mb", "out", "checksum", "run", "when", "command")
        return {key: _without_times(each) for key, each in value.items() if key not in gone}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


def _run(folder: Path, words: list[str]) -> None:
    running = start(words, folder)
    if running.wait() != 0:
        raise RuntimeError(f"{' '.join(words)}: {running.said}")


def kill_compares(tally: Tally, kills: int, seed: int) -> None:
    """Kill comparisons with their workers; no run may be lost, done twice or left behind."""
    rng = random.Random(f"{seed} compare")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subjects()[0].write(folder)
        began = time.monotonic()
        _run(folder, COMPARE)
        duration = time.monotonic() - began
        whole = scores(folder / "store")
        for number in range(kills):
            shutil.rmtree(folder / "store", ignore_errors=True)
            moment, sign = rng.uniform(0, 1.1) * duration, rng.choice(list(SIGNALS))
            outcome, wrong = _kill_compare(folder, moment, sign, whole)
            tally.add(
                "kills, compare", outcome, f"kill {number} by {sign.name} after {moment:.2f} s: {wrong}"
            )


def _kill_compare(
    folder: Path, moment: float, sign: signal.Signals, whole: dict[str, Any]
) -> tuple[str, str]:
    running = start(COMPARE, folder)
    time.sleep(moment)
    running.send(sign)
    status = running.wait()
    survivors = running.survivors()
    if survivors:
        return "hang", f"processes {survivors} live on"
    wrong = _ended_well(status, sign, running.said)
    if wrong:
        return wrong
    kept = scores(folder / "store")
    again = start(COMPARE, folder)
    if again.wait() != 0:
        return "lost", f"cannot be continued: {again.said[-500:]}"
    after = scores(folder / "store")
    if any(after.get(key) != value for key, value in kept.items()):
        return "lost", "a finished run was lost"
    if done_twice(folder / "store"):
        return "silent", "a finished run was done again"
    return ("kept", "") if after == whole else ("silent", "other scores than without the kill")


def scores(store: Path) -> dict[str, Any]:
    """The results of a store by the keys of their runs."""
    records = Store(store).records() if store.exists() else []
    return {record.key: _without_times(record.result) for record in records}


def done_twice(store: Path) -> int:
    """The number of runs that a store has more than once."""
    lines = [line for path in store.rglob("*.jsonl") for line in path.read_text().split("\n")[:-1]]
    return len(lines) - len(scores(store))
