"""The notes below a comparison of models: verdicts of the tests, members of GOAL, settings, protocol."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from otherhalf.estimators.members.boosted import BoostedTreesMember
from otherhalf.estimators.members.complemented import ComplementedMember
from otherhalf.estimators.members.propagation import PropagationMember
from otherhalf.estimators.members.spread import SpreadMember
from otherhalf.estimators.members.trees import TreesMember
from otherhalf.experiments.comparison import Comparison, Row, judge
from otherhalf.experiments.runner.models import GOAL, GOAL_EMBEDDING, title_of
from otherhalf.experiments.runner.results import all_results
from otherhalf.experiments.runner.store import Store
from otherhalf.experiments.statistics import BETTER, LEVEL, MARGIN, TIED, UNDECIDED, WORSE, Verdict, p_value
from otherhalf.training.metrics import METRICS

Rows = dict[str, Row]
"""Rows by model."""

Compared = Sequence[tuple[Comparison, Rows]]
"""Each comparison of a table, with the rows that have records."""

PLAIN = "plain"
MEMBERS = {
    ComplementedMember.name: "both halves",
    SpreadMember.name: "spread",
    PropagationMember.name: "propagation",
    TreesMember.name: "trees",
    BoostedTreesMember.name: "trees",
}
"""Words for the kinds of members, by their name in the records; any other member is a plain model."""

LEAST_WEIGHT = 0.005
"""A smaller weight would be printed as 0.00."""


def numbers_note(comparisons: Sequence[Comparison], runs: int, paper: bool) -> str:
    """Return what the numbers are: the metric, the spread, and the protocol of the splits."""
    benchmarks = [each.benchmark for each in comparisons]
    metrics = _of_most({each.data: METRICS[each.metric].title for each in benchmarks})
    splits = _of_most({each.data: each.split for each in benchmarks})
    over = f"{runs} split(s), {splits[:-1]}" if splits.endswith(",") else f"{runs} {splits} split(s)"
    note = (
        f"Test {metrics} in percent, mean ± standard deviation (ddof 1) over {over}; the best mean of each "
        "column is bold."
    )
    return note + (" Under it the paper's number and, in brackets, ours less the paper's." if paper else "")


def lookup_note(datasets: Sequence[str], directed: Sequence[str]) -> str:
    """Return what the look-up of identical nodes is, and which graphs are directed."""
    with_direction = [data for data in datasets if data in directed]
    if not with_direction:
        direction = "The graphs are undirected."
    elif len(with_direction) == len(datasets):
        direction = "The graphs are directed: the same out-neighbours are tried too."
    else:
        names = " and ".join(with_direction)
        direction = f"Directed, where the same out-neighbours are tried too: {names}; not the others."
    return (
        "Identical nodes looked up: the label of a training node with the same neighbours, features or both, "
        "whichever scores best, where there is one, else the most frequent class; below it the share of test "
        f"nodes that have one. {direction}"
    )


def untuned_note(untuned: Mapping[str, Sequence[str]], models: Sequence[str]) -> str:
    """Return which models have their defaults where; empty if every model had a search.

    GOAL is not counted: it chooses by itself.

    Args:
        untuned: The models without a search, by data set.
        models: All models.
    """
    searched = [model for model in models if model != GOAL]
    everywhere = [model for model in searched if all(model in each for each in untuned.values())]

    def titles(chosen: Sequence[str], new: Sequence[str]) -> str:
        if len(searched) > 1 and set(chosen) >= set(searched):
            return "all models" + (" but GOAL" if GOAL in models else "")
        return ", ".join(title_of(model) for model in new)

    parts = [titles(everywhere, everywhere)] if everywhere else []
    for data, without in untuned.items():
        new = [model for model in without if model not in (GOAL, *everywhere)]
        parts += [f"on {data} {titles(without, new)}"] if new else []
    return f"With defaults, because no search has been made: {'; '.join(parts)}." if parts else ""


# ---------------------------------------------------------------------- GOAL against the others


def verdict_note(compared: Compared) -> str:
    """Return where GOAL is first, and which models are above it, with the verdicts of the tests.

    The tests of a column are adjusted together. The note is empty without records of GOAL and of others.
    """
    first: list[str] = []
    above: dict[str, list[str]] = {TIED: [], UNDECIDED: [], BETTER: []}
    tested = False
    for comparison, rows in compared:
        verdicts = judge(list(rows.values()), comparison.benchmark.metric)
        tested |= any(verdict.p is not None for verdict in verdicts.values())
        data, better = comparison.benchmark.data, _above(comparison, rows)
        if verdicts and not better:
            first.append(data + _counts(verdicts))
        for words, places in above.items():
            named = [_ahead(row, verdicts[row.model]) for row in better if verdicts[row.model].words == words]
            if named:
                places.append(f"{data}: {', '.join(named)}")
    sentences = [
        f"GOAL is first on {', '.join(first)}." if first else "",
        _sentence("GOAL is tied, though its mean is lower, on", above[TIED]),
        _sentence("Its mean is lower, with too few splits to tell, on", above[UNDECIDED]),
        _sentence("GOAL is beaten on", above[BETTER]),
    ]
    if tested:
        sentences.append(
            "The tests are against GOAL: corrected resampled t-test over the same splits, p adjusted by "
            f"Holm's method for the models of a column. Better or beaten: adjusted p < {LEVEL}; tied: two "
            "one-sided tests, adjusted likewise, show a difference of less than "
            f"{100 * MARGIN:g} percentage point(s)."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def _above(comparison: Comparison, rows: Rows) -> list[Row]:
    """Return the models whose mean is better than that of GOAL."""
    quality = comparison.benchmark.quality
    return [row for row in rows.values() if row.difference and quality(row.difference.mean) < 0]


def _counts(verdicts: Mapping[str, Verdict]) -> str:
    """Return how many of the others are shown to be worse, and tied."""
    words = Counter(verdict.words for verdict in verdicts.values())
    parts = [f"better than {words[WORSE]} of {len(verdicts)}"] if words[WORSE] else []
    parts += [f"tied with {words[TIED]}"] if words[TIED] else []
    return f" ({', '.join(parts)})" if parts else ""


def _ahead(row: Row, verdict: Verdict) -> str:
    ahead = 0.0 if row.difference is None else abs(row.difference.mean)
    p = "" if verdict.p is None else f" (p {p_value(verdict.p, 2, '= ')})"
    return f"{title_of(row.model)} by {100 * ahead:.2f}{p}"


def _sentence(beginning: str, places: Sequence[str]) -> str:
    return f"{beginning} {'; '.join(places)}." if places else ""


# ---------------------------------------------------------------------- what GOAL is made of


def members_note(compared: Compared, store: Store) -> str:
    """Return the mean weight of each kind of GOAL's members on each data set; empty without records."""
    weights = _each(compared, lambda comparison: _weights_text(comparison, store))
    if not weights:
        return ""
    return (
        "GOAL is an ensemble, the others are single models; it chooses its members by itself on each split, "
        "so it has no search. Mean weight of its members (both halves: the classifier over both; spread: the "
        f"scores of the found half; {PLAIN}: models over the given edges): {'; '.join(weights)}."
    )


