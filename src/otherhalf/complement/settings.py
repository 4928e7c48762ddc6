"""Settings of the complementation: the encoder, the head and the search."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otherhalf.errors import InputError
from otherhalf.nn.backbone import Architecture
from otherhalf.nn.models.registry import MODELS, resolve_options
from otherhalf.system.fields import check, flag, integer, number, one_of, setting
from otherhalf.training.loop import TrainingSettings

AUTO = "auto"
WITHOUT_NORM = "gcn-plain"
"""A GCN without norm and residual, which is better on some graphs (citations)."""


@dataclass(frozen=True)
class EncoderSettings:
    """The pretrained encoder, Z_gnn = GNN(G) (Section 4.2).

    ``kind`` is the name of a model, ``gcn-plain`` (a GCN without norm and residual), or ``auto``: ``mlp``,
    ``gcn``, ``gcn-plain`` and ``structure`` (an MLP over features and adjacency rows) are trained, and the
    best on the validation nodes is kept. ``own_options`` are options of the model; the others have their
    defaults.
    """

    kind: str = AUTO
    architecture: Architecture = setting(factory=Architecture, name="shape")
    training: TrainingSettings = setting(factory=TrainingSettings)
    own_options: Mapping[str, Any] = setting(factory=dict, merged=True)


@dataclass(frozen=True)
class HeadSettings:
    """The MLP head, Z_gc = MLP(Z_gnn), trained by grouping and ranking loss.

    ``ranking_k`` is the K of the ranking lists; ``max_candidates`` bounds how many training nodes may be in
    them (Section 6.4). ``mean_ranking_loss`` divides the ranking loss, a sum over targets in the paper, by
    their number.
    """

    width: int = setting(64, integer(1, 100_000))
    layers: int = setting(2, integer(1, 1_000))
    dropout: float = setting(0.0, number(0, 1, below=True))
    ranking_k: int = setting(10, integer(1))
    max_candidates: int = setting(20_000, integer(1))
    mean_ranking_loss: bool = setting(True, flag())
    training: TrainingSettings = setting(factory=TrainingSettings)


@dataclass(frozen=True)
class ComplementSettings:
    """How the missing half is learned: encoder, head, and the K most or least similar nodes of every node.

    ``max_candidates`` bounds the nodes that each node is compared with; above it they are sampled, and the
    missing half is marked as sampled (Section 6.4).
    """

    encoder: EncoderSettings = setting(factory=EncoderSettings, label="the encoder's ")
    head: HeadSettings = setting(factory=HeadSettings, label="the head's ")
    k_homophily: int = setting(10, integer(1), label="k")
    k_heterophily: int = setting(10, integer(1), label="k")
    max_candidates: int = setting(200_000, integer(1))


@dataclass(frozen=True)
class KernelSettings:
    """How the missing half is found by leave-one-out.

    Attributes:
        k: Number of labelled nodes that each node is joined to.
        exact: Most training nodes for the exact regression, whose memory grows with their square and whose
            time grows with their cube. With more, it is over functions of ``landmarks`` of them.
        landmarks: Number of landmarks (Nyström).
        max_candidates: Most labelled nodes that each node is compared with; with more, a sample.
        nodes: Most training nodes that the kernels are chosen with; with more, a sample.
        steps: Steps of their learning.
    """

    k: int = setting(10, integer(1))
    exact: int = setting(12_000, integer(1))
    landmarks: int = setting(4_000, integer(1))
    max_candidates: int = setting(20_000, integer(1))
    nodes: int = setting(1_500, integer(1))
    steps: int = setting(25, integer(0))


def check_complement(settings: ComplementSettings) -> None:
    """Raise InputError if the missing half cannot be learned with these settings."""
    check(settings)
    encoder = settings.encoder
    one_of(AUTO, WITHOUT_NORM, *MODELS).check("encoder", encoder.kind)
    # One layer before the prediction layer makes the embedding.
    integer(2).check("the encoder's layers", encoder.architecture.layers)
    if encoder.kind in MODELS:
        resolve_options(encoder.kind, encoder.own_options)
    elif encoder.own_options:
        name = next(iter(encoder.own_options))
        raise InputError(f"the encoder {encoder.kind} has no option {name!r}: leave it out")
