"""The stages of a fit in plain words, for progress bars."""

import re

WORDS = {
    "kernels": "learning what makes nodes similar",
    "spread": "spreading labels over similar nodes",
    "search": "searching the missing half",
    "head": "learning the embedding of the missing half",
    "classifier": "training the classifier on both halves",
    "boosted-trees": "boosting trees",
}
"""Stages that have one name."""

PATTERNS = (
    (r"encoder-(.+)", "training the encoder {0}"),
    (r"race-(.+)-\d+", "trying {0}"),
    (r"member-(.+)-(\d+)", "training {0}, part {1}"),
    (r"again-(.+)-(\d+)", "training {0} once more, part {1}"),
    (r"member (\d+) (.+)", "model {0}: {1}"),
)
"""Stages that are named after a model: a pattern, and its words."""


def in_words(stage: str) -> str:
    """Return a stage in plain words; one that is not known keeps its name.

    Parts of one member count from 1. Models keep the names that the command line has for them.
    """
    if stage in WORDS:
        return WORDS[stage]
    for pattern, words in PATTERNS:
        if found := re.fullmatch(pattern, stage):
            first, *rest = found.groups()
            if pattern.startswith("member ("):
                return words.format(first, in_words(rest[0]))
            return words.format(first.replace("-", " "), *(int(number) + 1 for number in rest))
    return stage
