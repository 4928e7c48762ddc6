"""Graphs from and to PyG and scipy; ``convert_networkx`` and ``from_frames`` have those from other values."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.data.convert_networkx import from_networkx
from otherhalf.data.from_frames import from_frames
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, IntArray, distinct_keys
from otherhalf.system.graph_checks import checked_labels

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

__all__ = ["DENSE_CELLS", "from_frames", "from_networkx", "from_pyg", "from_scipy", "to_pyg"]

DENSE_CELLS = 2**26
"""Up to this many cells (256 MB of float32), ``to_pyg`` makes sparse features dense."""

_PARTS = ("train", "val", "test")


# ------------------------------------------------------------------ PyG


def from_pyg(data: Data, *, name: str = "", directed: bool | None = None) -> Graph:
    """Return the graph of a PyG ``Data``.

    Args:
        data: Data with ``x`` (dense or torch sparse), ``edge_index`` or ``adj_t`` and, if known, ``y``
            (``[N]`` or ``[N, 1]``, −1 or NaN for unknown). ``train_mask``, ``val_mask`` and ``test_mask``
            (``[N]`` or ``[N, S]``) become the fixed splits, without the nodes that have no label.
            ``class_names``, ``node_ids`` and ``directed``, which :func:`to_pyg` writes, are used. Edge
            attributes are not.
        name: Name of the graph.
        directed: Whether to keep the direction of the edges. ``None`` keeps it if some edge has no reverse.
    """
    from torch_geometric.data import Data

    if not isinstance(data, Data):
        raise InputError(
            f"from_pyg takes a torch_geometric Data, not {type(data).__name__}: take one graph out of a data "
            "set with dataset[0], and make a HeteroData homogeneous with data.to_homogeneous()"
        )
    if data.x is None:
        raise InputError("the PyG data has no x: give node features, data.x = […]")
    x = _from_torch(data.x)
    if x.ndim != 2:
        raise InputError(f"the PyG data's x has the shape {tuple(x.shape)}: give one row per node, [N, D]")
    n = int(x.shape[0])
    if directed is None:
        directed = getattr(data, "directed", None)
    edges, directed = _without_reverses(*_pyg_edges(data), n, directed)
    classes = getattr(data, "class_names", None)
    y, classes = checked_labels(None if data.y is None else _from_torch(data.y), classes, n)
    return Graph(
        edges=edges,
        x=x,
        y=y,
        directed=directed,
        ids=getattr(data, "node_ids", None),
        classes=classes,
        fixed_splits=_pyg_splits(data, y != UNKNOWN),
        name=name,
    )


def to_pyg(graph: Graph) -> Data:
    """Return the graph as a PyG ``Data``, from which :func:`from_pyg` makes an equal graph.

    ``edge_index`` has undirected edges in both directions; unknown labels are −1 in ``y``, and a graph
    without labels has no ``y``; the fixed splits are ``[N, S]`` masks. Sparse features become a dense tensor,
    which every PyG layer accepts, up to :data:`DENSE_CELLS` cells, and a torch sparse CSR tensor above. The
    lists ``class_names`` and ``node_ids`` and the flag ``directed`` keep what PyG has no field for.
    """
    import torch
    from torch_geometric.data import Data

    edges = graph.edges if graph.directed else np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    order = np.lexsort((edges[1], edges[0]))
    data = Data(x=_to_torch(graph.x), edge_index=torch.from_numpy(np.ascontiguousarray(edges[:, order])))
    data.directed = graph.directed
    if len(graph.labelled):
        data.y = torch.from_numpy(graph.y.copy())
    if graph.num_classes:
        data.class_names = graph.classes.tolist()
    if graph.ids is not None:
        data.node_ids = graph.ids.tolist()
    for part in _PARTS if graph.fixed_splits else ():
        masks = np.zeros((graph.num_nodes, len(graph.fixed_splits)), dtype=bool)
        for column, fixed in enumerate(graph.fixed_splits):
            masks[getattr(fixed, part), column] = True
        data[f"{part}_mask"] = torch.from_numpy(masks)
    return data


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


def _pyg_edges(data: Data) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if data.edge_index is not None:
        pairs = np.asarray(data.edge_index.detach().cpu())
        if pairs.ndim != 2 or pairs.shape[0] != 2:
            raise InputError(
                f"the PyG data's edge_index has the shape {pairs.shape}: give [2, E], sources in row 0"
            )
        return pairs[0], pairs[1]
    transposed = getattr(data, "adj_t", None)
    if transposed is None:
        raise InputError("the PyG data has neither edge_index nor adj_t: give the edges")
    from torch_geometric.utils import to_edge_index

    target, source = to_edge_index(transposed)[0].detach().cpu().numpy()
    return source, target


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


# ------------------------------------------------------------------ scipy


def from_scipy(
    adjacency: Any,
    x: Any,
    y: Any = None,
    *,
    directed: bool | None = None,
    ids: Any = None,
    classes: Any = None,
    name: str = "",
) -> Graph:
    """Return the graph of an adjacency matrix, features and labels.

    Args:
        adjacency: ``[N, N]``, scipy sparse or dense; every entry other than 0 is an edge from its row to its
            column. Weights are not used; if they differ, there is a warning.
        x: ``[N, D]`` features, dense or scipy sparse.
        y: ``[N]`` labels, as for :class:`~otherhalf.graph.Graph`.
        directed: Whether to keep the direction of the edges. ``None`` keeps it if some edge has no reverse.
        ids: Names of the nodes.
        classes: Label that each code of ``y`` stands for.
        name: Name of the graph.
    """
    matrix = adjacency if sp.issparse(adjacency) else np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"the adjacency has the shape {tuple(matrix.shape)}: "
            "give a square matrix, with a row and a column per node"
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"the adjacency is {matrix.dtype}: give numbers or truth values")
    n = int(matrix.shape[0])
    rows = x.shape[0] if sp.issparse(x) else len(np.atleast_1d(x))
    if rows != n:
        raise InputError(f"the adjacency has {n} nodes and x has {rows} rows: give one row of x per node")
    entries = sp.coo_matrix(matrix)
    finite = np.isfinite(entries.data)
    if not finite.all():
        at = int(np.argmin(finite))
        raise InputError(
            f"the adjacency is {entries.data[at]} at ({entries.row[at]}, {entries.col[at]}): "
            "give a number, 0 for no edge"
        )
    nonzero = entries.data != 0
    weights = entries.data[nonzero]
    if len(weights) and (weights != weights[0]).any():
        warnings.warn(
            "the weights in the adjacency differ and are not used: every entry is an edge", stacklevel=2
        )
    edges, directed = _without_reverses(entries.row[nonzero], entries.col[nonzero], n, directed)
    return Graph(edges=edges, x=x, y=y, directed=directed, ids=ids, classes=classes, name=name)


def _without_reverses(
    source: npt.NDArray[Any], target: npt.NDArray[Any], n: int, directed: bool | None
) -> tuple[npt.NDArray[Any], bool]:
    """Return the edges, in one direction if the graph is symmetric, and whether they are directed.

    The reverses are removed here because :class:`Graph` would count them as repeats.
    """
    if source.dtype.kind not in "iu" or directed:
        return np.stack([source, target]), bool(directed)
    symmetric = np.array_equal(_keys(source, target, n), _keys(target, source, n))
    if symmetric:
        one_way = source <= target
        source, target = source[one_way], target[one_way]
    return np.stack([source, target]), not symmetric if directed is None else directed


def _keys(source: npt.NDArray[Any], target: npt.NDArray[Any], n: int) -> IntArray:
    return distinct_keys(source.astype(np.int64) * n + target)
