from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.data.formats.test_old_pickle import dump

from otherhalf.data.formats.geom_gcn import split_file
from otherhalf.data.formats.planetoid import read_planetoid
from otherhalf.errors import InputError


def _tiny(folder: Path) -> None:
    """Six nodes: 0-2 in allx (0 trains), 5 and 3 tested in that order, and 4 in nobody's list."""
    allx = sp.csr_matrix(np.array([[1.0, 0], [0, 1], [1, 1]]))
    tx = sp.csr_matrix(np.array([[0.0, 5], [3, 0]]))
    neighbours = defaultdict(list, {0: [1, 1, 2], 1: [0], 2: [0, 2], 3: [5], 4: [], 5: [3]})
    parts = {
        "x": allx[:1],
        "y": np.array([[1, 0]]),
        "allx": allx,
        "ally": np.array([[1, 0], [0, 1], [1, 0]]),
        "tx": tx,
        "ty": np.array([[0, 1], [1, 0]]),
        "graph": neighbours,
    }
    for part, value in parts.items():
        dump(folder / f"ind.tiny.{part}", value)
    (folder / "ind.tiny.test.index").write_text("5\n3\n")
    for i in range(10):
        masks = {f"{part}_mask": np.zeros(6, dtype=bool) for part in ("train", "val", "test")}
        masks["train_mask"][[0, 4]] = masks["val_mask"][1] = masks["test_mask"][5] = True
        np.savez(folder / split_file("tiny", i), **masks)


def test_test_rows_go_to_their_nodes_and_the_gap_stays_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("otherhalf.data.formats.planetoid.PUBLIC_VALIDATION", 2)
    _tiny(tmp_path)
    graph = read_planetoid(tmp_path, "tiny")
    assert graph.x.toarray().tolist() == [[1, 0], [0, 1], [1, 1], [3, 0], [0, 0], [0, 5]]
    assert graph.y.tolist() == [0, 1, 0, 0, -1, 1]
    assert graph.edges.T.tolist() == [[0, 1], [0, 2], [3, 5]]
    assert graph.dropped_self_loops == 1
    assert [split.kind for split in graph.fixed_splits] == ["fixed"] * 10 + ["public"]
    assert graph.fixed_splits[0].train.tolist() == [0]  # node 4 has no label
    public = graph.fixed_splits[-1]
    assert [public.train.tolist(), public.val.tolist(), public.test.tolist()] == [[0], [1, 2], [3, 5]]


@pytest.mark.parametrize(
    ("part", "message"), [("allx", "no sparse matrix"), ("ally", "no one-hot labels"), ("graph", "no lists")]
)
def test_a_file_in_the_place_of_another(tmp_path: Path, part: str, message: str) -> None:
    _tiny(tmp_path)
    dump(tmp_path / f"ind.tiny.{part}", [1, 2])
    with pytest.raises(InputError, match=message):
        read_planetoid(tmp_path, "tiny")


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("5\n3\n2\n", "do not fit together: 3 rows of allx .* 3 test nodes"),
        ("5\n300000000000\n", "do not fit together"),
        ("5\n5\n", "no list of nodes"),
        ("5 3\n2 1\n", "no list of nodes"),
        ("5\nx\n", "no list of nodes"),
        ("-1\n3\n", "no list of nodes"),
    ],
)
def test_a_damaged_list_of_test_nodes(tmp_path: Path, listed: str, message: str) -> None:
    _tiny(tmp_path)
    (tmp_path / "ind.tiny.test.index").write_text(listed)
    with pytest.raises(InputError, match=message):
        read_planetoid(tmp_path, "tiny")


def test_the_real_citeseer_has_its_traps(data_dir: Path, tmp_path: Path) -> None:
    raw = data_dir / "raw"
    if not raw.is_dir():
        pytest.skip("raw files absent: set OTHERHALF_DATA to a folder with raw/")
    for path in [*raw.glob("Planetoid/CiteSeer/raw/ind.*"), *raw.glob("geom_gcn_splits/citeseer_*")]:
        (tmp_path / path.name).symlink_to(path)
    graph = read_planetoid(tmp_path, "citeseer")
    unlabelled = np.flatnonzero(graph.y == -1)
    assert len(unlabelled) == 15
    assert graph.x[unlabelled].nnz == 0
    assert len(graph.isolated) == 48
    public = graph.fixed_splits[-1]
    assert (len(public.train), len(public.val), len(public.test)) == (120, 500, 1000)
    for split in graph.fixed_splits:
        assert not np.isin(np.concatenate([split.train, split.val, split.test]), unlabelled).any()
