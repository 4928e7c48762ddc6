"""find_missing_half: the steps of a fit up to the missing half, without the classifier."""

import time

import numpy as np

from otherhalf.complement.embedding import learn_missing_half
from otherhalf.complement.memory import check_memory, fit_bytes
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.complement.settings import ComplementSettings, check_complement
from otherhalf.data.entries import catalogue_name
from otherhalf.diagnosis.verdict import FOLLOW, diagnose, opposite
from otherhalf.estimators.presets import preset_settings
from otherhalf.graph import Graph, Split
from otherhalf.nn.inputs import Scaling
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.device import usable_device
from otherhalf.system.fields import one_of
from otherhalf.training.loop import Monitor, OnStep
from otherhalf.training.supervised import Supervision, check_trainable


def find_missing_half(
    graph: Graph,
    split: Split,
    seed: int = 0,
    *,
    follow: str = "ks",
    preset: str = "best",
    settings: ComplementSettings | None = None,
    device: str = "cpu",
    on_step: OnStep | None = None,
) -> MissingHalf:
    """Diagnose a graph and learn the half of its topology that is missing (Section 4).

    Args:
        graph: The graph.
        split: Labels of ``train`` teach, labels of ``val`` select; no other label is read.
        seed: Seed of all random numbers.
        follow: Which verdict decides the missing half: ``ks``, ``labels`` (of train and val nodes), or a
            tendency given directly, ``homophily`` or ``heterophily``.
        preset: ``best`` or ``paper``.
        settings: Settings of the complementation; default: those of the preset.
        device: ``cpu`` or ``cuda``.
        on_step: Progress callback (stage, done, total).
    """
    one_of(*FOLLOW).check("follow", follow)
    chosen = preset_settings(preset, catalogue_name(graph))
    complement = chosen.complement if settings is None else settings
    check_complement(complement)
    check_trainable(graph, split)
    check_memory(fit_bytes(graph, len(split.train), complement))
    started = time.perf_counter()
    diagnosis = diagnose(graph, nodes=np.concatenate([split.train, split.val]), seed=seed)
    diagnosed = time.perf_counter() - started
    kind = opposite(diagnosis.follow(follow))
    prepared = PreparedGraph(graph, Scaling.fit(graph.x, chosen.scaling), device=usable_device(device))
    supervision = Supervision(split, seed, monitor=Monitor(on_step=on_step))
    _, half = learn_missing_half(prepared, kind, complement, supervision)
    half.seconds.update(diagnose=diagnosed, total=time.perf_counter() - started)
    return half
