"""Where the time of a command went, as a table."""

from otherhalf.cli.drawing import Column
from otherhalf.cli.summary import Summary
from otherhalf.system.profile import Profile

COLUMNS = (
    Column("stage"),
    Column("seconds", right=True),
    Column("share", right=True),
    Column("calls", right=True),
)


def show_profile(summary: Summary, profile: Profile) -> None:
    """Add the stages of a profile to a summary, and their sum."""
    rows = [
        [row["stage"], f"{row['seconds']:.2f}", f"{row['share']:.1%}", str(row["calls"])]
        for row in profile.rows()
    ]
    summary.table(COLUMNS, [*rows, ["together", f"{profile.total:.2f}", "100.0%", ""]])
