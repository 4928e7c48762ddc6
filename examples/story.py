"""What the three stories have in common: their arguments, the models, and the table at the end."""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

import otherhalf as oh
from otherhalf.estimators.base import NodeClassifier
from otherhalf.experiments.runner.models import GOAL_DEFAULT, SIMPLE, make_model, title_of

DATA = Path(__file__).parent / "data"
NUMBERS = ("installed_kb", "source_kb", "binaries")
"""The columns that a model of numbers alone could take."""


def arguments(about: str) -> argparse.Namespace:
    """Return the arguments of a story: ``fast`` and ``runs``."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="Fit GOAL in seconds, with fewer members.")
    parser.add_argument("--runs", type=int, default=1, help="Number of splits; their seeds are 0, 1, ….")
    return parser.parse_args()


def fit_goal(graph: oh.Graph, split: oh.Split, seed: int, metric: str, fast: bool) -> NodeClassifier:
    """Fit GOAL as a user gets it."""
    return make_model("goal", {**GOAL_DEFAULT, "fast": fast}, seed, metric).fit(graph, split)


class Comparison:
    """Scores of models on the test nodes, and the table of them."""

    def __init__(self, metric: str) -> None:
        self.metric = metric
        self.scores: dict[str, list[float]] = defaultdict(list)

    def add(self, title: str, model: NodeClassifier, graph: oh.Graph, split: oh.Split) -> None:
        """Score a fitted model on the test nodes."""
        self.scores[title].append(model.score(graph, split.test))

    def add_simple_models(self, graph: oh.Graph, split: oh.Split, seed: int, note: str = "") -> None:
        """Fit and score what one would try without a neural network."""
        for name in SIMPLE:
            model = make_model(name, {}, seed, self.metric).fit(graph, split)
            self.add(title_of(name) + note, model, graph, split)

    def __str__(self) -> str:
        lines = []
        for title, scores in self.scores.items():
            spread = f" ± {100 * np.std(scores, ddof=1):.1f}" if len(scores) > 1 else ""
            lines.append(f"   {title:62s} {100 * np.mean(scores):5.1f}{spread}")
        return "\n".join(lines)

    def gain(self, title: str, other: str) -> float:
        """Return by how many points one model is better than another."""
        return 100 * float(np.mean(self.scores[title]) - np.mean(self.scores[other]))
