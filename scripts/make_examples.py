"""Make the tables of ``examples/data`` and ``examples/messy`` from Debian's package index.

    python scripts/make_examples.py --mirror URL [--cache FOLDER]

The same index gives the same files, byte for byte; ``examples/data/provenance.json`` has its hashes. A point
release of Debian changes the index a little. Addresses of persons are not kept.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pandas as pd
from debian_index import Needs, fetch, read_release
from messy_tables import messy_tables, write_messy

EXAMPLES = Path(__file__).parents[1] / "examples"
RELEASES = {"bullseye": 11, "bookworm": 12}

PROGRAMS = ("database", "editors", "graphics", "mail", "math", "video", "web")
LIBRARIES = ("libs", "libdevel")
TOOLS = ("admin", "utils", "x11")
DAEMON = "interface::daemon"
TEAMS = {
    "debian-astro-maintainers": "astronomy",
    "debian-hams": "amateur radio",
    "debian-med-packaging": "medicine",
    "debian-science-maintainers": "science",
    "debichem-devel": "chemistry",
    "pkg-grass-devel": "geography",
}
FEWEST, LARGEST_SHARE = 3, 0.1
"""A package joins others if at least so many need it. What a larger share of the packages needs tells
nothing, and its edges are left out."""


def main() -> None:
    """Fetch the two releases and write every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", required=True, help="Address of a mirror of Debian's archive.")
    parser.add_argument("--cache", type=Path, default=Path("debian_index"), help="Folder of the downloads.")
    parser.add_argument("--out", type=Path, default=EXAMPLES)
    options = parser.parse_args()
    indexes = {release: fetch(options.mirror, release, options.cache) for release in RELEASES}
    (old, old_needs), (now, needs) = (read_release(options.cache, name) for name in RELEASES)
    nodes, edges = programs(now, needs)
    tables = {
        **named("data/programs", nodes, edges),
        **named("data/tools", *daemons(now, needs)),
        **named("data/science", *science(old, old_needs, now, needs)),
    }
    for name, table in tables.items():
        write(table, options.out / f"{name}.csv")
    outside = [(*pair, 1) for pair in sorted(needs) if pair[0] in nodes.index and pair[1] not in nodes.index]
    strangers = pd.DataFrame(outside, columns=edges.columns)
    for name, table in zip(("nodes", "edges"), messy_tables(nodes, edges, strangers), strict=True):
        write_messy(table, options.out / "messy" / f"{name}.csv")
    provenance = {"origin": "Debian package index, component main, architecture amd64", "releases": indexes}
    (options.out / "data" / "provenance.json").write_text(json.dumps(provenance, indent=2) + "\n")


def named(name: str, nodes: pd.DataFrame, edges: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return two tables with the names of their files."""
    return {f"{name}_nodes": nodes, f"{name}_edges": edges}


def programs(packages: pd.DataFrame, needs: Needs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Programs of some sections, and the libraries that several of them need; these have no section here."""
    chosen = packages[packages.section.isin(PROGRAMS)]
    libraries = shared(packages[packages.section.isin(LIBRARIES)], chosen, needs)
    nodes = pd.concat([chosen, libraries.assign(section=None)]).sort_index()
    return last(nodes.drop(columns="repository"), "section"), edges_among(nodes.index, needs)


def daemons(packages: pd.DataFrame, needs: Needs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tools with tags, and what several of them need; the label is whether one of the tags says daemon."""
    chosen = packages[packages.section.isin(TOOLS) & packages.tags.notna()]
    label = ["yes" if DAEMON in tags.split(", ") else "no" for tags in chosen.tags]
    others = shared(packages[~packages.index.isin(chosen.index)], chosen, needs)
    nodes = pd.concat([chosen.assign(daemon=label), others.assign(daemon=None)]).sort_index()
    return nodes.drop(columns="tags"), edges_among(nodes.index, needs)


def shared(packages: pd.DataFrame, users: pd.DataFrame, needs: Needs) -> pd.DataFrame:
    """Return the packages that several of the users need, but not very many."""
    count = Counter(target for source, target in needs if source in users.index)
    return packages[[FEWEST <= count[name] <= LARGEST_SHARE * len(users) for name in packages.index]]


def science(
    old: pd.DataFrame, old_needs: Needs, new: pd.DataFrame, new_needs: Needs
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Packages of the science teams in the older release, and those that the newer one added."""
    before = old[old.team.isin(TEAMS)].assign(since=RELEASES["bullseye"])
    added = new[new.team.isin(TEAMS) & ~new.index.isin(old.index)].assign(since=RELEASES["bookworm"])
    nodes = pd.concat([before, added]).replace({"team": TEAMS})
    first = edges_among(before.index, old_needs)
    second = edges_among(nodes.index, new_needs)
    second = second[second.source.isin(added.index) | second.target.isin(added.index)]
    return last(nodes.drop(columns=["repository", "priority"]), "team"), pd.concat([first, second])


def edges_among(names: Collection[str], needs: Needs) -> pd.DataFrame:
    """Return which of these packages needs which, without those that very many need."""
    names = frozenset(names)
    pairs = sorted(pair for pair in needs if names.issuperset(pair))
    users = Counter(target for _, target in pairs)
    rows = [(*pair, needs[pair]) for pair in pairs if users[pair[1]] <= LARGEST_SHARE * len(names)]
    return pd.DataFrame(rows, columns=["source", "target", "weight"])


def last(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the table with this column at the end."""
    return table[[*table.columns.drop(column), column]]


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a CSV file without columns of one value."""
    told = table.loc[:, table.nunique(dropna=False) > 1]
    text = told.convert_dtypes().to_csv(index=table.index.name is not None, lineterminator="\n")
    found = re.search(r"[\w.+-]+@[\w-]+\.\w+", text)
    if found:
        raise ValueError(f"{path} would have the address {found[0]}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
