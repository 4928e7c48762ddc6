"""Progress: bars and the time left on a terminal, few lines elsewhere, none where a program reads."""

import io
import sys

import pytest
from rich import progress as rich_progress

from otherhalf.cli import progress
from otherhalf.cli.progress import BARS, share_done, time_left
from otherhalf.estimators.estimate import Estimate

ESTIMATE = Estimate(100, 300, 10**9, 120, 580)


@pytest.fixture
def clock(monkeypatch):
    """Set the time: ``clock(seconds)``."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, seconds)


@pytest.fixture
def made(monkeypatch):
    """Standard error is a terminal; the bars that are made."""
    bars = []

    class Seen(rich_progress.Progress):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            bars.append(self)

    monkeypatch.setattr(rich_progress, "Progress", Seen)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    return bars


@pytest.mark.parametrize(
    ("elapsed", "words"),
    [
        (0, "about 2 minutes left"),
        (40, "about 60 seconds left"),
        (99, "about 1 second left"),
        (100, "at worst 3 minutes left"),
        (299, "at worst 1 second left"),
        (300, "longer than estimated"),
    ],
)
def test_the_time_left(elapsed, words):
    assert time_left(ESTIMATE, elapsed) == words


def test_no_time_left_is_known_without_an_estimate():
    assert time_left(None, 5) == ""
    assert time_left(Estimate(None, None, 10**9, 120, 580), 5) == ""


def test_the_share_that_is_done_only_grows():
    shares = [share_done(ESTIMATE, second) for second in (0, 50, 100, 200, 300, 1000)]
    assert shares == pytest.approx([0, 0.375, 0.75, 0.87, 0.99, 0.99])
    assert share_done(Estimate(10, 10, 10**9, 120, 580), 10) == pytest.approx(0.99)
    assert share_done(None, 10) == 0


def test_lines_become_rarer(clock, capsys):
    with progress.progress(estimate=ESTIMATE) as on_step:
        for second in range(2000):
            clock(second)
            on_step("kernels" if second < 100 else "member-goal-0", second, 2000)
    out, err = capsys.readouterr()
    assert out == ""
    words = "learning what makes nodes similar", "training GOAL, part 1"
    assert err.splitlines() == [
        f"otherhalf: 0:30 {words[0]} (2%); about 70 seconds left",
        f"otherhalf: 1:00 {words[0]} (3%); about 40 seconds left",
        f"otherhalf: 2:00 {words[1]} (6%); at worst 3 minutes left",
        f"otherhalf: 4:00 {words[1]} (12%); at worst 60 seconds left",
        f"otherhalf: 8:00 {words[1]} (24%); longer than estimated",
        f"otherhalf: 16:00 {words[1]} (48%); longer than estimated",
        f"otherhalf: 26:00 {words[1]} (78%); longer than estimated",
    ]


def test_a_short_fit_has_no_lines(clock, capsys):
    with progress.progress() as on_step:
        clock(29)
        on_step("kernels", 1, 0)
    assert capsys.readouterr() == ("", "")


def test_programs_get_no_lines(clock, capsys):
    with progress.progress(quiet=True) as on_step:
        assert on_step is None


def test_bars_have_words_and_end_full_where_a_training_stops_early(made):
    with progress.progress() as on_step:
        (bars,) = made
        on_step("race-appnp-0", 3, 100)
        assert [(task.description, task.percentage) for task in bars.tasks] == [("trying APPNP", 3.0)]
        on_step("member-goal-0", 20, 200)
        assert [task.percentage for task in bars.tasks] == [100.0, 10.0]
        on_step("member-goal-0", 30, 200)
        for number in range(BARS):
            on_step(f"race-{number}-0", 1, 2)
        assert [task.visible for task in bars.tasks] == [False, False, *[True] * BARS]
    assert [task.percentage for task in bars.tasks] == [100.0] * (2 + BARS)


def test_the_bar_of_all_stages_follows_the_estimate(made):
    with progress.progress(estimate=ESTIMATE) as on_step:
        (bars,) = made
        whole = bars.tasks[0]
        whole.start_time = bars.get_time() - 25
        for number in range(BARS + 1):
            on_step(f"race-{number}-0", 1, 2)
        assert whole.visible
        assert whole.percentage == pytest.approx(0.75 * 25, abs=2)
        whole.start_time -= 1000
        on_step("race-1-0", 2, 2)
        assert whole.percentage == 99  # it is not over before it is over
        shown = io.StringIO()
        from rich.console import Console

        Console(file=shown, width=80).print(bars.get_renderable())
        assert "longer than estimated" in shown.getvalue()
