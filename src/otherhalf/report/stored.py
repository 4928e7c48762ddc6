"""The file ``report.json`` of a fit's folder: what a page is made from, checked when it is read."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otherhalf.errors import InputError
from otherhalf.estimators.run_files import REPORT_FILE
from otherhalf.system.atomic import atomic_write
from otherhalf.system.own_files import read_own_file

FORMAT = 1


@dataclass(frozen=True)
class Maybe:
    """A value that may be None."""

    shape: Any


@dataclass(frozen=True)
class Mapped:
    """A dictionary with names of the user's and values of one shape."""

    shape: Any


NUMBER = (int, float)
SHARE = Maybe(NUMBER)
NODE = (int, list)
"""A node: its place in the explorer, or [id, label, prediction] if it is not there."""

SHAPE: dict[str, Any] = {
    "format": int,
    "name": str,
    "made": {
        **dict.fromkeys(("version", "when", "command", "fingerprint", "split", "machine"), str),
        **dict.fromkeys(("preset", "method"), Maybe(str)),
        "seed": int,
        "settings": dict,
        "seconds": Mapped(NUMBER),
        "peak_memory_mb": Maybe(NUMBER),
    },
    "graph": {
        **dict.fromkeys(("nodes", "edges", "features", "labelled", "isolated"), int),
        "classes": [str],
        "directed": bool,
        "parts": {"train": int, "val": int, "test": int},
        "class_counts": [int],
    },
    "verdict": Maybe(
        {
            **dict.fromkeys(("sentence", "tendency", "doubt", "duplicates"), str),
            "meaning": [str],
            **dict.fromkeys(("ks", "ks_std"), SHARE),
            "threshold": NUMBER,
            "label_tendency": Maybe(str),
            "contradiction": bool,
            "measures": [
                {"name": str, "title": str, "value": SHARE, "low": SHARE, "high": SHARE, "explained": str}
            ],
            "cosines": Maybe({"bins": [NUMBER], "connected": [NUMBER], "random": [NUMBER]}),
            "simple": [{"title": str, "score": SHARE, "explained": str}],
        }
    ),
    "halves": {
        "kind": Maybe(str),
        "words": str,
        "k": Maybe(int),
        "rows": [
            {
                **dict.fromkeys(("name", "title", "explained"), str),
                "edges": Maybe(int),
                **dict.fromkeys(("all", "train", "test"), SHARE),
            }
        ],
        "mixing": Mapped([[SHARE]]),
        "mixing_classes": [str],
        "worth": Maybe(
            {
                **dict.fromkeys(("metric", "title", "part", "explained"), str),
                **dict.fromkeys(("with", "without", "random"), SHARE),
            }
        ),
    },
    "classifier": {
        **dict.fromkeys(("metric", "metric_title", "metric_reason"), str),
        "leaderboard": [
            {"member": str, "explained": str, "validation": SHARE, "weight": SHARE, "seconds": SHARE}
        ],
        "simple": [{"title": str, "validation": SHARE, "test": SHARE}],
        "curves": [
            {"name": str, "losses": [SHARE], "scores": [SHARE], "best": Maybe(NUMBER), "step": Maybe(NUMBER)}
        ],
        "coefficients": [dict.fromkeys(("alpha", "beta", "gamma", "delta"), SHARE)],
        "coefficient_meaning": dict.fromkeys(("alpha", "beta", "gamma", "delta"), str),
    },
    "evaluation": {
        "part": str,
        "nodes": int,
        "metrics": [
            {
                **dict.fromkeys(("name", "title"), str),
                **dict.fromkeys(("value", "low", "high", "majority"), SHARE),
                "larger_is_better": bool,
            }
        ],
        "per_class": [{"class": str, "nodes": int, "precision": SHARE, "recall": SHARE, "f1": SHARE}],
        "confusion": [[int]],
        "confusion_classes": [str],
        "largest": [{"true": str, "predicted": str, "nodes": int}],
        "by": [
            {
                "title": str,
                "explained": str,
                "groups": [{"label": str, "nodes": int, "value": SHARE, "low": SHARE, "high": SHARE}],
            }
        ],
        "reliability": [{**dict.fromkeys(("low", "high", "confidence", "accuracy"), SHARE), "nodes": int}],
        "calibration_error": SHARE,
        "surest_wrong": [{"node": int, "confidence": NUMBER}],
    },
    "columns": [
        {
            **dict.fromkeys(("name", "kind", "cells", "becomes", "note"), str),
            "missing": Maybe(int),
            "features": Maybe(int),
        }
    ],
    "explorer": {
        "sampled": bool,
        "shown": int,
        "of": int,
        "sentence": str,
        "members": [str],
        "weights": [SHARE],
        "columns": [str],
        "columns_sentence": str,
        "nodes": {
            "id": [str],
            **{name: [int] for name in ("label", "predicted", "degree", "detail")},
            "confidence": [NUMBER],
            "part": str,
        },
        "details": [
            {
                "p": [list],
                "members": [NUMBER],
                "given": [NODE],
                "given_more": int,
                "found": [list],
                "found_more": int,
                "spread": Maybe({"score": [NUMBER], "from": [list], "others": NUMBER, "own": NUMBER}),
                "columns": Maybe([list]),
            }
        ],
    },
}
"""What a content has, and of which types; a content may have more."""


