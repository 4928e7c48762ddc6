"""Graphs from and to PyG."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.data.two_directions import ROUNDING, differing, without_reverses
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, FloatArray, IntArray
from otherhalf.system.graph_checks import checked_labels

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

DENSE_CELLS = 2**26
"""Up to this many cells (256 MB of float32), ``to_pyg`` makes sparse features dense."""

_PARTS = ("train", "val", "test")


def from_pyg(
    data: Data,
    *,
    name: str = "",
    directed: bool | None = None,
    weight: bool = True,
    relation: bool = True,
) -> Graph:
    """Return the graph of a PyG ``Data``.

    Args:
        data: Data with ``x`` (dense or torch sparse; nodes without it have a column of ones), ``edge_index``
            or ``adj_t`` and, if known, ``y`` (``[N]`` or ``[N, 1]``, −1 or NaN for unknown). ``train_mask``,
            ``val_mask`` and ``test_mask`` (``[N]`` or ``[N, S]``) become the fixed splits, without the nodes
            that have no label.
            ``class_names``, ``node_ids``, ``feature_names`` and ``directed`` are used; :func:`to_pyg` writes
            them.
            ``edge_weight`` has the weights of the edges; without it, an ``edge_attr`` with one column of
            positive floats is taken as weights, with a warning, and so are entries of ``adj_t`` that differ.
            ``edge_type`` has the relations of the edges; ``relation_names``, or what ``to_homogeneous``
            knows of them, their names. Other edge attributes are not used.
        name: Name of the graph.
        directed: Whether to keep the direction of the edges. ``None`` keeps it if some edge has no reverse,
            or one with another weight or relation.
        weight: Whether to use weights.
        relation: Whether to use relations.
    """
    from torch_geometric.data import Data

    if not isinstance(data, Data):
        raise InputError(
            f"from_pyg takes a torch_geometric Data, not {type(data).__name__}: take one graph out of a data "
            "set with dataset[0], and make a HeteroData homogeneous with data.to_homogeneous()"
        )
    x = np.zeros((data.num_nodes or 0, 0)) if data.x is None else _from_torch(data.x)
    if x.ndim != 2:
        raise InputError(f"the PyG data's x has the shape {tuple(x.shape)}: give one row per node, [N, D]")
    n = int(x.shape[0])
    if directed is None:
        directed = getattr(data, "directed", None)
    source, target, entries = _pyg_edges(data)
    weights = _pyg_weights(data, entries, len(source)) if weight else None
    codes, names = _pyg_relations(data, len(source)) if relation else (None, [])
    kept, directed = without_reverses(source, target, n, directed, weights=weights, relations=codes)
    classes = getattr(data, "class_names", None)
    y, classes = checked_labels(None if data.y is None else _from_torch(data.y), classes, n)
    return Graph(
        edges=np.stack([source, target])[:, kept],
        x=x,
        y=y,
        directed=directed,
        ids=getattr(data, "node_ids", None),
        classes=classes,
        fixed_splits=_pyg_splits(data, y != UNKNOWN),
        name=name,
        weights=weights if weights is None else weights[kept],
        relations=None if codes is None else [names[code] for code in codes[kept]],  # type: ignore[arg-type]
        feature_names=getattr(data, "feature_names", None),
    )


def to_pyg(graph: Graph) -> Data:
    """Return the graph as a PyG ``Data``, from which :func:`from_pyg` makes an equal graph.

    ``edge_index`` has undirected edges in both directions, and ``edge_weight`` their weights, if they have
    some. With relations, an edge is there once for each of them, and ``edge_type`` has the place of the
    relation in ``relation_names``, −1 for none. Unknown labels are −1 in ``y``, and a graph
    without labels has no ``y``; the fixed splits are ``[N, S]`` masks. Sparse features become a dense tensor,
    which every PyG layer accepts, up to :data:`DENSE_CELLS` cells, and a torch sparse CSR tensor above. The
    lists ``class_names``, ``node_ids`` and ``feature_names`` and the flag ``directed`` keep what PyG has no
    field for.
    """
    import torch
    from torch_geometric.data import Data

    edges, weights, codes = _edges_by_relation(graph)
    if not graph.directed:
        edges = np.concatenate([edges, edges[::-1]], axis=1)
    order = np.lexsort((edges[1], edges[0]))
    data = Data(x=_to_torch(graph.x), edge_index=torch.from_numpy(np.ascontiguousarray(edges[:, order])))
    if weights is not None:
        data.edge_weight = torch.from_numpy(np.resize(weights, len(order))[order])
    if graph.relations is not None and codes is not None:
        data.edge_type = torch.from_numpy(np.resize(codes, len(order))[order])
        data.relation_names = list(graph.relations.names)
    data.directed = graph.directed
    if len(graph.labelled):
        data.y = torch.from_numpy(graph.y.copy())
    if graph.num_classes:
        data.class_names = graph.classes.tolist()
    if graph.ids is not None:
        data.node_ids = graph.ids.tolist()
    if graph.feature_names is not None:
        data.feature_names = list(graph.feature_names)
    for part in _PARTS if graph.fixed_splits else ():
        masks = np.zeros((graph.num_nodes, len(graph.fixed_splits)), dtype=bool)
        for column, fixed in enumerate(graph.fixed_splits):
            masks[getattr(fixed, part), column] = True
        data[f"{part}_mask"] = torch.from_numpy(masks)
    return data


def _edges_by_relation(graph: Graph) -> tuple[IntArray, FloatArray | None, IntArray | None]:
    """Return the edges, once for each relation, with their weights and the codes of their relations."""
    if graph.relations is None:
        return graph.edges, graph.weights, None
    entries, named = graph.relations.edges.tocoo(), graph.relations.values(graph.relations.names)
    # What an edge weighs in no relation; without weights, an edge in any relation has nothing left.
    left = np.where(named == 0, 1, 0) if graph.weights is None else graph.weights - named
    rest = np.flatnonzero(left > ROUNDING * (named + left))
    place = np.concatenate([entries.col, rest]).astype(np.int64)
    codes = np.concatenate([entries.row, np.full(len(rest), -1)]).astype(np.int64)
    weights = None if graph.weights is None else np.concatenate([entries.data, left[rest]])
    return graph.edges[:, place], weights, codes


def _from_torch(values: Any) -> Any:
    """Convert a torch tensor to a numpy array or scipy CSR matrix, and anything else to a numpy array."""
    import torch

    if not isinstance(values, torch.Tensor):
        return values if sp.issparse(values) else np.asarray(values)
    values = values.detach().cpu()
    if values.dtype == torch.bfloat16:  # unknown to numpy
        values = values.float()
    if values.layout == torch.strided:
        return values.numpy()
    coo = values.to_sparse_coo().coalesce()
    return sp.csr_matrix((coo.values().numpy(), coo.indices().numpy()), shape=tuple(coo.shape))


def _to_torch(x: Any) -> torch.Tensor:
    import torch

    if sp.issparse(x):
        if x.shape[0] * x.shape[1] > DENSE_CELLS:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
                return torch.sparse_csr_tensor(
                    torch.from_numpy(x.indptr.astype(np.int64)),
                    torch.from_numpy(x.indices.astype(np.int64)),
                    torch.from_numpy(x.data.copy()),
                    size=x.shape,
                    check_invariants=True,
                )
        return torch.from_numpy(x.toarray())
    return torch.from_numpy(x.copy())


def _pyg_edges(data: Data) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Return sources, targets and the entries of a sparse matrix, if the edges are one."""
    if data.edge_index is not None:
        pairs = np.asarray(data.edge_index.detach().cpu())
        if pairs.ndim != 2 or pairs.shape[0] != 2:
            raise InputError(
                f"the PyG data's edge_index has the shape {pairs.shape}: give [2, E], sources in row 0"
            )
        return pairs[0], pairs[1], None
    transposed = getattr(data, "adj_t", None)
    if transposed is None:
        raise InputError("the PyG data has neither edge_index nor adj_t: give the edges")
    from torch_geometric.utils import to_edge_index

    pairs, entries = to_edge_index(transposed)
    target, source = pairs.detach().cpu().numpy()
    return source, target, None if entries is None else _from_torch(entries)


