"""One graph in one npz file, without pickles: ``read_npz`` and ``write_npz``.

Arrays: ``edge_index`` [2, E]; ``directed`` (bool scalar); the features as dense ``x`` [N, D] or as CSR in
``x_data``, ``x_indices``, ``x_indptr``, ``x_shape``; ``y`` [N] with −1 for unknown; optionally
``train_masks``, ``val_masks``, ``test_masks`` [S, N] (fixed splits, one per row), ``split_kinds`` [S] (what
decided each; without it they are published ones), ``public_train_mask``,
``public_val_mask``, ``public_test_mask`` [N] (Planetoid's public split), ``edge_weight`` [E], ``ids`` [N],
``feature_names`` [D], ``classes`` [C] and ``name``; and the relations of the edges, ``relation_names`` [R]
and a CSR matrix [R, E] in ``relation_data``, ``relation_indices`` and ``relation_indptr``; and how the tables
of the graph were read: ``reading`` (JSON) and its arrays, ``reading/…``.

The fixed splits become ``graph.fixed_splits`` in the order of their rows (``kind="fixed"``,
``seed=row``). The public split, where there is one, is the last entry, with ``kind="public"``, so that
``fixed_splits[i]`` is the i-th of the ten with or without a public one.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from otherhalf.data.files.arrays import Arrays, read_arrays
from otherhalf.data.reading import Reading
from otherhalf.data.splits import GIVEN
from otherhalf.errors import InputError
from otherhalf.graph import Graph, Split
from otherhalf.system.arrays import UNKNOWN, IntArray, csr_of_parts
from otherhalf.system.atomic import atomic_write
from otherhalf.system.names import LONGEST_CLASS, from_arrays, to_arrays
from otherhalf.system.relations import Relations

FIXED, PUBLIC = "fixed", "public"
"""The ``kind`` of published splits, and of Planetoid's public one."""

_CSR = ("x_data", "x_indices", "x_indptr", "x_shape")
_PARTS = ("train", "val", "test")


def read_npz(path: str | Path, *, name: str | None = None) -> Graph:
    """Read the graph in ``path``.

    Its name is ``name``, or else the name inside the file, or else that of the file. Nodes without a label
    are removed from the splits: they can be used neither for training nor for scores.
    """
    path = Path(path)
    arrays = read_arrays(path)
    try:
        return _graph(arrays, name or _own_name(arrays) or path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_npz(graph: Graph, path: str | Path) -> None:
    """Write the graph for :func:`read_npz`. A kill at any time leaves no damaged file."""
    path = Path(path)
    if path.suffix != ".npz":
        raise InputError(f"{path} does not end in .npz: give a file name such as {path.stem or 'graph'}.npz")
    arrays: dict[str, npt.NDArray[Any]] = {
        "edge_index": graph.edges.astype(np.int32 if graph.num_nodes < 2**31 else np.int64),
        "directed": np.array(graph.directed),
        **_feature_arrays(graph.x),
        "y": graph.y,
        **_mask_arrays(graph),
        "classes": graph.classes,
        "name": np.array(graph.name),
    }
    if graph.ids is not None:
        arrays |= to_arrays("ids", graph.ids)
    if graph.own_feature_names is not None:
        arrays |= to_arrays("feature_names", np.array(graph.own_feature_names, dtype=object))
    if graph.weights is not None:
        arrays["edge_weight"] = graph.weights
    if graph.relations is not None:
        arrays |= graph.relations.arrays()
    if graph.reading is not None:
        arrays["reading"] = np.array(json.dumps(graph.reading.to_dict()))
        arrays |= {f"reading/{name}": part.numpy() for name, part in graph.reading.tensors().items()}
    try:
        with atomic_write(path) as temporary:
            np.savez_compressed(temporary, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror or error}): choose a folder you may write to"
        ) from error


def csr_features(arrays: Arrays, prefix: str = "x_") -> sp.csr_matrix:
    """Return the float32 CSR matrix of ``{prefix}data``, ``indices``, ``indptr``, ``shape``, checked."""
    data, indices, indptr, shape = (arrays[prefix + key] for key in ("data", "indices", "indptr", "shape"))
    try:
        rows, columns = (int(size) for size in shape)
        return csr_of_parts(data.astype(np.float32), indices, indptr, (rows, columns))
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"the sparse features in {prefix}* do not fit together ({error}): write them again"
        ) from None


def mask_splits(arrays: Arrays, labelled: npt.NDArray[np.bool_]) -> tuple[Split, ...]:
    """Return the splits that the masks of a file describe, without the nodes that have no label."""
    splits = []
    stacks = _masks(arrays, "{}_masks", (None, len(labelled)))
    if stacks:
        if len({len(stack) for stack in stacks}) != 1:
            raise InputError("train_masks, val_masks and test_masks differ in length: give one row per split")
        kinds = arrays.get("split_kinds", np.full(len(stacks[0]), FIXED))
        if kinds.shape != (len(stacks[0]),):
            raise InputError("split_kinds and train_masks differ in length: give one kind per split")
        for seed, rows in enumerate(zip(*stacks, strict=True)):
            train, val, test = (np.flatnonzero(row & labelled) for row in rows)
            kind = str(kinds[seed])
            splits.append(Split(train, val, test, kind=kind, seed=seed if kind == FIXED else None))
    public = _masks(arrays, "public_{}_mask", (len(labelled),))
    if public:
        train, val, test = (np.flatnonzero(mask & labelled) for mask in public)
        splits.append(Split(train, val, test, kind=PUBLIC))
    return tuple(splits)


