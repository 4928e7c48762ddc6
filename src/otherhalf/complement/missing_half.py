"""Topology complementation: learn an embedding, then join every node to its K nearest or farthest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from otherhalf.complement.encoder import Encoder, pretrain
from otherhalf.complement.head import Head, train_head
from otherhalf.complement.memory import require_memory_for_fit
from otherhalf.complement.search import dot_products, top_k
from otherhalf.diagnosis.verdict import diagnose
from otherhalf.errors import InputError
from otherhalf.estimators.presets import preset_settings
from otherhalf.estimators.settings import ComplementSettings
from otherhalf.graph import Graph, Split, symmetric_adjacency
from otherhalf.nn.backbone import NodeInputs
from otherhalf.nn.inputs import Scaling, node_inputs, usable_device
from otherhalf.system.atomic import atomic_write, check_place
from otherhalf.system.graph_checks import UNKNOWN, IntArray
from otherhalf.training.loop import Checkpoint, History

OnStep = Callable[[str, int, int], Any]
"""Told (stage, steps done, steps at most)."""


@dataclass(frozen=True, eq=False)
class MissingHalf:
    """The half of a graph's topology that was missing, and how it was found.

    Attributes:
        pairs: ``[2, P]`` as found: row 0 the node that searched, row 1 the node it was joined to.
        num_nodes: N.
        kind: ``homophily`` (joined to the most similar) or ``heterophily`` (to the least similar).
        k: How many each node was joined to.
        candidates: How many nodes each node was compared with; fewer than N means that they were sampled.
        encoder: Which kind of encoder made the embedding.
        seconds: How long each stage took.
    """

    pairs: IntArray
    num_nodes: int
    kind: str
    k: int
    candidates: int
    encoder: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @cached_property
    def adjacency(self) -> sp.csr_matrix:
        """The pairs as an undirected simple graph: a symmetric 0/1 matrix."""
        return symmetric_adjacency(self.pairs, self.num_nodes)

    @property
    def num_edges(self) -> int:
        """Undirected edges, each counted once."""
        return int(self.adjacency.nnz // 2)

    @property
    def sampled(self) -> bool:
        """Whether the search looked at a sample of the nodes only (Section 6.4)."""
        return self.candidates < self.num_nodes

    def homophily(self, y: IntArray, nodes: IntArray | None = None) -> float | None:
        """The share of pairs within a class, over pairs whose searching node is one of ``nodes``.

        Pairs are counted as found, before the graph is made undirected: what training nodes find is far
        better than what test nodes find, because the training labels made the embedding, and made
        undirected the two would mix. None where no pair has both labels known.
        """
        source, target = self.pairs
        counted = (y[source] != UNKNOWN) & (y[target] != UNKNOWN)
        if nodes is not None:
            wanted = np.zeros(self.num_nodes, dtype=bool)
            wanted[nodes] = True
            counted &= wanted[source]
        return float(np.mean(y[source[counted]] == y[target[counted]])) if counted.any() else None

    def to_npz(self, path: str | Path) -> None:
        """Write the half to one npz file: the undirected edges, the pairs as found, and how they came."""
        check_place(path, (".npz",))
        upper = sp.triu(self.adjacency, k=1).tocoo()
        with atomic_write(path) as temporary:
            np.savez_compressed(
                temporary,
                edge_index=np.stack([upper.row, upper.col]).astype(np.int32),
                pairs=self.pairs.astype(np.int32),
                num_nodes=np.array(self.num_nodes),
                kind=np.array(self.kind),
                k=np.array(self.k),
                candidates=np.array(self.candidates),
                encoder=np.array(self.encoder),
            )

    def __repr__(self) -> str:
        how = f"{self.k} {'most' if self.kind == 'homophily' else 'least'} similar of each node"
        sampled = f", {self.candidates} sampled candidates" if self.sampled else ""
        return f"MissingHalf({self.kind}, {self.num_edges} edges, {how}{sampled})"


@dataclass(frozen=True)
class Embedding:
    """A trained encoder and head: Z_gc = MLP(GNN(G))."""

    encoder: Encoder
    head: Head
    head_history: History

    def __call__(self, graph: Graph, inputs: NodeInputs) -> Tensor:
        """Z_gc of every node of ``graph``."""
        self.head.eval()
        with torch.no_grad():
            z: Tensor = self.head(self.encoder.embed(graph, inputs))
        return z


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
    """Diagnose a graph and find the half of its topology that is missing (Section 4).

    Args:
        graph: The graph.
        split: Labels of ``train`` teach, labels of ``val`` select; no other label is read.
        seed: Of everything random.
        follow: Whose verdict decides which half is missing: ``ks``, ``labels`` (of train and val nodes),
            or a tendency given outright, ``homophily`` or ``heterophily``.
        preset: ``best`` or ``paper``; what ``settings`` says goes before it.
        settings: How the half is found.
        device: ``cpu`` or ``cuda``.
        on_step: Told (stage, steps done, steps at most).
    """
    chosen = preset_settings(preset, graph.name)
    complement = settings or chosen.complement
    check_trainable(graph, split)
    require_memory_for_fit(graph, len(split.train), replace(chosen, complement=complement))
    started = time.perf_counter()
    diagnosis = diagnose(graph, nodes=np.concatenate([split.train, split.val]), seed=seed)
    kind = opposite(diagnosis.follow(follow))
    inputs = node_inputs(graph, Scaling.fit(graph.x, chosen.scaling), device=usable_device(device))
    diagnosed = time.perf_counter() - started
    embedding = learn_embedding(graph, split, inputs, kind, complement, seed, on_step=on_step)
    half = complete(graph, inputs, embedding, kind, complement, seed, on_step=on_step)
    half.seconds.update(diagnose=diagnosed, total=time.perf_counter() - started)
    return half


def learn_embedding(
    graph: Graph,
    split: Split,
    inputs: NodeInputs,
    kind: str,
    settings: ComplementSettings,
    seed: int,
    *,
    metric: str = "accuracy",
    checkpoint: Callable[[str], Checkpoint | None] = lambda stage: None,
    on_step: OnStep | None = None,
) -> Embedding:
    """Pretrain the encoder, then train the head on what it gives."""
    encoder = pretrain(
        graph,
        split,
        inputs,
        settings.encoder,
        seed,
        metric=metric,
        checkpoint=checkpoint,
        on_epoch=on_step,
    )
    head, history = train_head(
        graph,
        split,
        encoder.embed(graph, inputs),
        settings.head,
        seed,
        most_similar=kind == "homophily",
        checkpoint=checkpoint("head"),
        on_epoch=None if on_step is None else lambda done, most: on_step("head", done, most),
    )
    return Embedding(encoder, head, history)


def complete(
    graph: Graph,
    inputs: NodeInputs,
    embedding: Embedding,
    kind: str,
    settings: ComplementSettings,
    seed: int,
    *,
    on_step: OnStep | None = None,
) -> MissingHalf:
    """Join every node to the K most (``homophily``) or least similar nodes by z_i · z_j, itself left out."""
    started = time.perf_counter()
    z = embedding(graph, inputs)
    if not bool(torch.isfinite(z).all()):
        raise InputError("the embedding of some nodes is not finite: bring the features to a common scale")
    everyone = torch.arange(graph.num_nodes)
    candidates = everyone
    if graph.num_nodes > settings.max_candidates:
        drawn = np.random.default_rng(seed).choice(graph.num_nodes, settings.max_candidates, replace=False)
        candidates = torch.from_numpy(np.sort(drawn))
    k = settings.k_homophily if kind == "homophily" else settings.k_heterophily
    pairs = search_pairs(z, everyone, candidates, k, kind, on_step=on_step)
    return MissingHalf(
        pairs,
        graph.num_nodes,
        kind,
        k,
        len(candidates),
        embedding.encoder.kind,
        {"search": time.perf_counter() - started},
    )


def search_pairs(
    z: Tensor, queries: Tensor, candidates: Tensor, k: int, kind: str, *, on_step: OnStep | None = None
) -> IntArray:
    """``[2, P]``: every query node with its K most or least similar candidates, exactly."""
    done = 0

    def on_rows(count: int) -> None:
        nonlocal done
        done += count
        if on_step is not None:
            on_step("search", done, len(queries))

    similarities = dot_products(z, candidates, exclude_self=True)
    found, _ = top_k(similarities, queries, len(candidates), k, largest=kind == "homophily", on_rows=on_rows)
    source = queries[:, None].expand_as(found)
    pairs = torch.stack([source[found >= 0], candidates[found[found >= 0]]])
    return pairs.numpy()


def opposite(tendency: str) -> str:
    """The kind of half that a graph of this tendency lacks."""
    return {"homophily": "heterophily", "heterophily": "homophily"}[tendency]


def check_trainable(graph: Graph, split: Split) -> None:
    """Refuse a graph or split that nothing can be learned from, in one sentence."""
    graph.require_labels("training")
    split.check_against(graph)
    for part, why in (("train", "to learn from"), ("val", "to stop and select by")):
        nodes = getattr(split, part)
        if len(nodes) == 0:
            raise InputError(f"the split has no {part} nodes {why}: give it some")
        if (graph.y[nodes] == UNKNOWN).any():
            raise InputError(f"a {part} node of the split has no label: take labelled nodes only")
    if len(np.unique(graph.y[split.train])) < 2:
        raise InputError("all training nodes have one class: give a split whose train part has two or more")
