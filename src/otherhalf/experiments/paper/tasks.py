"""Runs beside plain fits: other coefficients on one half, the half itself, the diagnosis, linear filters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from otherhalf.complement.encoder import class_probabilities, fit_supervised
from otherhalf.complement.missing_half import MissingHalf, find_missing_half
from otherhalf.data.synthetic import redraw_edges
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.estimators.goal import COEFFICIENT_NAMES, GOALClassifier, both_halves
from otherhalf.estimators.settings import GOALSettings
from otherhalf.experiments.models import model_of
from otherhalf.experiments.paper.topologies import compare_topologies
from otherhalf.experiments.runner.job import Job
from otherhalf.graph import Graph, Split
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.goal import GOAL, build_goal
from otherhalf.nn.inputs import node_inputs, usable_device
from otherhalf.spectral import NORMALIZATIONS, filter_accuracy, spectral_range
from otherhalf.system.graph_checks import FloatArray
from otherhalf.training.loop import TrainingSettings, seeded
from otherhalf.training.metrics import score

Task = Callable[[Job, Graph, Split, str], dict[str, Any]]
"""Does a job on its graph and split, on a device."""

Strengths = tuple[float, ...]
"""α, β, γ, δ."""

WHOLE = "GOAL"
ALONE = (1.0, 5.0)
"""The strengths that a term standing alone is tried with: that of a plain layer, and the largest there is.

Alone it is a mere scale of the layer, but step size and weight decay stay as they are. With GOAL's own
strength, which may be 0.1 or 0, the layer learns too slowly to be judged, and so it may with 1 where the
features of a node sum to 1; with 5 training may fail where they are large.
"""


# ---------------------------------------------------------------------- other coefficients on one half


def variants(base: Strengths, alone: Sequence[float] = ALONE) -> dict[str, list[Strengths]]:
    """The coefficients to try for every row of the ablation, by the row's name in ``published.ABLATION``.

    A term that stands alone has each of the strengths ``alone`` in turn; otherwise every term has that of
    ``base``, or 0.
    """
    base = tuple(float(strength) for strength in base)
    found: dict[str, list[Strengths]] = {}
    for index, name in enumerate(COEFFICIENT_NAMES):
        found[f"{name} = 0"] = [tuple(0.0 if i == index else c for i, c in enumerate(base))]
    for index, name in list(enumerate(COEFFICIENT_NAMES))[1:]:  # α alone is an MLP: the paper leaves it out
        found[f"only {name}"] = [
            tuple(strength if i == index else 0.0 for i in range(len(base))) for strength in alone
        ]
    found[WHOLE] = [base]
    return found


def ablation(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Fit GOAL, then on the half it found train the classifier anew with each variant's coefficients.

    Of several coefficients for one variant, those that are best on validation count.
    """
    model = _fitted_goal(job, graph, split, device)
    wanted = variants(model.settings_.goal.coefficients, job.options["alone"])
    known = {wanted[WHOLE][0]: _scores(job, graph, split, model.predict_proba(graph))}
    chosen, seconds = {}, {}
    for name, candidates in wanted.items():
        started = time.perf_counter()
        new = [strengths for strengths in candidates if strengths not in known]
        for strengths in new:  # those that are known would give the same bits
            settings = replace(model.settings_.goal, coefficients=strengths, learn_coefficients=False)
            _, probabilities = train_on_half(model, graph, split, settings)
            known[strengths] = _scores(job, graph, split, probabilities)
        if new:
            seconds[name] = time.perf_counter() - started
        chosen[name] = max(candidates, key=lambda strengths: known[strengths]["val"])
    return {
        "variants": {name: known[strengths] for name, strengths in chosen.items()},
        "coefficients": {
            name: dict(zip(COEFFICIENT_NAMES, strengths, strict=True)) for name, strengths in chosen.items()
        },
        "nodes": {"train": len(split.train), "val": len(split.val), "test": len(split.test)},
        "epochs": model.history_["classifier"].epochs,
        "stages": {**model.seconds_, **seconds},
    }


