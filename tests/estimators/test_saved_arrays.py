import pytest
import torch

from otherhalf.estimators.saved_arrays import saved_indices, saved_labels


@pytest.mark.parametrize("values", [[0, 4], [-1, 2], [0.0, 1.0]])
def test_numbers_out_of_range_and_numbers_that_are_not_whole(values):
    with pytest.raises(ValueError, match="not from 0 to 3"):
        saved_indices({"nodes": torch.tensor(values)}, "nodes", 4)


def test_indices_as_they_were():
    found = saved_indices({"nodes": torch.tensor([3, 0], dtype=torch.int32)}, "nodes", 4)
    assert found.tolist() == [3, 0]
    assert found.dtype == "int64"


def labels(nodes, codes):
    return {"labels/nodes": torch.tensor(nodes), "labels/codes": torch.tensor(codes)}


def test_labels_as_they_were():
    nodes, codes = saved_labels(labels([2, 5], [1, 0]), known=6, classes=2)
    assert (nodes.tolist(), codes.tolist()) == ([2, 5], [1, 0])


@pytest.mark.parametrize(("nodes", "codes"), [([2, 5], [1]), ([2, 2], [1, 0])])
def test_labels_that_do_not_fit_their_nodes(nodes, codes):
    with pytest.raises(ValueError, match="do not fit"):
        saved_labels(labels(nodes, codes), known=6, classes=2)
