"""Training in batches of nodes with sampled neighbours, and exact prediction in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from otherhalf.errors import InputError
from otherhalf.nn.backbone import Backbone
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.nn.sampling import ALL
from otherhalf.nn.subgraph import Subgraphs, blocks_of, needed_hops
from otherhalf.system.arrays import FloatArray, IntArray
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import TrainingSettings, train
from otherhalf.training.metrics import metric_named
from otherhalf.training.supervised import Supervision

WHOLE = 1 << 27
"""Numbers of a matrix of states up to which all nodes are one block of a prediction: half a gigabyte …"""

BLOCK = 1 << 16
"""… and the nodes of a block on a larger graph."""


class Shuffled(Sequence[Tensor]):
    """The nodes of an epoch in batches of about equal size, which torch's generator draws anew each time."""

    def __init__(self, nodes: Tensor, size: int) -> None:
        self._nodes = nodes
        self._count = -(-len(nodes) // size)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Tensor]:
        order = torch.randperm(len(self._nodes)) if self._count > 1 else torch.arange(len(self._nodes))
        return iter(torch.tensor_split(self._nodes[order], self._count))

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tensor]: ...
    def __getitem__(self, index: int | slice) -> Tensor | list[Tensor]:
        return list(self)[index]


def check_fanout(
    model: Backbone, operators: Sequence[str], options: Mapping[str, Any], fanout: Sequence[int]
) -> tuple[int, ...]:
    """Return the fan-out of every hop that the model reads; raise InputError if it is not for this model."""
    hops = needed_hops(model, operators, options)
    if hops and len(fanout) != hops:
        raise InputError(
            f"fanout has {len(fanout)} numbers, and this model reads {hops} hops of neighbours: give {hops}, "
            f"such as {(10,) * hops}"
        )
    return tuple(fanout) if hops else ()


def fit_sampled(
    module: Backbone,
    prepared: PreparedGraph,
    operators: Sequence[str],
    options: Mapping[str, Any],
    fanout: Sequence[int],
    batch_size: int,
    settings: TrainingSettings,
    supervision: Supervision,
    stage: str = "classifier",
) -> History:
    """Train a classifier by cross-entropy on batches of training nodes with sampled neighbours.

    Validation nodes select as in :func:`~otherhalf.training.supervised.fit_supervised`, by predictions of all
    neighbours (:func:`logits_in_blocks`), so that the choice does not depend on a draw.
    """
    chosen = check_fanout(module, operators, options, fanout)
    graph, split = prepared.graph, supervision.split
    subgraphs = Subgraphs(prepared, operators, chosen, len(module.layers))
    labels = torch.full((graph.num_nodes,), -1)  # of the training nodes alone
    labels[np.array(split.train)] = torch.from_numpy(graph.y[split.train])
    val_nodes, val_codes = np.array(split.val), np.array(graph.y[split.val])
    quality = metric_named(supervision.metric).quality_of_logits
    classes = supervision.class_weights
    weight = None if classes is None else torch.from_numpy(classes)

    def loss(nodes: Tensor) -> Tensor:
        seed = int(torch.randint(2**62, ())) if chosen else 0
        batch = subgraphs.batch(nodes.numpy(), seed)
        return F.cross_entropy(module.on_sample(*batch), labels[nodes], weight=weight)

    def score() -> tuple[float, float]:
        logits = logits_in_blocks(module, prepared, operators, options)[val_nodes]
        likelihood = -float(F.cross_entropy(logits, torch.from_numpy(val_codes), weight=weight))
        return quality(logits.numpy(), val_codes), likelihood

    batches = Shuffled(torch.from_numpy(np.array(split.train)), batch_size)
    return train(module, loss, batches, score, settings, stage=stage, monitor=supervision.monitor)


def logits_in_blocks(
    module: Backbone, prepared: PreparedGraph, operators: Sequence[str], options: Mapping[str, Any]
) -> Tensor:
    """Return the logits of every node by all its neighbours, layer by layer, in blocks of rows.

    Beside the inputs, no more than the states of two layers and of one block are in memory, and, for a model
    that predicts from all of them, those of all layers.
    """
    hops = needed_hops(module, operators, options)
    count, layers = prepared.graph.num_nodes, len(module.layers)
    whole = count * module.architecture.hidden <= WHOLE
    nodes = blocks_of(count, count if whole else BLOCK)
    around = Subgraphs(prepared, operators, (ALL,) * (hops // layers if hops else 0), 1)
    module.eval()
    with torch.no_grad():
        states: list[Tensor] = []
        last: Tensor | None = None
        if module.trunk is not None:
            last = torch.cat([module.start(around.inputs(block)) for block in nodes])
            states.append(last)
        for index in range(layers):
            last = torch.cat([_layer(module, index, last, around, block) for block in nodes])
            if index < len(module.norms):
                states.append(last)
        if module.prediction is None:
            if last is None:
                raise ValueError("a model without layers has no logits")
            return last
        return torch.cat([module.prediction(torch.cat([s[b] for s in states], dim=1)) for b in nodes])


def _layer(module: Backbone, index: int, last: Tensor | None, around: Subgraphs, block: IntArray) -> Tensor:
    """Return the states of a block after a layer, which reads the states ``last`` or the features."""
    nodes, layers = around.around(block, 0)
    h = around.inputs(nodes).features if last is None else last[torch.from_numpy(nodes)]
    return module.layer_states(index, h, *layers[0][1])[: len(block)]


def probabilities_in_blocks(
    module: Backbone, prepared: PreparedGraph, operators: Sequence[str], options: Mapping[str, Any]
) -> FloatArray:
    """Return ``[N, C]``: the softmax of :func:`logits_in_blocks`."""
    logits = logits_in_blocks(module, prepared, operators, options)
    probabilities: FloatArray = torch.softmax(logits, dim=1).numpy()
    return probabilities
