"""Names of the two ends of an edge."""

import pytest

from otherhalf.data.roles.end_names import KNOWN_PAIRS, NEVER_AN_END, ROW_NUMBERS, known_pairs, plain


def test_small_letters_without_signs():
    assert plain(":Source ID_") == "sourceid"


def test_no_name_is_an_end_and_something_else():
    ends = {name for pair in KNOWN_PAIRS for name in pair}
    assert not ends & (NEVER_AN_END | ROW_NUMBERS)
    assert all(plain(name) == name for name in ends | NEVER_AN_END | ROW_NUMBERS)


@pytest.mark.parametrize(
    ("columns", "pairs"),
    [
        (["weight", "dst", "src"], [("src", "dst")]),
        (["to", "from", "target", "source"], [("source", "target"), ("from", "to")]),
        (["toUser", "fromUser"], [("fromUser", "toUser")]),
        (["node_0", "node_1", "node_2"], [("node_1", "node_2"), ("node_0", "node_1")]),
        (
            ["source_page", "dest_page", "target_page"],
            [("source_page", "target_page"), ("source_page", "dest_page")],
        ),
        (["from_node", "to_edge"], []),
        (["1", "2"], []),
        (["a", "b"], []),
        ([], []),
    ],
)
def test_pairs(columns, pairs):
    assert known_pairs(columns) == pairs
