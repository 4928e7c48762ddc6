"""A made-up content of a report, as small as a test likes it; no model is fitted for it."""

import random
from typing import Any

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "{{7*7}}{% for x in y %}",
    "'; alert(1) //",
    "\u202eevil\u2069 \u200f",
    "two\nlines\ttab\x00 <!--<script>",
    "\u2028&lt;b&gt;\u2029",
    "x" * 10_000,
)
"""Texts that would do harm if one of them was read as markup, as a template or as a script."""


def content(nodes: int = 60, classes: int = 3, *, hostile: bool = False, seed: int = 0) -> dict[str, Any]:
    """Return a content with this number of nodes and classes; hostile: every text of the user's is one."""
    draw = random.Random(seed)

    def text(plain: str) -> str:
        return f"{draw.choice(HOSTILE)} {plain}" if hostile else plain

    names = [text(f"class {index}") for index in range(classes)]
    members = ["spread", "GOAL", "MLP"]
    return {
        "format": 1,
        "name": text("made-up"),
        "made": {
            "version": "0.2.0",
            "when": "2026-01-02T03:04:05Z",
            "command": f"otherhalf fit {text('made-up')} --out run",
            "fingerprint": "0123456789abcdef" * 4,
            "split": "uniform",
            "seed": 0,
            "preset": "best",
            "method": "kernel",
            "settings": {"method": "kernel", "search": {"k": 20, "names": [text("a")]}},
            "seconds": {"diagnose": 0.4, "complement": 5.1, "train": 17.0, "total": 22.5},
            "peak_memory_mb": 700.0,
            "machine": "2 cores, Linux x86_64, Python 3.11",
        },
        "graph": {
            "nodes": nodes,
            "edges": 2 * nodes,
            "features": 12,
            "classes": names,
            "directed": False,
            "labelled": nodes,
            "isolated": 0,
            "parts": {"train": nodes // 2, "val": nodes // 4, "test": nodes - nodes // 2 - nodes // 4},
            "class_counts": [nodes // classes] * classes,
        },
        "verdict": _verdict(draw, text),
        "halves": _halves(draw, names, text),
        "classifier": _classifier(draw, members),
        "evaluation": _evaluation(draw, names, nodes),
        "columns": [
            {
                "name": text("year"),
                "kind": "number",
                "cells": text("31 different"),
                "becomes": "1 column, standardised",
                "missing": 3,
                "features": 1,
                "note": "",
            },
            {
                "name": text("venue"),
                "kind": "category",
                "cells": "3 different",
                "becomes": "11 columns of 0 and 1",
                "missing": 0,
                "features": 11,
                "note": text("rare values are one column"),
            },
        ],
        "explorer": _explorer(draw, nodes, classes, members, text),
    }


def _verdict(draw: random.Random, text: Any) -> dict[str, Any]:
    bins = [index / 25 - 1 for index in range(51)]
    return {
        "sentence": f"{text('Made-up')} mostly joins like with like; what it lacks is the other half.",
        "meaning": ["Neighbours tell much of a class.", "Unlike nodes are what the found half adds."],
        "ks": 0.475,
        "ks_std": 0.004,
        "threshold": 0.2,
        "tendency": "homophily",
        "label_tendency": "homophily",
        "contradiction": False,
        "doubt": "",
        "measures": [
            _measure("edge_homophily", "edge homophily", 0.81, 0.8, 0.82, "share of edges within a class"),
            _measure("adjusted", "adjusted homophily", -0.07, -0.1, None, "corrected for class sizes"),
            _measure("information", "label informativeness", None, None, None, "unknown here"),
        ],
        "cosines": {
            "bins": bins,
            "connected": [max(0.0, 1 - abs(x - 0.3) * 4) * 2 for x in bins[:-1]],
            "random": [max(0.0, 1 - abs(x) * 8) * 3 for x in bins[:-1]],
        },
        "duplicates": "",
        "simple": [
            {"title": "majority class", "score": 0.3, "explained": "the largest class for every node"}
        ],
    }


def _measure(name: str, title: str, value: Any, low: Any, high: Any, explained: str) -> dict[str, Any]:
    return {"name": name, "title": title, "value": value, "low": low, "high": high, "explained": explained}


def _halves(draw: random.Random, names: list[str], text: Any) -> dict[str, Any]:
    count = len(names)

    def mixing(within: float) -> list[list[float]]:
        other = (1 - within) / max(1, count - 1)
        return [[within if i == j else other for j in range(count)] for i in range(count)]

    rows = [
        ("given", "given edges"),
        ("found", "found half"),
        ("knn", "most similar features"),
        ("random", "random"),
    ]
    return {
        "kind": "heterophily",
        "words": f"words in common, and {text('two steps')}",
        "k": 20,
        "rows": [
            {
                "name": name,
                "title": title,
                "edges": 5278,
                "all": 0.8,
                "train": 0.81,
                "test": None,
                "explained": f"what {title} are",
            }
            for name, title in rows
        ],
        "mixing": {"given": mixing(0.8), "found": mixing(0.1)},
        "mixing_classes": names,
        "worth": {
            "metric": "accuracy",
            "with": 0.88,
            "without": 0.87,
            "random": 0.86,
            "title": "accuracy",
            "part": "test",
            "explained": "One split and one seed.",
        },
    }


def _classifier(draw: random.Random, members: list[str]) -> dict[str, Any]:
    return {
        "metric": "accuracy",
        "metric_title": "accuracy",
        "metric_reason": "Accuracy selects: no class is rare.",
        "leaderboard": [
            {
                "member": member,
                "explained": f"what {member} does",
                "validation": 0.87 - index / 50,
                "weight": (0.6, 0.4, 0.0)[index],
                "seconds": 8.8,
            }
            for index, member in enumerate(members)
        ],
        "simple": [{"title": "label propagation", "validation": 0.86, "test": 0.85}],
        "curves": [
            {
                "name": f"GOAL {number}",
                "losses": [2 / (1 + epoch / 5) + draw.random() / 20 for epoch in range(60)],
                "scores": [None if epoch == 3 else 0.9 - 0.6 / (1 + epoch) for epoch in range(60)],
                "best": 37,
                "step": 1,
            }
            for number in (1, 2)
        ],
        "coefficients": [{"alpha": 1.0, "beta": 1.0, "gamma": 0.1, "delta": 0.1}],
        "coefficient_meaning": {
            "alpha": "the node itself",
            "beta": "its like neighbours",
            "gamma": "its unlike neighbours",
            "delta": "the like neighbours of its unlike neighbours",
        },
    }


def _evaluation(draw: random.Random, names: list[str], nodes: int) -> dict[str, Any]:
    groups = [("1", 0.7), ("2 – 3", 0.8), ("4 – 9", None), ("10 or more", 0.95)]
    return {
        "part": "test",
        "nodes": nodes // 4,
        "metrics": [
            {
                "name": "accuracy",
                "title": "accuracy",
                "value": 0.886,
                "low": 0.86,
                "high": 0.91,
                "majority": 0.3,
                "larger_is_better": True,
            },
            {
                "name": "log_loss",
                "title": "log loss",
                "value": 0.4,
                "low": None,
                "high": None,
                "majority": 1.8,
                "larger_is_better": False,
            },
        ],
        "per_class": [
            {"class": name, "nodes": 70, "precision": 0.9, "recall": 0.8, "f1": None} for name in names
        ],
        "confusion_classes": names,
        "confusion": [[12 if i == j else 1 for j in range(len(names))] for i in range(len(names))],
        "largest": [{"true": names[0], "predicted": names[-1], "nodes": 12}],
        "by": [
            {
                "title": title,
                "explained": f"accuracy by {title}",
                "groups": [
                    {
                        "label": label,
                        "nodes": 40,
                        "value": value,
                        "low": value and value - 0.05,
                        "high": value and value + 0.04,
                    }
                    for label, value in groups
                ],
            }
            for title in ("degree", "node homophily", "distance to the nearest training node")
        ],
        "reliability": [
            {
                "low": tenth / 10,
                "high": (tenth + 1) / 10,
                "confidence": tenth / 10 + 0.05,
                "accuracy": tenth / 10 + 0.02,
                "nodes": 3 * tenth,
            }
            for tenth in range(10)
        ],
        "calibration_error": 0.02,
        "surest_wrong": [{"node": 1, "confidence": 0.99}, {"node": 4, "confidence": 0.93}],
    }


def _explorer(draw: random.Random, nodes: int, classes: int, members: list[str], text: Any) -> dict[str, Any]:
    label = [draw.randrange(classes) if index % 9 else -1 for index in range(nodes)]
    predicted = [known if known >= 0 and draw.random() < 0.85 else draw.randrange(classes) for known in label]

    def other() -> Any:
        hidden = [text("not shown"), draw.randrange(classes), draw.randrange(classes)]
        return draw.randrange(nodes) if draw.random() < 0.9 else hidden

    def detail(index: int) -> dict[str, Any]:
        own, rest = predicted[index], [c for c in range(classes) if c != predicted[index]]
        return {
            "p": [[own, 0.7], *([c, round(0.3 / len(rest), 4)] for c in rest[:4])],
            "members": [0.8, 0.6],
            "given": [other() for _ in range(draw.randrange(13))],
            "given_more": draw.choice([0, 3]),
            "found": [[other(), round(draw.random(), 3)] for _ in range(draw.randrange(9))],
            "found_more": 0,
            "spread": {
                "score": [0.7, *([0.1] * min(4, len(rest)))],
                "from": [[other(), 0.25], [other(), 0.2], [other(), -0.05]],
                "others": 0.3,
                "own": 0.0,
            }
            if index % 5
            else None,
            "columns": [[0, text("1990"), 0.12], [1, "yes", -0.03]] if index % 4 else None,
        }

    return {
        "sampled": False,
        "shown": nodes,
        "of": nodes,
        "sentence": "All nodes are here.",
        "members": members[:2],
        "weights": [0.6, 0.4],
        "columns_sentence": "Effects are those of a linear reading.",
        "columns": [text("year"), text("venue = A")],
        "nodes": {
            "id": [text(f"n{index}") for index in range(nodes)],
            "label": label,
            "predicted": predicted,
            "confidence": [round(0.5 + draw.random() / 2, 3) for _ in range(nodes)],
            "part": "".join(draw.choice("tvse") for _ in range(nodes)),
            "degree": [draw.randrange(13) for _ in range(nodes)],
            "detail": [index if index % 7 else -1 for index in range(nodes)],
        },
        "details": [detail(index) for index in range(nodes)],
    }
