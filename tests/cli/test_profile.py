from otherhalf.cli.drawing import Paper
from otherhalf.cli.profile import show_profile
from otherhalf.cli.summary import Summary
from otherhalf.system.profile import REST, Profile


def test_stages_with_their_seconds_shares_and_calls():
    profile = Profile(10.0, {"diagnosis": 1.0, "member GOAL": 6.504}, {"diagnosis": 1, "member GOAL": 12})
    summary = Summary(Paper(width=80))
    show_profile(summary, profile)
    lines = [line.split() for line in str(summary).splitlines() if line.strip()]
    assert lines == [
        ["stage", "seconds", "share", "calls"],
        ["diagnosis", "1.00", "10.0%", "1"],
        ["member", "GOAL", "6.50", "65.0%", "12"],
        [*REST.split(), "2.50", "25.0%", "1"],
        ["together", "10.00", "100.0%"],
    ]