def autotune(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Fit GOAL, then on the half it found train the classifier anew with coefficients that are learned."""
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
        "nodes": {"train": len(split.train), "val": len(split.val), "test": len(split.test)},
        "epochs": model.history_["classifier"].epochs,
        "stages": {**model.seconds_, "learned": seconds},
    }


def _fitted_goal(job: Job, graph: Graph, split: Split, device: str) -> GOALClassifier:
    model = model_of(job, device)
    if not isinstance(model, GOALClassifier):
        raise TypeError(f"{job.task} is of GOAL")
    return model.fit(graph, split)


def _scores(job: Job, graph: Graph, split: Split, probabilities: FloatArray) -> dict[str, float]:
    parts = {"val": split.val, "test": split.test}
    metric = job.options["metric"]
    return {name: score(metric, probabilities[part], graph.y[part]) for name, part in parts.items()}


def train_on_half(
    model: GOALClassifier, graph: Graph, split: Split, settings: GOALSettings
) -> tuple[GOAL, FloatArray]:
    """A classifier with other settings, trained on a fitted model's half, and what it says: ``[N, C]``.

    All else is as in the model's own fit, the seed of weights and dropout too; with the model's own settings
    the result is bit-equal to its ``predict_proba`` (if it does not blend).
    """
    device = usable_device(model.device)
    inputs = node_inputs(graph, model._scaling, device=device)
    halves = both_halves(graph, model.missing_half_, device)
    with seeded(model.seed):
        module = build_goal(graph.num_features, graph.num_classes, graph.num_nodes, settings).to(device)
        fit_supervised(module, (inputs, *halves), graph, split, settings.training, metric=model.metric)
    return module, class_probabilities(module, inputs, *halves)


# ---------------------------------------------------------------------- the half itself


def half(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Find the missing half; how homophilous it is, and the spectrum of both halves together."""
    model_of(job)  # refuses a job whose settings this version resolves differently
    found = find_missing_half(graph, split, job.seed, preset=job.options["params"]["preset"], device=device)
    started = time.perf_counter()
    topology = compare_topologies(graph, found.pairs, found.kind, job.seed, test=split.test)
    compared = time.perf_counter()
    spectrum = spectra(graph, found)
    seconds = {"topology": compared - started, "spectrum": time.perf_counter() - compared}
    return {
        "topology": topology,
        "spectrum": spectrum,
        "encoder": found.encoder,
        "k": found.k,
        "stages": {**found.seconds, **seconds},
    }


def spectra(graph: Graph, missing: MissingHalf) -> dict[str, Any]:
    """The range of the spectrum of I + Â_tÂ_o under each normalisation."""
    pair = (graph.adjacency, missing.adjacency)
    homophilic, heterophilic = pair[::-1] if missing.kind == "homophily" else pair
    return {
        each: spectral_range(homophilic, heterophilic, normalization=each).to_dict()
        for each in NORMALIZATIONS
    }


# ---------------------------------------------------------------------- diagnosis and filters


def diagnosis(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """The verdict on the whole graph; the split plays no part."""
    found = diagnose(graph, seed=job.seed, draws=job.options["draws"], threshold=job.options["threshold"])
    result: dict[str, Any] = {
        name: getattr(found, name) for name in ("ks", "ks_std", "threshold", "tendency", "edge_homophily")
    }
    for name in ("bin_edges", "connected", "random"):
        result[name] = getattr(found, name).tolist()
    return result


def linear_filter(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
    """Redraw the edges at a homophily ratio and train a network of one linear filter on them.

    Edges, split and weights are all of the job's seed, so that the spread over seeds is that of all three.
    """
    options = job.options
    drawn = redraw_edges(graph, options["homophily"], job.seed)
    shape, training = Architecture(**options["shape"]), TrainingSettings(**options["training"])
    return filter_accuracy(drawn, split, options["filter"], job.seed, shape=shape, training=training)


# ---------------------------------------------------------------------- one split, several starts


def with_model_seed(task: Task) -> Task:
    """The task with the model's seed taken from the job's options: the job's own names the split.

    For data with a single published split, on which runs differ in weights and dropout alone.
    """

    def run(job: Job, graph: Graph, split: Split, device: str = "cpu") -> dict[str, Any]:
        return task(replace(job, seed=job.model_seed), graph, split, device)

    return run
