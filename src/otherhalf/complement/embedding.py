"""Topology complementation (Section 4.2): learn an embedding, then join similar or dissimilar nodes."""

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from otherhalf.complement.encoder import Encoder, pretrain
from otherhalf.complement.head import Head, train_head
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.complement.search import dot_products, top_k
from otherhalf.complement.settings import ComplementSettings
from otherhalf.errors import InputError
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import IntArray
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import SILENT, Monitor
from otherhalf.training.supervised import Supervision


@dataclass(frozen=True)
class Embedding:
    """A trained encoder and head: Z_gc = MLP(GNN(G))."""

    encoder: Encoder
    head: Head
    head_history: History

    def __call__(self, prepared: PreparedGraph) -> Tensor:
        """Return Z_gc of every node."""
        self.head.eval()
        with torch.no_grad():
            z: Tensor = self.head(self.encoder.embed(prepared))
        return z


def learn_missing_half(
    prepared: PreparedGraph, kind: str, settings: ComplementSettings, supervision: Supervision
) -> tuple[Embedding, MissingHalf]:
    """Pretrain the encoder, train the head on its embedding, and search the pairs of the missing half.

    Args:
        prepared: The graph, ready for models.
        kind: ``homophily`` joins the most similar nodes, ``heterophily`` the least similar ones.
        settings: Encoder, head and search.
        supervision: Split, seed, metric and monitor.
    """
    encoder = pretrain(prepared, settings.encoder, supervision)
    z_gnn, most_similar = encoder.embed(prepared), kind == "homophily"
    head, history = train_head(prepared.graph, z_gnn, settings.head, supervision, most_similar=most_similar)
    embedding = Embedding(encoder, head, history)
    return embedding, search_missing_half(
        prepared, embedding, kind, settings, supervision.seed, monitor=supervision.monitor
    )


def search_missing_half(
    prepared: PreparedGraph,
    embedding: Embedding,
    kind: str,
    settings: ComplementSettings,
    seed: int,
    *,
    monitor: Monitor = SILENT,
) -> MissingHalf:
    """Join every node to the K most (``homophily``) or least similar other nodes by z_i · z_j."""
    started = time.perf_counter()
    z = embedding(prepared)
    if not bool(torch.isfinite(z).all()):
        raise InputError("the embedding of some nodes is not finite: bring the features to a common scale")
    nodes = prepared.graph.num_nodes
    queries = candidates = torch.arange(nodes)
    if nodes > settings.max_candidates:
        drawn = np.random.default_rng(seed).choice(nodes, settings.max_candidates, replace=False)
        candidates = torch.from_numpy(np.sort(drawn))
    k = settings.k_homophily if kind == "homophily" else settings.k_heterophily
    pairs = search_pairs(z, queries, candidates, k, kind, monitor=monitor)
    seconds = {"search": time.perf_counter() - started}
    return MissingHalf(pairs, nodes, kind, k, len(candidates), embedding.encoder.kind, seconds)


def search_pairs(
    z: Tensor, queries: Tensor, candidates: Tensor, k: int, kind: str, *, monitor: Monitor = SILENT
) -> IntArray:
    """Return ``[2, P]``: every query node with its K most or least similar candidates, exactly."""
    done = 0

    def on_rows(count: int) -> None:
        nonlocal done
        done += count
        monitor.report("search", done, len(queries))

    similarities = dot_products(z, candidates, exclude_self=True)
    nearest, _ = top_k(
        similarities, queries, len(candidates), k, largest=kind == "homophily", on_rows=on_rows
    )
    source = queries[:, None].expand_as(nearest)
    pairs = torch.stack([source[nearest >= 0], candidates[nearest[nearest >= 0]]])
    return pairs.numpy()
