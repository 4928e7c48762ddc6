"""The script that makes the tables of the examples, on an index small enough to check by hand."""

import hashlib
import json
import lzma
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parent.parent

RELEASE = "Version: 12.15\nDate: Sat, 11 Jul 2026 10:16:37 UTC\n"
SOURCE = """Package: {name}
Binary: {binaries}
Version: {version}
Maintainer: {maintainer}
Architecture: any
Standards-Version: 4.6.1
Homepage: https://www.{name}.org/start
Vcs-Browser: https://salsa.debian.org/x/{name}
Files:
 0123 1500 {name}.dsc
 4567 2000 {name}.orig.tar.gz
"""
BINARY = """Package: {name}
Source: {source}
Installed-Size: {size}
Section: {section}
Priority: optional
Depends: {depends}
Tag: {tags}
Description: what {name} is for
"""

TEAM = "Debian Games Team <team+games@tracker.debian.org>"
PERSON = "Jane Doe <jane@example.org>"
ORPHANED = "Debian QA Group <packages@qa.debian.org>"


def write_index(folder: Path, sources: list[dict[str, str]], binaries: list[dict[str, str]]) -> None:
    """Write the index of both releases, the same for both."""
    for release in ("bullseye", "bookworm"):
        (folder / f"{release}.Release").write_text(RELEASE)
        for name, form, rows in (("Sources", SOURCE, sources), ("Packages", BINARY, binaries)):
            text = "\n".join(form.format(**row) for row in rows)
            (folder / f"{release}.{name}.xz").write_bytes(lzma.compress(text.encode()))


@pytest.fixture
def index(tmp_path):
    """The index of four programs and of a library that three of them need, in a folder."""
    versions = {"one": "1.0-1", "two": "0~git20210407-2", "three": "20199999", "four": "2"}
    maintainers = {"one": TEAM, "two": PERSON, "three": ORPHANED, "four": PERSON}
    needs = {
        "one": "two (>= 1), lib1 | other",
        "two": "lib1:any",
        "three": "absent,lib1, lib-dev",
        "four": "",
    }
    sources = [
        {"name": name, "binaries": name, "version": version, "maintainer": maintainers[name]}
        for name, version in versions.items()
    ]
    sources.append({"name": "lib", "binaries": "lib1, lib-dev", "version": "5", "maintainer": TEAM})
    program = {"size": "12", "section": "mail", "tags": "b::x, a::y"}
    library = {"source": "lib (5)", "size": "7", "depends": "lib1", "tags": ""}
    binaries = [{"name": name, "source": name, "depends": needs[name], **program} for name in versions]
    binaries.append({"name": "lib-dev", "section": "libdevel", **library})
    binaries.append({"name": "lib1", "section": "libs", **library})
    write_index(tmp_path, sources, binaries)
    return tmp_path


@pytest.fixture
def script(monkeypatch):
    """Return a module of the folder of scripts by its name."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return import_module


def test_a_row_has_what_the_index_says(index, script):
    packages, _ = script("debian_index").read_release(index, "bookworm")
    assert packages.index.tolist() == ["four", "lib", "one", "three", "two"]
    assert packages["team"].fillna("").tolist() == ["", "games", "games", "nobody", ""]
    assert packages["snapshot"].dropna().to_dict() == {"two": "2021-04-07"}
    assert packages["binaries"].tolist() == [1, 2, 1, 1, 1]
    one = packages.loc["one"]
    assert (one.description, one.home, one.repository) == ("what one is for", "one.org", "salsa.debian.org")
    assert (one.source_kb, one.installed_kb, one.tags) == (3.5, 12, "a::y, b::x")
    assert packages.loc["lib", "section"] == "libs"  # of the binary that its source names first
    assert pd.isna(packages.loc["lib", "tags"])


def test_what_a_package_needs_to_run(index, script):
    _, needs = script("debian_index").read_release(index, "bookworm")
    assert needs == {("one", "two"): 1, ("one", "lib"): 1, ("two", "lib"): 1, ("three", "lib"): 2}


def test_libraries_that_several_programs_need_join_them(index, script):
    packages, _ = script("debian_index").read_release(index, "bookworm")
    make = script("make_examples")
    many = [f"p{i}" for i in range(40)]
    programs = pd.concat([packages.loc[["one"]].set_axis([name]) for name in many])
    table = pd.concat([programs, packages.loc[["lib", "two"]]]).rename_axis("package")
    pairs = {(name, "lib"): 1 for name in many[:3]} | {(name, "two"): 1 for name in many[:5]}
    nodes, edges = make.programs(table, pairs | {("p0", "p1"): 2})
    assert "lib" in nodes.index  # 3 programs need it, at least 3 and at most 4.1
    assert pd.isna(nodes.loc["lib", "section"])
    assert edges.values.tolist() == [["p0", "lib", 1], ["p0", "p1", 2], ["p1", "lib", 1], ["p2", "lib", 1]]


def test_only_tags_of_packages_make_the_label(index, script):
    packages, needs = script("debian_index").read_release(index, "bookworm")
    packages["section"] = "utils"
    packages.loc["two", "tags"] = "interface::daemon, role::program"
    nodes, _ = script("make_examples").daemons(packages, needs)
    assert nodes["daemon"].to_dict() == {"four": "no", "one": "no", "three": "no", "two": "yes"}
    assert "tags" not in nodes


def test_the_newer_release_adds_packages_and_their_edges(script, monkeypatch):
    old = pd.DataFrame({"team": ["debian-hams", "debichem-devel", "others"]}, index=["a", "b", "c"])
    new = pd.DataFrame({"team": ["debian-hams"] * 5}, index=["a", "b", "c", "d", "e"])
    cells = {"repository": "", "priority": ""}
    make = script("make_examples")
    monkeypatch.setattr(make, "LARGEST_SHARE", 1)  # in a graph so small, every package is needed by many
    needs = {("b", "a"): 1, ("d", "a"): 2, ("d", "c"): 1}
    nodes, edges = make.science(old.assign(**cells), {("a", "b"): 1}, new.assign(**cells), needs)
    teams = {"a": "amateur radio", "b": "chemistry", "d": "amateur radio", "e": "amateur radio"}
    assert nodes["team"].to_dict() == teams
    assert nodes["since"].tolist() == [11, 11, 12, 12]
    assert edges.values.tolist() == [["a", "b", 1], ["d", "a", 2]]


def test_the_script_writes_every_table_and_no_address(index):
    words = ["--cache", index, "--out", index / "out", "--mirror", "http://nowhere.invalid"]
    command = [sys.executable, ROOT / "scripts" / "make_examples.py", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tables = {str(path.relative_to(index / "out")) for path in (index / "out").rglob("*.csv")}
    shipped = {str(path.relative_to(ROOT / "examples")) for path in (ROOT / "examples").rglob("*.csv")}
    assert tables == shipped
    assert not [name for name in tables if "@" in (index / "out" / name).read_text(encoding="utf-8")]
    about = json.loads((index / "out" / "data" / "provenance.json").read_text())["releases"]["bookworm"]
    assert (about["version"], about["date"]) == ("12.15", "Sat, 11 Jul 2026 10:16:37 UTC")
    packed = (index / "bookworm.Sources.xz").read_bytes()
    assert about["sha256"]["main/source/Sources.xz"] == hashlib.sha256(packed).hexdigest()


def test_an_address_in_a_description_is_refused(script, tmp_path):
    table = pd.DataFrame({"description": ["mail to jane@example.org", "other"]})
    with pytest.raises(ValueError, match=r"jane@example\.org"):
        script("make_examples").write(table, tmp_path / "table.csv")