def _weights_text(comparison: Comparison, store: Store) -> str:
    results = all_results(store, comparison.jobs_by_model.get(GOAL, [])) or []
    weights: Counter[str] = Counter()
    for result in results:
        for row in result.get("leaderboard", ()):
            weights[MEMBERS.get(row["member"], PLAIN)] += row["weight"] / len(results)
    parts = [f"{kind} {weight:.2f}" for kind, weight in weights.most_common() if weight >= LEAST_WEIGHT]
    return f"{comparison.benchmark.data} {', '.join(parts)}" if parts else ""


def encoder_note(compared: Compared, store: Store) -> str:
    """Return the encoder of GOAL's embedding and its share on each data set; empty without records."""
    encoders = _each(compared, lambda comparison: _encoder_text(comparison, store))
    if not encoders:
        return ""
    return (
        f"{title_of(GOAL_EMBEDDING)} finds the half in the paper's way. Its encoder, and the encoder's mean "
        "share in the blended probabilities (at 1 the encoder answers alone, at 0 the convolution over both "
        "halves; validation decides, unless the settings found leave the encoder out of it): "
        f"{'; '.join(encoders)}."
    )


def _encoder_text(comparison: Comparison, store: Store) -> str:
    jobs = comparison.jobs_by_model.get(GOAL_EMBEDDING, [])
    results = all_results(store, jobs)
    if results is None:
        return ""
    kinds = ", ".join(kind for kind, _ in Counter(result["encoder"] for result in results).most_common())
    blended = any(job.options["settings"]["goal"]["blend"] for job in jobs)
    share = sum(result["encoder_share"] for result in results) / len(results)
    return f"{comparison.benchmark.data} {kinds} {f'{share:.2f}' if blended else 'left out'}"


def _each(compared: Compared, text: Callable[[Comparison], str]) -> list[str]:
    return [found for comparison, _ in compared if (found := text(comparison))]


def _of_most(words: Mapping[str, str]) -> str:
    """Return the word of most data sets, and the other words with their data sets."""
    datasets: dict[str, list[str]] = {}
    for data, word in words.items():
        datasets.setdefault(word, []).append(data)
    usual, *others = sorted(datasets, key=lambda word: -len(datasets[word]))
    if not others:
        return usual
    return ", for ".join([usual, *(f"{' and '.join(datasets[word])} {word}" for word in others)]) + ","