def _pyg_weights(data: Data, entries: npt.NDArray[Any] | None, count: int) -> Any:
    """Return ``edge_weight``, or else an ``edge_attr`` or entries of ``adj_t`` that can be weights."""
    given = getattr(data, "edge_weight", None)
    if given is not None:
        weights = _from_torch(given)
        if weights.shape not in ((count,), (count, 1)):
            raise InputError(
                f"the PyG data's edge_weight has the shape {weights.shape} for {count} edges: give [E], or "
                "ignore it with weight=False"
            )
        return weights.ravel()
    if entries is not None and entries.shape == (count,):
        return differing(entries)
    if data.edge_attr is None:
        return None
    column = _from_torch(data.edge_attr)
    if column.shape not in ((count,), (count, 1)):
        return None
    if column.dtype.kind != "f" or not (np.isfinite(column) & (column > 0)).all():
        warnings.warn(
            "the PyG data's edge_attr is not used: weights of edges are positive floats", stacklevel=3
        )
        return None
    warnings.warn(
        "the PyG data's edge_attr has one column and was taken as the weights of the edges; weight=False "
        "ignores it",
        stacklevel=3,
    )
    return column.ravel()


def _pyg_relations(data: Data, count: int) -> tuple[npt.NDArray[Any] | None, list[str | None]]:
    """Return the code of each edge's relation and the names of all codes; the last, −1, stands for none."""
    given = getattr(data, "edge_type", None)
    if given is None:
        return None, []
    codes = np.asarray(_from_torch(given))
    if codes.shape != (count,) or codes.dtype.kind not in "iu":
        raise InputError(
            f"the PyG data's edge_type is {codes.dtype} of shape {codes.shape} for {count} edges: give [E] "
            "integers, or ignore it with relation=False"
        )
    codes = np.maximum(codes, -1)
    known = getattr(data, "relation_names", None) or getattr(data, "_edge_type_names", None) or []
    names = [each if isinstance(each, str) else " ".join(each) for each in known]
    names += [str(code) for code in range(len(names), codes.max(initial=-1) + 1)]
    return codes, [*names, None]


