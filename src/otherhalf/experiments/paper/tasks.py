"""Tasks of the paper's experiments: other coefficients, the missing half, the diagnosis, linear filters."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from otherhalf.complement.missing_half import MissingHalf
from otherhalf.data.synthetic import redraw_edges
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.estimators.embedding_way import arguments, train_classifier
from otherhalf.estimators.find import find_missing_half
from otherhalf.estimators.goal import COEFFICIENT_NAMES, GOALClassifier
from otherhalf.estimators.settings import GOALSettings
from otherhalf.experiments.paper.halves import compare_topologies
from otherhalf.experiments.runner.job import Job
from otherhalf.experiments.runner.models import model_of
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.goal import GOAL
from otherhalf.spectral import NORMALIZATIONS, filter_accuracy, spectral_range
from otherhalf.system.arrays import FloatArray
from otherhalf.training.loop import TrainingSettings
from otherhalf.training.metrics import METRICS, score
from otherhalf.training.supervised import Supervision, class_probabilities

Task = Callable[[Job, Graph, Split, str], dict[str, Any]]
"""Does a job on its graph and split, on a device, and returns the result."""

Strengths = tuple[float, ...]
"""α, β, γ, δ."""

ALL_TERMS = "GOAL"
ALONE = (1.0, 5.0)
"""Strengths to try for a single term: that of an ordinary layer, and the largest allowed.

The strength of a single term only scales the layer, but step size and weight decay stay as they are. With
GOAL's strength, which may be 0.1 or 0, the layer learns too slowly to be judged. So it may with 1 if the
features of a node sum to 1; with 5 training may fail if they are large.
"""


# ---------------------------------------------------------------------- other coefficients


def variants(base: Strengths, alone: Sequence[float] = ALONE) -> dict[str, list[Strengths]]:
    """Return the coefficients to try for every row of the ablation, by its name in ``published.ABLATION``.

    A single term is tried with each of the strengths ``alone``; in the other rows every term has its strength
    in ``base``, or 0.
    """
    base = tuple(float(strength) for strength in base)
    rows: dict[str, list[Strengths]] = {}
    for index, name in enumerate(COEFFICIENT_NAMES):
        rows[f"{name} = 0"] = [tuple(0.0 if i == index else c for i, c in enumerate(base))]
    for index, name in list(enumerate(COEFFICIENT_NAMES))[1:]:  # α alone is an MLP: the paper leaves it out
        rows[f"only {name}"] = [
            tuple(strength if i == index else 0.0 for i in range(len(base))) for strength in alone
        ]
    rows[ALL_TERMS] = [base]
    return rows


def ablation(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Fit GOAL, then train the classifier again on its missing half with the coefficients of each variant.

    If a variant has several coefficients to try, the best on validation nodes count.
    """
    model = _fitted_goal(job, graph, split, device)
    wanted = variants(model.settings_.goal.coefficients, job.options["alone"])
    known = {wanted[ALL_TERMS][0]: _scores(job, graph, split, model.predict_proba(graph))}
    chosen, seconds, sign = {}, {}, METRICS[job.options["metric"]].sign
    for name, candidates in wanted.items():
        started = time.perf_counter()
        new = [strengths for strengths in candidates if strengths not in known]
        for strengths in new:  # known ones would give the same bits
            settings = replace(model.settings_.goal, coefficients=strengths, learn_coefficients=False)
            _, probabilities = train_on_half(model, graph, split, settings)
            known[strengths] = _scores(job, graph, split, probabilities)
        if new:
            seconds[name] = time.perf_counter() - started
        chosen[name] = max(candidates, key=lambda strengths: sign * known[strengths]["val"])
    return {
        "variants": {name: known[strengths] for name, strengths in chosen.items()},
        "coefficients": {
            name: dict(zip(COEFFICIENT_NAMES, strengths, strict=True)) for name, strengths in chosen.items()
        },
        "nodes": node_counts(split),
        "epochs": model.history_["classifier"].epochs,
        "stages": {**model.seconds_, **seconds},
    }


