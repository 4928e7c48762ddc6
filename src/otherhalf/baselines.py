"""The plain models that GOAL is compared with, behind the same face."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from otherhalf.complement.encoder import pretrain
from otherhalf.complement.missing_half import check_trainable
from otherhalf.data.splits import split as make_split
from otherhalf.errors import InputError
from otherhalf.estimator import NodeClassifier
from otherhalf.graph import Graph, Split
from otherhalf.growth import KnownNodes
from otherhalf.nn.inputs import Scaling, node_inputs, usable_device
from otherhalf.nn.skeleton import Shape
from otherhalf.presets import BEST
from otherhalf.settings import ENCODERS, EncoderSettings
from otherhalf.training import TrainingSettings

PLAIN = tuple(kind for kind in ENCODERS if kind != "auto")


class BaselineClassifier(NodeClassifier):
    """An MLP, GCN, GAT, or an MLP over features and adjacency rows (``structure``).

    Args:
        kind: ``mlp``, ``gcn``, ``gat`` or ``structure``.
        seed: Of everything random.
        shape: Width, depth, dropout, norm and residual; default: those of GOAL's own encoder, so that a
            comparison is fair.
        training: Step size, decay, length and patience; default: likewise.
        scaling: Of the features: ``auto``, ``none``, ``row`` or ``standard``.
        device: ``cpu`` or ``cuda``.
    """

    def __init__(
        self,
        kind: str = "gcn",
        *,
        seed: int = 0,
        shape: Shape | None = None,
        training: TrainingSettings | None = None,
        scaling: str = "auto",
        device: str = "cpu",
    ) -> None:
        self.kind = kind
        self.seed = seed
        self.shape = shape
        self.training = training
        self.scaling = scaling
        self.device = device

    def fit(self, graph: Graph, split: Split | None = None) -> BaselineClassifier:
        """Train on the labels of ``train``, stop by those of ``val``; no other label is read."""
        if self.kind not in PLAIN:
            raise InputError(f"there is no baseline {self.kind!r}: choose one of {', '.join(PLAIN)}")
        split = make_split(graph, "uniform", self.seed) if split is None else split
        check_trainable(graph, split)
        self._scaling = Scaling.fit(graph.x, self.scaling)
        inputs = node_inputs(graph, self._scaling, device=usable_device(self.device))
        own = BEST.complement.encoder
        settings = EncoderSettings(self.kind, self.shape or own.shape, self.training or own.training)
        self._encoder = pretrain(graph, split, inputs, settings, self.seed)
        self._known = KnownNodes.of(graph)
        self.history_ = self._encoder.history
        self.classes_ = graph.classes
        return self

    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """``[N, C]`` class probabilities of every node, in the order of ``classes_``."""
        check_is_fitted(self, "classes_")
        grown, order = self._known.first(graph)
        device = usable_device(self.device)
        inputs = node_inputs(grown, self._scaling, num_known=self._known.count, device=device)
        found = self._encoder.probabilities(grown, inputs)
        result = np.empty_like(found)
        result[order] = found
        return result
