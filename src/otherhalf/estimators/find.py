"""find_missing_half: the steps of a fit up to the missing half, without the classifier."""

import time

import numpy as np

from otherhalf.complement.embedding import learn_missing_half
from otherhalf.complement.kernel_half import learn_kernel_half
from otherhalf.complement.memory import embedding_stages, kernel_stages
from otherhalf.complement.missing_half import METHODS, MissingHalf
from otherhalf.complement.settings import ComplementSettings, KernelSettings, check_complement
from otherhalf.data.entries import catalogue_name
from otherhalf.diagnosis.verdict import FOLLOW, diagnose
from otherhalf.errors import InputError
from otherhalf.estimators.feature_range import check_range
from otherhalf.estimators.presets import default_follow, preset_settings
from otherhalf.graph import Graph, Split
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.memory import Sizes
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.device import usable_device
from otherhalf.system.fields import check, one_of
from otherhalf.system.need import Need
from otherhalf.training.loop import Monitor, OnStep
from otherhalf.training.supervised import Supervision, check_trainable


def find_missing_half(
    graph: Graph,
    split: Split,
    seed: int = 0,
    *,
    method: str | None = None,
    follow: str | None = None,
    preset: str = "best",
    settings: ComplementSettings | KernelSettings | None = None,
    device: str = "cpu",
    on_step: OnStep | None = None,
) -> MissingHalf:
    """Diagnose a graph and find the half of its topology that is missing.

    Args:
        graph: The graph.
        split: Labels of ``train`` teach, labels of ``val`` select; no other label is read.
        seed: Seed of all random numbers.
        method: ``kernel``: every node is joined to labelled nodes, by similarities that leave-one-out chose;
            ``embedding``: the paper's way (Section 4). Default: the preset's, which is ``kernel`` in ``best``
            and ``embedding`` in ``paper``.
        follow: Which verdict decides the missing half: ``ks``, ``labels`` (of train and val nodes), or a
            tendency given directly, ``homophily`` or ``heterophily``. Default: ``labels``, but ``ks`` with
            the method ``embedding``.
        preset: ``best`` or ``paper``.
        settings: Settings of the method; default: those of the preset.
        device: ``cpu`` or ``cuda``.
        on_step: Progress callback (stage, done, total).
    """
    chosen = preset_settings(preset, catalogue_name(graph))
    method = _method(chosen.method, method, settings)
    follow = default_follow(method) if follow is None else follow
    one_of(*FOLLOW).check("follow", follow)
    kernel = settings if isinstance(settings, KernelSettings) else chosen.kernel
    complement = settings if isinstance(settings, ComplementSettings) else chosen.complement
    check(kernel)
    check_complement(complement)
    scaling = Scaling.of(graph, chosen.scaling)
    check_range(graph, scaling)
    check_trainable(graph, split)
    usable = usable_device(device)
    sizes = Sizes.of(graph, len(split.train))
    stages = kernel_stages(sizes, kernel) if method == "kernel" else embedding_stages(sizes, complement)
    Need(tuple(stages)).check()
    started = time.perf_counter()
    diagnosis = diagnose(graph, nodes=np.concatenate([split.train, split.val]), seed=seed, simple=False)
    diagnosed = time.perf_counter() - started
    kind = diagnosis.missing_kind(follow)
    supervision = Supervision(split, seed, monitor=Monitor(on_step=on_step))
    if method == "kernel":
        half = learn_kernel_half(graph, scaling, kind, kernel, supervision)[1].half
    else:
        # The embedding joins nodes of one kind; where the labels show none, the K-S verdict decides.
        kind = diagnosis.missing if kind == "both" else kind
        prepared = PreparedGraph(graph, scaling, device=usable)
        half = learn_missing_half(prepared, kind, complement, supervision)[1]
    half.seconds.update(diagnose=diagnosed, total=time.perf_counter() - started)
    return half


def _method(of_preset: str, given: str | None, settings: ComplementSettings | KernelSettings | None) -> str:
    """Return the method: the one given, else that of the settings, else the preset's."""
    if given is not None:
        one_of(*METHODS).check("method", given)
    owner = {ComplementSettings: "embedding", KernelSettings: "kernel"}
    if settings is None:
        return of_preset if given is None else given
    if type(settings) not in owner:
        raise InputError(
            f"settings must be KernelSettings or ComplementSettings, not {type(settings).__name__}"
        )
    if given not in (None, owner[type(settings)]):
        raise InputError(f"{type(settings).__name__} are not settings of the method {given}: leave one out")
    return owner[type(settings)]
