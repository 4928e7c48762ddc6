"""The harness of the benchmarks; the figures themselves are measured by `make bench`."""

import json
import time

import pytest
from benchmarks import __main__ as program
from benchmarks import outcome
from benchmarks.marks import measures
from benchmarks.measure import Mark, Measure, Setting, alternate
from benchmarks.outcome import Outcome, fill_readme

TWICE = Mark("ours / theirs", "ours", "theirs", limit=0.5)
MEMORY = Mark("memory", "peak", limit=10, unit="GB")
SPEED = Mark("as fast", "ours", "theirs", limit=2, at_least=True)
MEASURE = Measure("toy", lambda setting: {}, (TWICE, MEMORY, SPEED))
CONDITIONS = {
    "machine": {
        "processor": "P",
        "cores": 2,
        "memory_gb": 8,
        "system": "S",
        "python": "3",
        "versions": {"numpy": "2"},
    },
    "quick": False,
    "threads": 2,
    "allocator": "kept",
}


def test_cases_take_turns_and_the_shortest_run_counts(monkeypatch):
    ran, clock = [], iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0, 30.0, 35.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    cases = {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}
    assert alternate(cases, Setting(threads=2, repeats=2)) == {"a": 2.0, "b": 1.0}
    assert ran == ["a", "b"] * 3  # one warm run each


def test_a_mark_is_a_ratio_or_a_figure():
    figures = {"ours": 1.0, "theirs": 4.0, "peak": 12.0}
    assert [mark.value(figures) for mark in MEASURE.marks] == [0.25, 12.0, 0.25]
    assert [mark.met(mark.value(figures)) for mark in MEASURE.marks] == [True, False, False]
    assert TWICE.value({"ours": 1.0}) is None
    assert TWICE.met(0.5)
    assert SPEED.met(2.0)


def test_the_table_says_which_marks_are_met():
    done = Outcome(CONDITIONS)
    done.add(MEASURE, {"figures": {"ours": 1.0, "theirs": 4.0, "peak": 12.0}}, Setting())
    assert done.markdown(["toy", "another"]).splitlines()[2:] == [
        "| mark | measured | limit | met |",
        "|---|---|---|---|",
        "| ours / theirs | 0.25 | ≤ 0.5 | yes |",
        "| memory | 12 GB | ≤ 10 GB | **no** |",
        "| as fast | 0.25 | ≥ 2 | **no** |",
    ]
    assert "2 threads" in done.words()


def test_what_is_missing_is_said():
    rows = Outcome(CONDITIONS).add(MEASURE, {"missing": "not measured: install faiss"}, Setting())
    assert rows[0] == ["ours / theirs", "–", "≤ 0.5", "not measured: install faiss"]


def test_a_file_keeps_other_measures_of_the_same_conditions(tmp_path):
    file, other = tmp_path / "marks.json", Measure("other", MEASURE.run, (MEMORY,))
    Outcome(CONDITIONS, file).add(MEASURE, {"figures": {"peak": 1.0}}, Setting())
    Outcome(CONDITIONS, file).add(other, {"figures": {"peak": 2.0}}, Setting())
    content = json.loads(file.read_text())
    assert content["machine"] == CONDITIONS["machine"]
    assert [each["figures"] for each in content["measures"].values()] == [{"peak": 1.0}, {"peak": 2.0}]
    Outcome(CONDITIONS | {"threads": 1}, file).add(other, {"figures": {"peak": 3.0}}, Setting())
    assert list(json.loads(file.read_text())["measures"]) == ["other"]


def test_the_readme_has_one_place_for_the_table(tmp_path):
    assert len(outcome.PLACE.findall(outcome.README.read_text(encoding="utf-8"))) == 1
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- marks -->\nold\n<!-- end -->\nafter\n")
    fill_readme("new \\1\n", page)
    assert page.read_text() == "before\n<!-- marks -->\nnew \\1\n<!-- end -->\nafter\n"
    page.write_text("no place")
    with pytest.raises(SystemExit, match="one place"):
        fill_readme("new\n", page)


def test_every_measure_is_declared_once_with_its_marks():
    names = [each.name for each in measures()]
    assert len(names) == len(set(names))
    assert all(each.marks for each in measures())
    titles = [mark.title for each in measures() for mark in each.marks]
    assert len(titles) == len(set(titles))


def test_measures_are_chosen_by_the_beginnings_of_their_names():
    slow = Measure("slow", MEASURE.run, (MEMORY,), quick=False)
    assert program._chosen([MEASURE, slow], "", quick=True) == [MEASURE]
    assert program._chosen([MEASURE, slow], "", quick=False) == [MEASURE, slow]
    assert program._chosen([MEASURE, slow], "sl", quick=True) == [slow]
    with pytest.raises(SystemExit, match="there is no measure 'fast': choose of toy, slow"):
        program._chosen([MEASURE, slow], "sl,fast", quick=False)


def test_a_measure_that_fails_is_said_and_the_others_go_on(monkeypatch, capsys):
    monkeypatch.setattr(program, "measures", lambda: [MEASURE])
    monkeypatch.setattr(program, "in_process", lambda *_: {"missing": "failed", "error": "why\n"})
    monkeypatch.setattr(program.os, "environ", {})
    assert program.main(["--quick"]) == 1
    shown = capsys.readouterr()
    assert "| ours / theirs | – | ≤ 0.5 | failed |" in shown.out
    assert "why" in shown.err