def _pyg_splits(data: Data, labelled: npt.NDArray[np.bool_]) -> tuple[Split, ...]:
    names = [f"{part}_mask" for part in _PARTS]
    given = {key: getattr(data, key) for key in names if getattr(data, key, None) is not None}
    if not given:
        return ()
    if len(given) < 3:
        missing = ", ".join(key for key in names if key not in given)
        warnings.warn(f"the PyG data has no {missing}, so its masks are not used as a split", stacklevel=3)
        return ()
    columns = {}
    for key, values in given.items():
        mask = _from_torch(values).astype(bool)
        if mask.ndim not in (1, 2) or len(mask) != len(labelled):
            raise InputError(
                f"the PyG data's {key} has the shape {mask.shape} for "
                f"{len(labelled)} nodes: give [N] or [N, S]"
            )
        columns[key] = mask.reshape(len(mask), -1)
    count = max(mask.shape[1] for mask in columns.values())
    for key, mask in columns.items():
        if mask.shape[1] not in (1, count):
            raise InputError(
                f"the PyG data's {key} holds {mask.shape[1]} splits and another mask {count}: "
                "give as many columns in each"
            )
    splits = []
    for number in range(count):
        # A single column is shared by all splits, as the test mask of WikiCS is.
        parts = [mask[:, number % mask.shape[1]] for mask in columns.values()]
        train, val, test = (np.flatnonzero(part & labelled) for part in parts)
        splits.append(Split(train, val, test, kind="fixed", seed=number))
    return tuple(splits)
