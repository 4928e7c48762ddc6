"""Part of the campaign: spoilt files for every reader."""

import contextlib
import random
import shutil
import tempfile
import warnings
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
from tests.campaign.mutations import Mutation, spoil_arrays, spoil_bytes, spoil_json, spoil_table
from tests.campaign.outcome import Tally, attempt
from tests.campaign.subjects import Facts, Subject, arrays, packed, subjects

from otherhalf.diagnosis.verdict import diagnose
from otherhalf.errors import InputError
from otherhalf.graph import Graph


def spoil_files(tally: Tally, inputs: int, seed: int) -> None:
    """Read this many spoilt files, dealt out to the formats."""
    known = subjects()
    for subject in known:
        _spoil_format(tally, subject, -(-inputs // len(known)), random.Random(f"{seed} {subject.name}"))


def _spoil_format(tally: Tally, subject: Subject, inputs: int, rng: random.Random) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        original, usual = _read(subject, folder, subject.files)
        facts = Facts.of(original)
        for number in range(inputs):
            name, mutation = spoil(subject, rng)
            files = subject.files | {name: mutation.content}
            outcome, wrong = attempt(
                lambda files=files: _read(subject, folder, files),
                lambda read, mutation=mutation: judge(read[0], facts, mutation, read[1] - usual),
            )
            if outcome == "refused" and mutation.expected == "same":
                outcome, wrong = "silent", f"refused although nothing is wrong with it: {wrong}"
            tally.add(f"files, {subject.name}", outcome, f"input {number}, {name}, {mutation.how}: {wrong}")


def spoil(subject: Subject, rng: random.Random) -> tuple[str, Mutation]:
    """Spoil one file of a graph, at its structure where this is known, else at its bytes."""
    name = rng.choice(list(subject.files))
    content = subject.files[name]
    structure = rng.random() < 0.7
    if structure and name in subject.tables:
        mutation = spoil_table(content, subject.tables[name], rng)
        if subject.by_position and mutation.how.startswith(("name twice", "quoted", "all quoted")):
            mutation = replace(mutation, expected="same or refuse")
        return name, mutation
    if structure and name.endswith((".json", ".jsonl")):
        return name, spoil_json(content, rng)
    if structure and name.endswith("g.npz"):
        if rng.random() < 0.2:
            return name, Mutation("one array's header", _spoilt_member(content, rng))
        how, expected, changed = spoil_arrays(arrays(sparse="sparse" in subject.name), rng)
        return name, Mutation(how, packed(changed), expected)
    return name, spoil_bytes(content, rng)


def judge(graph: Graph, facts: Facts, mutation: Mutation, notes: set[str]) -> str | None:
    """Return what is wrong with an accepted graph, which came with these notes beyond the usual ones."""
    if mutation.expected == "refuse":
        return "accepted although it is wrong"
    if not np.isfinite(graph.x.data if hasattr(graph.x, "tocsr") else graph.x).all():
        return "features that are not finite"
    if graph.num_edges and not 0 <= graph.edges.min() <= graph.edges.max() < graph.num_nodes:
        return "edges between nodes that do not exist"
    found = Facts.of(graph)
    if mutation.expected.startswith("same") and found != facts:
        return "another graph although nothing was changed"
    if mutation.expected == "tell" and not notes:
        return "accepted without a word"
    if mutation.touched is not None:
        wrong = _moved(found, facts, mutation.touched)
        if wrong:
            return wrong
    with contextlib.suppress(InputError):
        diagnose(graph, draws=2)
    return None


def _moved(found: Facts, facts: Facts, touched: frozenset[str]) -> str | None:
    """Return which node or edge changed though nobody touched its row."""
    for node, label in facts.labels.items():
        if node not in touched and found.labels.get(node) != label:
            return f"{node} has the class {found.labels.get(node)}, and its row says {label}"
    before, after = ({pair for pair in each if not pair & touched} for each in (facts.edges, found.edges))
    if before != after:
        return f"edges moved: {sorted(map(sorted, before ^ after))[:3]}"
    return None


def _read(subject: Subject, folder: Path, files: dict[str, bytes]) -> tuple[Graph, set[str]]:
    """Return the graph and its notes."""
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    subject.write(folder, files)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        graph = subject.read(folder)
    return graph, {str(note.message) for note in notes}


def _spoilt_member(content: bytes, rng: random.Random) -> bytes:
    """Spoil the first bytes, where the header is, of one array inside a zip that stays whole."""
    file = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        chosen = rng.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            if name == chosen:
                head = spoil_bytes(data[:128], rng).content
                data = head + data[128:] if rng.random() < 0.5 else _declared(data, rng)
            new.writestr(name, data)
    return file.getvalue()


def _declared(data: bytes, rng: random.Random) -> bytes:
    """Declare another shape than the data has, perhaps an immense one."""
    shape = rng.choice(
        (b"(9999999999,)", b"(10000000000000, 3)", b"(-1,)", b"(1, 1, 1, 1, 1)", b"()", b"(2,", b"('a',)")
    )
    start, end = data.find(b"'shape': ") + 9, data.find(b"), }") + 1
    padded = data[:start] + shape + data[end:128]
    return (padded + b" " * 128)[:127] + b"\n" + data[128:]
