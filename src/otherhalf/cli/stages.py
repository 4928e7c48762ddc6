"""The stages of a fit in plain words, for progress bars."""

import re

WORDS = {
    "kernels": "learning what makes nodes similar",
    "spread": "spreading labels over similar nodes",
    "search": "searching the missing half",
    "head": "learning the embedding of the missing half",
    "classifier": "training the classifier on both halves",
    "boosted-trees": "boosting trees",
    "simple": "fitting simple models to compare with",
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

    Parts of one member count from 1. Models have the names of the leaderboard, encoders those of the option.
    """
    if stage in WORDS:
        return WORDS[stage]
    for pattern, words in PATTERNS:
        if found := re.fullmatch(pattern, stage):
            first, *rest = found.groups()
            if pattern.startswith("member ("):
                return words.format(first, in_words(rest[0]))
            name = first if stage.startswith("encoder-") else _model(first)
            return words.format(name, *(int(number) + 1 for number in rest))
    return stage


def _model(stage: str) -> str:
    """Return the name of a model in the leaderboard from its name among the stages."""
    from otherhalf.estimators.members.complemented import ComplementedMember
    from otherhalf.estimators.members.plain import CANDIDATES, stage_name

    names = (ComplementedMember.name, *(each.name for each in CANDIDATES))
    return next((name for name in names if stage_name(name) == stage), stage.replace("-", " "))
