"""A summary: parts, styles on a terminal only, and commands that are not broken."""

from otherhalf.cli.drawing import Column, Paper
from otherhalf.cli.summary import BOLD, Summary

NAMES = [Column("class"), Column("nodes", right=True)]


def test_parts_have_one_empty_line_between_them():
    summary = Summary(Paper(40))
    summary.part()
    summary.say("A verdict.", BOLD)
    summary.say("")
    summary.table(NAMES, [("ant", "3")])
    summary.table(NAMES, [])
    summary.part()
    summary.part()
    summary.item("A note that is longer than the width of the paper.")
    summary.next("otherhalf fit data --label field --out a-long-name-of-a-folder")
    assert str(summary).splitlines() == [
        "A verdict.",
        "",
        "  class  nodes",
        "  ant        3",
        "",
        "- A note that is longer than the width",
        "  of the paper.",
        "",
        "Next:",
        "  otherhalf fit data --label field --out a-long-name-of-a-folder",
    ]


def test_histograms_share_bins_and_scale():
    summary = Summary(Paper(40))
    rows = [("joined", [0.0, 1.0, 4.0], "mean 0.6"), ("not", [2.0, 0.0, 0.0], "")]
    summary.histograms("cosine", ("0", "1"), rows)
    assert str(summary).splitlines() == [
        "  cosine",
        "  joined   \u2582\u2588  mean 0.6",
        "  not     \u2584",
        "          0 1",
    ]


def test_histograms_are_made_narrower():
    summary = Summary(Paper(20))
    summary.histograms("cosine of the features of two nodes", ("0.00", "1.00"), [("a", [1.0] * 50, "mean 1")])
    lines = str(summary).splitlines()
    assert lines == ["  cosine of the fea…", "  a  ███████  mean 1", "     0.00 1.00"]
    summary = Summary(Paper(40))
    summary.histograms("nothing", ("0", "1"), [("a", [0.0, 0.0], "")])
    assert str(summary).splitlines()[1] == "  a"


def test_styles_are_for_terminals():
    plain, styled = Summary(Paper(40)), Summary(Paper(40, styled=True))
    for summary in (plain, styled):
        summary.say("A verdict on \x1b[2J.", BOLD)
    assert str(plain) == "A verdict on \\x1b[2J."
    assert str(styled) == "\x1b[1mA verdict on \\x1b[2J.\x1b[0m"


def test_it_is_printed_on_standard_output(capsys):
    summary = Summary()
    summary.say("Done.")
    summary.print()
    assert capsys.readouterr().out == "Done.\n"
