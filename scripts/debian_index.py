"""Debian's package index as tables: one row per source package, and which package needs which.

The index of a release has two large files: ``Sources`` with one record per source package, and ``Packages``
with one record per binary package that is built from them.
"""

from __future__ import annotations

import hashlib
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pandas as pd

FILES = {
    "Release": "Release",
    "Sources.xz": "main/source/Sources.xz",
    "Packages.xz": "main/binary-amd64/Packages.xz",
}
NOBODY = "packages@qa.debian.org"
"""The address of packages that nobody looks after."""

Record = dict[str, str]
Needs = Counter[tuple[str, str]]
"""How many dependencies of the first package the second one fulfils."""

_DAY = re.compile(r"(?<!\d)(20[0-2]\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|30)(?!\d)")
# Of alternatives, the first.
_NEEDED = re.compile(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]+)")
_LIST = re.compile(r"<(?:team\+)?([^@]+)@(?:lists\.|alioth-lists\.|tracker\.debian\.org)")


def fetch(mirror: str, release: str, folder: Path) -> dict[str, object]:
    """Download the index of a release unless the folder has it; return its version, date and hashes."""
    folder.mkdir(parents=True, exist_ok=True)
    hashes = {}
    for name, place in FILES.items():
        path = folder / f"{release}.{name}"
        if not path.exists():
            with urlopen(f"{mirror}/dists/{release}/{place}") as answer:
                path.write_bytes(answer.read())
        hashes[place] = hashlib.sha256(path.read_bytes()).hexdigest()
    about = dict(re.findall(r"^(Version|Date): (.+)$", (folder / f"{release}.Release").read_text(), re.M))
    return {"version": about["Version"], "date": about["Date"], "sha256": hashes}


def records(path: Path) -> Iterator[Record]:
    """Yield the records of an index file: fields by name, the lines of a field joined by spaces."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        record: Record = {}
        name = ""
        for line in lines:
            if line[0] in " \t":
                record[name] += " " + line.strip()
            elif line != "\n":
                name, _, value = line.partition(":")
                record[name] = value.strip()
            elif record:
                yield record
                record = {}
        if record:
            yield record


def read_release(folder: Path, release: str) -> tuple[pd.DataFrame, Needs]:
    """Return the source packages of a release, by name, and how often one needs another to run."""
    sources = {
        record["Package"]: record
        for record in records(folder / f"{release}.Sources.xz")
        if record.get("Extra-Source-Only") != "yes"
    }
    built: dict[str, list[Record]] = defaultdict(list)
    source_of: dict[str, str] = {}
    for record in records(folder / f"{release}.Packages.xz"):
        source = record.get("Source", record["Package"]).split()[0]
        if source in sources and record["Package"] not in source_of:
            built[source].append(record)
            source_of[record["Package"]] = source
    rows = {name: _row(sources[name], built[name]) for name in sorted(built)}
    needs: Needs = Counter()
    for name in rows:
        fields = [record.get(field, "") for record in built[name] for field in ("Depends", "Pre-Depends")]
        targets = Counter(
            source_of.get(target, name) for field in fields for target in _NEEDED.findall(field)
        )
        needs.update({(name, target): count for target, count in targets.items() if target != name})
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("package"), needs


def _row(source: Record, built: list[Record]) -> dict[str, object]:
    """Return what is known of a source package; None stands for a gap."""
    by_name = {record["Package"]: record for record in built}
    listed = [name for name in [source["Package"], *source["Binary"].split(", ")] if name in by_name]
    main = by_name[listed[0]]
    day = _DAY.search(source["Version"])
    tags = {tag.strip() for record in built for tag in record.get("Tag", "").split(",") if tag.strip()}
    return {
        "description": main["Description"],
        "section": main["Section"],
        "team": _team(source["Maintainer"]),
        "installed_kb": int(main["Installed-Size"]) if "Installed-Size" in main else None,
        "source_kb": round(sum(int(size) for size in source["Files"].split()[1::3]) / 1000, 1),
        "binaries": len(built),
        "priority": main["Priority"],
        "any_machine": "yes" if source["Architecture"] == "all" else "no",
        "multi_arch": main.get("Multi-Arch"),
        "tests": "yes" if "Testsuite" in source else "no",
        "policy": source.get("Standards-Version"),
        "home": _host(source.get("Homepage")),
        "repository": _host(source.get("Vcs-Browser")),
        "snapshot": "-".join(day.groups()) if day else None,
        "tags": ", ".join(sorted(tags)) or None,
    }


def _team(maintainer: str) -> str | None:
    """Return the name of the mailing list of a team, ``nobody``, or None for a person."""
    if NOBODY in maintainer:
        return "nobody"
    found = _LIST.search(maintainer)
    return found[1] if found else None


def _host(address: str | None) -> str | None:
    """Return the host of an address, without www; None for a page of the Python package index itself."""
    host = (urlsplit(address).hostname or "").removeprefix("www.") if address else ""
    return None if host.startswith("pypi.") else host or None
