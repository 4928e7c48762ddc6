import io

import pytest
from rich.console import Console

from otherhalf.experiments.runner import progress as progress_module
from otherhalf.experiments.runner.job import Job, Outcome
from otherhalf.experiments.runner.progress import Progress, progress_for
from otherhalf.experiments.runner.run import Estimates, Finished, Planned, Started, run
from otherhalf.experiments.runner.store import Store


def job(seed=0, model="gcn", data="cora", task="fit"):
    return Job(task, data, "h", model, {}, "uniform", seed)


def done(seconds=2.1, **result):
    return Outcome(result, seconds, 1.0, 1)


def estimates(**seconds):
    known = Estimates()
    for model, value in seconds.items():
        known.learn(job(model=model), value)
    return known


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


def test_a_line_for_each_finished_run(clock):
    jobs = [job(seed) for seed in range(160)]
    stream = io.StringIO()
    with progress_for(jobs, stream) as tell:
        tell(Planned(jobs[11:], jobs[:11], 2, estimates(gcn=12)))
        tell(Started(jobs[11]))
        tell(Finished(jobs[11], done(test=0.87616)))
        tell(Finished(jobs[12], done(13.0, edges=3)))
        tell(Finished(jobs[13], Outcome(None, 1.0, 0.0, 1, "crash", "Traceback\nKeyError: 'x'\n")))
    assert stream.getvalue().splitlines() == [
        "11 of 160 runs already have records",
        "[ 12/160] cora gcn seed 11: test 87.62 in 2.1 s (about 15 min left)",
        "[ 13/160] cora gcn seed 12: done in 13.0 s (about 15 min left)",
        "[ 14/160] cora gcn seed 13: failed: KeyError: 'x' (about 15 min left)",
    ]


def test_the_last_line_has_nothing_left_and_unknown_times_are_said_to_be_unknown():
    jobs = [job(0, ""), job(1, "")]
    stream = io.StringIO()
    with progress_for(jobs, stream) as tell:
        tell(Planned(jobs, [], 1, Estimates()))
        tell(Finished(jobs[0], Outcome(None, 1.0, 0.0, 1, "input", "no")))
        tell(Finished(jobs[1], done()))
    assert stream.getvalue().splitlines() == [
        "[1/2] cora seed 0: failed: no (time left unknown)",
        "[2/2] cora seed 1: done in 2.1 s",
    ]


def test_the_task_is_named_where_there_are_several():
    jobs = [job(task="fit"), job(task="half")]
    state = Progress(jobs)
    assert state.line(Finished(jobs[1], done())).startswith("[0/2] half cora gcn seed 0: done")


def test_runs_on_one_split_are_told_apart_by_the_seed_of_the_model():
    again = Job("restart", "arxiv", "h", "gcn", {"model_seed": 2}, "fixed", 0)
    assert "arxiv gcn seed 2: done" in Progress([again]).line(Finished(again, done()))


def test_the_time_left_is_shared_among_the_workers(clock):
    jobs = [*(job(seed, "gcn") for seed in range(4)), *(job(seed, "unknown") for seed in range(2))]
    state = Progress(jobs)
    assert state.seconds_left() is None
    state.take(Planned(jobs, [], 2, estimates(gcn=10.0)))
    assert state.seconds_left() == 30  # the unknown ones are taken to be as long
    state.take(Started(jobs[0]))
    clock[0] += 4
    assert state.seconds_left() == 28
    clock[0] += 100  # longer than expected: it may end at any moment, and owes the others nothing
    assert state.seconds_left() == 25
    for one in jobs[:5]:
        state.take(Finished(one, done()))
    assert state.seconds_left() == 10  # a single run has but one worker


def test_a_table_on_a_terminal_that_vanishes_in_the_end(clock):
    jobs = [job(seed, model) for seed in range(2) for model in ("gcn", "[mlp]")]
    stream = Terminal()
    with progress_for(jobs, stream) as tell:
        tell(Planned(jobs[1:], jobs[:1], 2, estimates(gcn=10.0)))
        tell(Started(jobs[1]))
        tell(Finished(jobs[1], Outcome(None, 1.0, 0.0, 1, "input", "no such thing")))
    text = stream.getvalue()
    assert "[2/4] cora [mlp] seed 0: failed: no such thing" in text
    assert "[mlp]" in text.rpartition("no such thing")[2]
    assert "2 of 4 runs" in text
    assert "\x1b[2K" in text


def rows_of(table):
    console = Console(file=io.StringIO(), width=100, markup=False)
    console.print(table)
    lines = console.file.getvalue().splitlines()
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]


def test_rows_of_the_table(clock):
    jobs = [job(seed, model) for model in ("mlp", "gcn", "gat") for seed in range(2)]
    state = Progress(jobs)
    state.take(Planned(jobs[2:], jobs[:2], 2, estimates(gcn=10.0)))
    state.take(Started(jobs[2]))
    state.take(Finished(jobs[2], done()))
    state.take(Started(jobs[3]))
    assert rows_of(state.table(10)) == [
        ["cora", "mlp", "2/2", "", "", ""],
        ["cora", "gcn", "1/2", "1", "", "10.0"],
        ["cora", "gat", "0/2", "", "", ""],
    ]
    assert [row[1] for row in rows_of(state.table(2))] == ["gcn", "gat"]
    assert [row[1] for row in rows_of(state.table(-5))] == ["gcn"]


def toy(one):
    return {"test": one.seed / 8}


def test_with_a_real_run(tmp_path, capsys):
    jobs = [job(seed) for seed in range(3)]
    store = Store(tmp_path)
    for chosen in (jobs[:1], jobs):
        with progress_for(chosen) as on_event:
            run(chosen, store, toy, workers=0, on_event=on_event)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "[1/1] cora gcn seed 0: test 0.00 in 0.0 s"
    assert lines[1] == "1 of 3 runs already have records"
    assert lines[-1] == "[3/3] cora gcn seed 2: test 25.00 in 0.0 s"