def _graph(arrays: Arrays, name: str) -> Graph:
    x_names = ("x",) if "x" in arrays else _CSR
    missing = [key for key in ("edge_index", "directed", *x_names, "y") if key not in arrays]
    if missing:
        raise InputError(
            f"the array(s) {', '.join(missing)} are missing: a graph file needs edge_index, directed, "
            "x (or x_data, x_indices, x_indptr, x_shape) and y (−1 where unknown)"
        )
    y = arrays["y"]
    directed = arrays["directed"]
    if directed.shape != () or directed.dtype.kind not in "biu" or directed not in (0, 1):
        raise InputError(f"directed is {directed.dtype} of shape {directed.shape}: give one true or false")
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise InputError(
            f"y is {y.dtype} of shape {y.shape}: give one whole number per node, −1 where unknown"
        )
    edges, relations = arrays["edge_index"], None
    if "relation_names" in arrays and edges.ndim == 2:
        relations = Relations.from_arrays(arrays, edges.shape[1])
    return Graph(
        edges=edges,
        x=arrays["x"] if "x" in arrays else csr_features(arrays),
        y=y,
        directed=bool(directed),
        ids=from_arrays("ids", arrays),
        classes=arrays.get("classes"),  # type: ignore[arg-type]  # None asks for the default
        fixed_splits=mask_splits(arrays, y.astype(np.int64) != UNKNOWN),
        name=name,
        weights=arrays.get("edge_weight"),
        relations=relations,
        reading=_reading(arrays),
        feature_names=_feature_names(arrays),
    )


def _own_name(arrays: Arrays) -> str:
    name = arrays.get("name", np.array(""))
    if name.shape != () or name.dtype.kind != "U":
        raise InputError(f"name is {name.dtype} of shape {name.shape}: give one text")
    text = str(name)
    if len(text) > LONGEST_CLASS:
        raise InputError(f"name has {len(text):,} characters: give at most {LONGEST_CLASS:,}")
    return text


def _feature_names(arrays: Arrays) -> tuple[str, ...] | None:
    names = from_arrays("feature_names", arrays)
    if names is not None and names.dtype == object:
        return tuple(names.tolist())
    if names is not None and (names.ndim != 1 or names.dtype.kind != "U"):
        raise InputError(f"feature_names is {names.dtype} of shape {names.shape}: give one text per column")
    return None if names is None else tuple(names.tolist())


def _reading(arrays: Arrays) -> Reading | None:
    if "reading" not in arrays:
        return None
    import torch

    start = "reading/"
    own = {key: torch.from_numpy(part) for key, part in arrays.items() if key.startswith(start)}
    try:
        values = json.loads(str(arrays["reading"]))
        return Reading.from_parts(values, {key.removeprefix(start): part for key, part in own.items()})
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"reading is damaged ({error}): write the file again") from error


def _masks(arrays: Arrays, pattern: str, shape: tuple[int | None, ...]) -> list[npt.NDArray[np.bool_]]:
    """Return the three masks named by ``pattern``, or none; ``None`` in ``shape`` stands for any length."""
    names = [pattern.format(part) for part in _PARTS]
    present = [name for name in names if name in arrays]
    if not present:
        return []
    if len(present) < 3:
        raise InputError(
            f"of the masks {', '.join(names)} the file has only {', '.join(present)}: give all or none"
        )
    masks = [arrays[name] for name in names]
    for name, mask in zip(names, masks, strict=True):
        fits = mask.ndim == len(shape) and all(
            expected in (None, size) for size, expected in zip(mask.shape, shape, strict=True)
        )
        if mask.dtype != bool or not fits:
            expected = ", ".join("S" if size is None else str(size) for size in shape)
            raise InputError(
                f"{name} is {mask.dtype} of shape {mask.shape}: give booleans of shape ({expected})"
            )
    return masks


def _feature_arrays(x: Any) -> dict[str, npt.NDArray[Any]]:
    if not sp.issparse(x):
        return {"x": x}
    data = x.data
    as_bytes = data.astype(np.uint8) if data.size and data.min() >= 0 and data.max() <= 255 else data
    return {
        "x_data": as_bytes if np.array_equal(as_bytes, data) else data,  # word counts fit in a byte each
        "x_indices": x.indices.astype(np.int32),
        "x_indptr": x.indptr.astype(np.int64),
        "x_shape": np.array(x.shape, dtype=np.int64),
    }


def _mask_arrays(graph: Graph) -> dict[str, npt.NDArray[Any]]:
    splits = graph.fixed_splits
    arrays: dict[str, npt.NDArray[Any]] = {}
    if splits and splits[-1].kind == PUBLIC:
        for part in _PARTS:
            arrays[f"public_{part}_mask"] = _mask(getattr(splits[-1], part), graph.num_nodes)
        splits = splits[:-1]
    if splits:
        for part in _PARTS:
            arrays[f"{part}_masks"] = np.stack([_mask(getattr(s, part), graph.num_nodes) for s in splits])
        kinds = [split.kind if split.kind in GIVEN else FIXED for split in splits]
        arrays |= {"split_kinds": np.array(kinds)} if set(kinds) != {FIXED} else {}
    return arrays


def _mask(indices: IntArray, n: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[indices] = True
    return mask
