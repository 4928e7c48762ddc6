import io

import pytest
from rich.console import Console

from otherhalf.experiments.table import Table, best_in_bold


def printed(table, title="Title", width=200, terminal=False):
    stream = io.StringIO()
    colours = "standard" if terminal else None
    Console(file=stream, width=width, force_terminal=terminal, color_system=colours).print(table.rich(title))
    return stream.getvalue()


def small():
    table = Table(["", "cora", "actor"])
    table.add("GOAL", "**88.75 ± 0.87**\n88.75 (+0.00)", "36.46")
    table.add("GCN", "87.50 ± 1.04", "–")
    table.notes = ["In percent.", "The **best** is bold."]
    return table


def test_markdown():
    assert small().markdown() == (
        "|  | cora | actor |\n"
        "| --- | ---: | ---: |\n"
        "| GOAL | **88.75 ± 0.87**<br>88.75 (+0.00) | 36.46 |\n"
        "| GCN | 87.50 ± 1.04 | – |\n"
        "\n"
        "In percent.\n"
        "\n"
        "The **best** is bold.\n"
    )


def test_a_table_without_rows_or_notes():
    assert Table(["", "a"]).markdown() == "|  | a |\n| --- | ---: |\n"
    assert "a" in printed(Table(["", "a"]))


def test_on_a_terminal_bold_is_bold_and_has_no_stars():
    shown = printed(small(), terminal=True)
    assert "\x1b[1m88.75 ± 0.87\x1b[0m" in shown
    assert "\x1b[1m88.75 (+0.00)" not in shown
    assert "**" not in shown


def test_several_lines_and_notes_in_a_pipe():
    lines = [line.strip(" │") for line in printed(small()).splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("GOAL"))
    assert "88.75 ± 0.87" in lines[first]
    assert "88.75 (+0.00)" in lines[first + 1]
    assert "In percent." in lines
    assert "The best is bold." in lines


@pytest.mark.parametrize("odd", ["[bold]", "a[0]", "[/]", "[red]x[/red]", "ends in \\", ":smile:"])
def test_brackets_are_what_they_are(odd):
    table = Table(["", odd])
    table.add(odd, f"**{odd}**")
    table.notes = [f"Of {odd}."]
    shown = printed(table, title=f"On {odd}")
    assert shown.count(odd) == 5
    assert odd in table.markdown()


def test_a_row_must_fit():
    with pytest.raises(ValueError, match="a row of 1 cells does not fit 3 columns"):
        small().add("GAT")


def test_the_best_is_bold_and_so_are_ties():
    cells = ["88.75\n88.75 (+0.00)", "87.50", "88.75", "–"]
    assert best_in_bold(cells, [0.8875, 0.875, 0.88750000001, None]) == [
        "**88.75**\n88.75 (+0.00)",
        "87.50",
        "**88.75**",
        "–",
    ]


def test_nothing_is_bold_where_nothing_is_known():
    assert best_in_bold(["–", "–"], [None, None]) == ["–", "–"]
    assert best_in_bold([], []) == []