def autotune(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Fit GOAL, then train the classifier again on its missing half with learned coefficients."""
    model = _fitted_goal(job, graph, split, device)
    started = time.perf_counter()
    start = tuple(float(strength) for strength in job.options["start"])
    settings = replace(model.settings_.goal, coefficients=start, learn_coefficients=True)
    module, probabilities = train_on_half(model, graph, split, settings)
    seconds = time.perf_counter() - started
    learned = _scores(job, graph, split, probabilities)
    return {
        "fixed": _scores(job, graph, split, model.predict_proba(graph)),
        "learned": learned,
        "test": learned["test"],
        "coefficients": [dict(zip(COEFFICIENT_NAMES, c, strict=True)) for c in module.coefficients()],
        "nodes": node_counts(split),
        "epochs": model.history_["classifier"].epochs,
        "stages": {**model.seconds_, "learned": seconds},
    }


def node_counts(split: Split) -> dict[str, int]:
    """Return the number of nodes of each part."""
    return {"train": len(split.train), "val": len(split.val), "test": len(split.test)}


def _fitted_goal(job: Job, graph: Graph, split: Split, device: str) -> GOALClassifier:
    model = model_of(job, device)
    if not isinstance(model, GOALClassifier):
        raise TypeError(f"{job.task} needs GOAL, not {job.model}")
    return model.fit(graph, split)


def _scores(job: Job, graph: Graph, split: Split, probabilities: FloatArray) -> dict[str, float]:
    parts = {"val": split.val, "test": split.test}
    return {name: score(job.options["metric"], probabilities, graph.y, part) for name, part in parts.items()}


def train_on_half(
    model: GOALClassifier, graph: Graph, split: Split, settings: GOALSettings
) -> tuple[GOAL, FloatArray]:
    """Train a classifier with other settings on a fitted model's missing half.

    Everything else is as in the fit of the model, also the seed of weights and dropout. With the model's own
    settings the result is bit-equal to its ``predict_proba`` (if it does not blend).

    Returns:
        The classifier, and its ``[N, C]`` class probabilities.
    """
    prepared, _ = model.prepare(graph)
    half = model.missing_half_
    if half is None:
        raise ValueError("the model was fitted without a missing half")
    module, _ = train_classifier(prepared, half, settings, Supervision(split, model.seed, model.metric))
    return module, class_probabilities(module, *arguments(prepared, half))


# ---------------------------------------------------------------------- the missing half


def half(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Learn the missing half, and return its homophily and the spectrum of both halves."""
    model_of(job)  # raises InputError if this version resolves the settings differently
    missing = find_missing_half(graph, split, job.seed, preset=job.options["params"]["preset"], device=device)
    started = time.perf_counter()
    topology = compare_topologies(graph, missing.pairs, missing.kind, job.seed, test=split.test)
    compared = time.perf_counter()
    spectrum = spectra(graph, missing)
    seconds = {"topology": compared - started, "spectrum": time.perf_counter() - compared}
    return {
        "topology": topology,
        "spectrum": spectrum,
        "encoder": missing.encoder,
        "k": missing.k,
        "stages": {**missing.seconds, **seconds},
    }


def spectra(graph: Graph, missing: MissingHalf) -> dict[str, Any]:
    """Return the range of the spectrum of I + Â_tÂ_o under each normalisation."""
    pair = (graph.adjacency, missing.adjacency)
    homophilic, heterophilic = pair[::-1] if missing.kind == "homophily" else pair
    return {
        each: spectral_range(homophilic, heterophilic, normalization=each).to_dict()
        for each in NORMALIZATIONS
    }


# ---------------------------------------------------------------------- diagnosis and filters


def diagnosis(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Return the verdict on the entire graph; the split is not used."""
    draws, threshold = job.options["draws"], job.options["threshold"]
    verdict = diagnose(graph, seed=job.seed, draws=draws, threshold=threshold, simple=False)
    result: dict[str, Any] = {
        name: getattr(verdict, name) for name in ("ks", "ks_std", "threshold", "tendency", "edge_homophily")
    }
    for name in ("bin_edges", "connected", "random"):
        result[name] = getattr(verdict, name).tolist()
    return result


def linear_filter(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Redraw the edges at a homophily ratio and train a network of one linear filter on them.

    Edges, split and weights depend on the seed of the job, so the spread over seeds includes all three.
    """
    options = job.options
    drawn = redraw_edges(graph, options["homophily"], job.seed)
    architecture, training = Architecture(**options["shape"]), TrainingSettings(**options["training"])
    return filter_accuracy(
        drawn, split, options["filter"], job.seed, architecture=architecture, training=training
    )


# ---------------------------------------------------------------------- several runs on one split


def with_model_seed(task: Task) -> Task:
    """Return the task with the model's seed from the options of the job; the job's seed is that of the split.

    For data with a single published split, on which runs differ in weights and dropout only.
    """

    def run(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
        return task(replace(job, seed=job.model_seed), graph, split, device)

    return run
