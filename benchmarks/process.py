"""A measure in a process of its own: its memory is its own, and so are its threads."""

from __future__ import annotations

import multiprocessing
import traceback
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.marks import measures
from benchmarks.measure import Missing, Setting


def in_process(name: str, setting: Setting, allocator: str) -> dict[str, Any]:
    """Return the figures of a measure that runs in a new process, or why there are none."""
    # A process forked from this one would have its threads; one that is spawned would import all of it again.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "benchmarks.marks", "otherhalf.estimators.goal"])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(name, setting, allocator, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        return {"missing": "failed", "error": f"the process ended with status {process.exitcode}\n"}
    finally:
        process.join()


def _measure(name: str, setting: Setting, allocator: str, sender: Connection) -> None:
    import torch

    from otherhalf.system.process import keep_freed_memory

    torch.set_num_threads(setting.threads)
    if allocator == "keep":
        keep_freed_memory()
    measure = next(each for each in measures() if each.name == name)
    try:
        sender.send({"figures": dict(measure.run(setting))})
    except Missing as error:
        sender.send({"missing": f"not measured: {error}"})
    except Exception:
        sender.send({"missing": "failed", "error": traceback.format_exc()})
