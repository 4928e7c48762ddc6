"""Topology complementation (Section 4.2): learn an embedding, then join similar or dissimilar nodes."""

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from otherhalf.complement.block_search import inner_top_k
from otherhalf.complement.encoder import Encoder, pretrain
from otherhalf.complement.head import Head, train_head
from otherhalf.complement.missing_half import MissingHalf
from otherhalf.complement.search import dot_products, top_k
from otherhalf.complement.settings import ComplementSettings
from otherhalf.errors import InputError
from otherhalf.nn.prepared import PreparedGraph
from otherhalf.system.arrays import IntArray
from otherhalf.system.profile import timed
from otherhalf.training.checkpoint import History
from otherhalf.training.loop import SILENT, Monitor
from otherhalf.training.supervised import Supervision

LEAST_PAIRS = 25_000_000
"""Pairs of a query and a candidate from which the search by blocks is worth loading its kernels (20 ms, or
1.2 s where they must be compiled): 5,000 nodes take 0.15 s without them and 0.04 s with them."""

MOST_K = 300
"""Largest K of the search by blocks: its lists are kept sorted."""


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


@timed("search of the missing half")
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
    largest, wanted = kind == "homophily", len(queries)
    if not by_blocks(wanted * len(candidates), k) or _can_overflow(z):
        done = 0

        def on_rows(count: int) -> None:
            nonlocal done
            done += count
            monitor.report("search", done, wanted)

        similarities = dot_products(z, candidates, exclude_self=True)
        nearest = top_k(similarities, queries, len(candidates), k, largest=largest, on_rows=on_rows)[0]
    else:
        same = torch.equal(queries, candidates)
        position = torch.full((len(z),), -1)
        position[candidates] = torch.arange(len(candidates))
        nearest = inner_top_k(
            _rows(z, queries),
            None if same else _rows(z, candidates),
            min(k, len(candidates)),
            largest=largest,
            own=None if same else position[queries],
            on_step=lambda done, total: monitor.report("search", wanted * done // total, wanted),
        )[0]
    return _pairs(queries, candidates, nearest)


def by_blocks(all_pairs: int, k: int) -> bool:
    """Return whether a search of so many pairs of query and candidate is done by blocks."""
    return all_pairs >= LEAST_PAIRS and k <= MOST_K


def _pairs(queries: Tensor, candidates: Tensor, nearest: Tensor) -> IntArray:
    found = nearest >= 0
    pairs = torch.empty((2, int(found.sum())), dtype=torch.int64)
    torch.masked_select(queries[:, None].expand_as(nearest), found, out=pairs[0])
    torch.masked_select(nearest, found, out=pairs[1])
    pairs[1] = candidates[pairs[1]]
    return pairs.numpy()


def _rows(z: Tensor, nodes: Tensor) -> Tensor:
    """Return the rows of nodes, without a copy if these are all nodes in their order."""
    every = len(nodes) == len(z) and torch.equal(nodes, torch.arange(len(z)))
    return z if every else z[nodes]


def _can_overflow(z: Tensor) -> bool:
    """Whether an inner product may be too large for single precision."""
    largest = float(z.abs().max())
    return z.shape[1] * largest * largest > torch.finfo(torch.float32).max