def write_content(folder: str | Path, content: dict[str, Any]) -> None:
    """Write a content to a fit's folder."""
    with atomic_write(Path(folder) / REPORT_FILE) as temporary:
        temporary.write_text(
            json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n", encoding="utf-8"
        )


def read_content(folder: str | Path) -> dict[str, Any]:
    """Return the content in a fit's folder; raise InputError if it is missing, damaged or newer than this."""
    folder = Path(folder)
    path = folder / REPORT_FILE
    if not path.is_file():
        raise InputError(
            f"{folder} has no {REPORT_FILE}: run `otherhalf fit DATA --out {folder}`, which writes it"
        )
    again = f"run `otherhalf fit DATA --out {folder}` again"
    written = read_own_file(path, again)
    try:
        content = json.loads(
            written.decode("utf-8"),
            parse_int=_bounded_int,
            parse_float=_finite_float,
            parse_constant=_finite_float,
        )
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged ({error}): {again}") from error
    found = content.get("format") if isinstance(content, dict) else None
    if isinstance(found, int) and found > FORMAT:
        raise InputError(
            f"{path} has the format {found}, and this version reads up to {FORMAT}: install a newer otherhalf"
        )
    wrong = _wrong(content, SHAPE, "") or _wrong_places(content)
    if wrong:
        raise InputError(f"{path} is damaged ({wrong}): {again}")
    return dict(content)


def _bounded_int(text: str) -> int:
    """Return a whole number; raise ValueError if it is larger than any that is written, seeds included."""
    value = int(text)
    if abs(value) >= 2**64:
        raise ValueError(f"the number {text[:20]}… is too large")
    return value


def _finite_float(text: str) -> float:
    """Return a number; raise ValueError for NaN and infinities, which are never written."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is not finite")
    return value


def _wrong(value: Any, shape: Any, where: str) -> str:
    """Return where a value does not have its shape; empty if it has."""
    if isinstance(shape, Maybe):
        return "" if value is None else _wrong(value, shape.shape, where)
    if isinstance(shape, Mapped):
        return _wrong(value, dict, where) or _first(
            _wrong(item, shape.shape, f"{where}.{name}") for name, item in value.items()
        )
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"{where or 'the file'} is no object"
        for name in shape:
            if name not in value:
                return f"{where}.{name} is missing".lstrip(".")
        return _first(
            _wrong(value[name], part, f"{where}.{name}".lstrip(".")) for name, part in shape.items()
        )
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{where} is no list"
        return _first(_wrong(item, shape[0], f"{where}[{place}]") for place, item in enumerate(value))
    types = shape if isinstance(shape, tuple) else (shape,)
    right = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    return "" if right else f"{where} is no {' or '.join(kind.__name__ for kind in types)}"


def _wrong_places(content: dict[str, Any]) -> str:
    """Return where parts that belong together do not fit each other; empty if they do."""
    if "total" not in content["made"]["seconds"]:
        return "made.seconds.total is missing"
    explorer, evaluation, halves = content["explorer"], content["evaluation"], content["halves"]
    nodes, classes = explorer["nodes"], len(content["graph"]["classes"])
    count = len(nodes["id"])
    for name, values in nodes.items():
        if len(values) != count:
            return f"explorer.nodes.{name} has {len(values)} nodes and explorer.nodes.id has {count}"
    places = {
        "explorer.nodes.label": (nodes["label"], -1, classes),
        "explorer.nodes.predicted": (nodes["predicted"], 0, classes),
        "explorer.nodes.detail": (nodes["detail"], -1, len(explorer["details"])),
        "evaluation.surest_wrong": ([row["node"] for row in evaluation["surest_wrong"]], 0, count),
    }
    for where, (values, low, high) in places.items():
        if any(not low <= value < high for value in values):
            return f"{where} has a number beyond {low} … {high - 1}"
    tables = {"evaluation.confusion": (evaluation["confusion"], len(evaluation["confusion_classes"]))}
    for half, rows in halves["mixing"].items():
        tables[f"halves.mixing.{half}"] = (rows, len(halves["mixing_classes"]))
    for where, (rows, size) in tables.items():
        if rows and (len(rows) != size or any(len(row) != size for row in rows)):
            return f"{where} is not {size} × {size}"
    if len(content["graph"]["class_counts"]) > classes:
        return "graph.class_counts has more classes than graph.classes"
    if evaluation["part"] not in ("test", "val"):
        return "evaluation.part is neither test nor val"
    cosines = content["verdict"] and content["verdict"]["cosines"]
    if cosines and any(len(cosines[name]) != len(cosines["bins"]) - 1 for name in ("connected", "random")):
        return "verdict.cosines does not have one bar between two bins"
    return ""


def _first(texts: Any) -> str:
    return next((text for text in texts if text), "")
