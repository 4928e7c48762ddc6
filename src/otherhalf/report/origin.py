"""How a fit was made, what its graph is, and what the columns of its table are."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from otherhalf.graph import Graph, Split
from otherhalf.report.reported import PARTS, Reported
from otherhalf.report.values import names, number, plain
from otherhalf.system.arrays import UNKNOWN
from otherhalf.system.fields import to_dict
from otherhalf.system.version import VERSION


def made(fit: Reported, result: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return version, time, command, data hash, settings, durations and machine.

    Args:
        fit: The fit.
        result: The result of the command that made it, which measured its memory; it may be empty.
        command: The command, as one would type it again.
    """
    model = fit.model
    return {
        "version": VERSION,
        "when": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
        "fingerprint": fit.graph.fingerprint,
        "run": result.get("run"),
        "split": fit.split.kind,
        "seed": fit.seed,
        "model": type(model).__name__,
        "preset": getattr(model, "preset", ""),
        "method": getattr(model.settings_, "method", "") or getattr(model.settings_, "kind", ""),
        "settings": plain(to_dict(model.settings_)),
        "seconds": {stage: number(spent, 3) for stage, spent in model.seconds_.items()},
        "peak_memory_mb": number(result.get("peak_memory_mb"), 1),
        "machine": machine(),
    }


def machine() -> str:
    """Return the machine in a few words."""
    cores = os.cpu_count() or 1
    word = "core" if cores == 1 else "cores"
    return f"{cores} {word}, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def graph_facts(graph: Graph, split: Split) -> dict[str, Any]:
    """Return the sizes of the graph, of the parts of the split and of the classes."""
    known = graph.y[graph.y != UNKNOWN]
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": names(graph.classes),
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "relations": [] if graph.relations is None else names(graph.relations.names),
        "labelled": len(known),
        "isolated": len(graph.isolated),
        "parts": {part: len(getattr(split, part)) for part in PARTS},
        "class_counts": np.bincount(known, minlength=graph.num_classes).tolist(),
    }


def column_rows(graph: Graph) -> list[dict[str, Any]]:
    """Return one row for each column of the user's table; empty for a graph that was made without one."""
    encoding = None if graph.reading is None else graph.reading.encoding
    if encoding is None:
        return []
    widths = {column.name: len(column.names) for column in encoding.columns}
    return [
        {
            "name": row.column,
            "kind": row.kind,
            "cells": f"{row.distinct:,} different" if row.kind else "",
            "becomes": row.becomes,
            "missing": row.gaps,
            "features": widths.get(row.column, 0),
            "note": row.note,
        }
        for row in encoding.table()
    ]
