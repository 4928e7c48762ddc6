"""The pretrained encoder: Z_gnn = GNN(G), trained by cross-entropy (Section 4.2)."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from otherhalf.complement.settings import AUTO, WITHOUT_NORM, EncoderSettings
from otherhalf.nn.backbone import Backbone
from otherhalf.nn.models.registry import build, model_spec, resolve_options
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import FloatArray
from otherhalf.system.profile import stage
from otherhalf.system.threads import worthwhile_threads
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import seeded
from otherhalf.training.supervised import Supervision, class_probabilities, supervised_training

AUTO_KINDS = ("mlp", "gcn", WITHOUT_NORM, "structure")
"""Encoders that ``auto`` trains.

Not GAT: its training takes much longer than that of a GCN, and of Cora and Citeseer it was better on one and
worse on the other.
"""


RUNGS = ((20, 0.05), (40, 0.03), (80, 0.015), (160, 0.01))
"""The race of ``auto``: numbers of epochs, and how far behind the best a kind may then be to go on, if it
were to gain as much as in the second half of them. In 23 races on eleven graphs no winner fell out."""


@dataclass(frozen=True)
class Encoder:
    """A trained encoder: the name of its model, the module, and the history of its training."""

    kind: str
    module: Backbone
    history: History

    def embed(self, prepared: PreparedGraph) -> Tensor:
        """Return Z_gnn: the hidden state of every node before the prediction layer."""
        self.module.eval()
        with torch.no_grad():
            return self.module.embed(*self._arguments(prepared)).cpu()

    def probabilities(self, prepared: PreparedGraph) -> FloatArray:
        """Return the ``[N, C]`` class probabilities of every node."""
        return class_probabilities(self.module, *self._arguments(prepared))

    def _arguments(self, prepared: PreparedGraph) -> tuple[Any, ...]:
        self.module.to(prepared.device)
        return prepared.arguments(model_spec(self.kind).operators)


def pretrain(prepared: PreparedGraph, settings: EncoderSettings, supervision: Supervision) -> Encoder:
    """Train the encoder on the training nodes; with ``auto``, several kinds, and keep the best on validation.

    Kinds that fall behind (:data:`RUNGS`) are not trained to the end. The one that is kept is as if it had
    been trained alone.
    """
    kinds = AUTO_KINDS if settings.kind == AUTO else (settings.kind,)
    left = [_Started(prepared, replace(settings, kind=kind), supervision) for kind in kinds]
    for epochs, behind in RUNGS if len(left) > 1 else ():
        for each in left:
            each.run(epochs)
        least = max(each.best_within(epochs) for each in left) - behind
        left = [each for each in left if each.hoped_for_after(epochs) >= least]
    for each in left:
        each.run()
    return max((each.encoder for each in left), key=lambda encoder: encoder.history.best_score)


class _Started:
    """The training of one kind of encoder, which pauses and goes on with its own random numbers."""

    def __init__(self, prepared: PreparedGraph, settings: EncoderSettings, supervision: Supervision) -> None:
        self.name, kind, architecture = settings.kind, settings.kind, settings.architecture
        if kind == WITHOUT_NORM:
            kind, architecture = "gcn", replace(architecture, norm="none", residual=False)
        graph, options = prepared.graph, resolve_options(kind, settings.own_options)
        self._nodes = graph.num_nodes
        threads = worthwhile_threads(self._nodes)
        with stage(f"encoder {self.name}"), threads, seeded(supervision.seed):
            module = build(kind, *graph.sizes, architecture, options).to(prepared.device)
            self._training = supervised_training(
                module,
                prepared.arguments(model_spec(kind).operators),
                graph,
                settings.training,
                supervision,
                f"encoder-{self.name}",
            )
            self._random = torch.get_rng_state()
        self.encoder = Encoder(kind, module, self._training.history)

    def run(self, until: int | None = None) -> None:
        """Train until so many epochs are done, or to the end."""
        threads = worthwhile_threads(self._nodes)
        with stage(f"encoder {self.name}"), threads, torch.random.fork_rng():
            torch.set_rng_state(self._random)
            self._training.run(until)
            self._random = torch.get_rng_state()

    def best_within(self, epochs: int) -> float:
        """Return the best metric of the first epochs; a training that goes on from a file may have more."""
        return max(score[0] for score in self.encoder.history.scores[:epochs])

    def hoped_for_after(self, epochs: int) -> float:
        """Return the best metric plus what the second half of these epochs gained: slow ones may catch up."""
        best = self.best_within(epochs)
        return best + best - self.best_within(epochs // 2)
