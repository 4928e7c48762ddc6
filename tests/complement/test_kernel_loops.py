"""Kernels in one pass over a tile, against the formula and against the steps of small graphs."""

import numpy as np
import pytest
import torch
from tests.complement.test_kernels import random_descriptions

from otherhalf.complement import kernels
from otherhalf.complement.kernel_loops import add_kernel
from otherhalf.complement.kernels import Kernel, Similarities
from otherhalf.nn.ops import compiled

MIXTURE = (Kernel("features", 0.5, 3.0, 0.7, 0.2), Kernel("two_steps", 0.5, 1.0, 0.0, 0.4))


def formula(cosines, own, others, factors):
    weight, sharpness, features, neighbours = factors
    m, d = (np.subtract.outer(a.astype(float), b.astype(float)) for a, b in zip(own, others, strict=True))
    return weight * np.exp(sharpness * (cosines.astype(float) - 1) - features * m**2 - neighbours * d**2)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_kernel_is_the_formula(threads, monkeypatch):
    rng = np.random.default_rng(0)
    cosines = rng.uniform(-1, 1, (33, 50)).astype(np.float32)
    own, others = (tuple(rng.uniform(0, 6, (2, n)).astype(np.float32)) for n in (33, 50))
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 1)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        total = np.full((33, 60), 7, dtype=np.float32)
        for first, factors in ((True, (0.5, 2.0, 0.3, 0.1)), (False, (0.25, 40.0, 0.0, 0.0))):
            add_kernel(cosines, total, 4, own, others, factors, first=first)
    finally:
        torch.set_num_threads(before)
    expected = formula(cosines, own, others, (0.5, 2.0, 0.3, 0.1))
    expected += formula(cosines, own, others, (0.25, 40.0, 0.0, 0.0))
    np.testing.assert_allclose(total[:, 4:54], expected, rtol=2e-5, atol=1e-30)
    assert (total[:, :4] == 7).all()
    assert (total[:, 54:] == 7).all()


def test_what_is_too_small_for_a_number_is_zero():
    cosines = np.array([[1, 0.5, 0, -1]], dtype=np.float32)
    zero, total = (np.zeros(4, dtype=np.float32),) * 2, np.empty((1, 4), dtype=np.float32)
    add_kernel(cosines, total, 0, (zero[0][:1],) * 2, zero, (1.0, 100.0, 0.0, 0.0), first=True)
    assert total[0, 0] == 1
    assert total[0, 1] == pytest.approx(np.exp(-50), rel=1e-5)
    assert total[0, 2:].tolist() == [0, 0]


def test_large_graphs_have_the_kernels_of_small_ones(monkeypatch):
    descriptions = random_descriptions(0, 60)
    nodes, columns = np.arange(5, 40), np.arange(0, 60, 3)
    steps = Similarities(MIXTURE, descriptions, columns).block(nodes)
    monkeypatch.setattr(kernels, "LARGE", 59)
    monkeypatch.setattr(kernels, "TILE_COLUMNS", 7)
    monkeypatch.setattr(kernels, "TILE", 40)
    one_pass = Similarities(MIXTURE, descriptions, columns).block(nodes)
    torch.testing.assert_close(one_pass, steps, rtol=1e-5, atol=1e-7)
    assert not torch.equal(one_pass, steps)  # it did take the other way
    for node in (5, 39):  # alone as among others
        alone = Similarities(MIXTURE, descriptions, columns).block(np.array([node]))
        assert torch.equal(alone[0], one_pass[node - 5])
    monkeypatch.setattr(kernels, "LARGE", 60)
    assert torch.equal(Similarities(MIXTURE, descriptions, columns).block(nodes), steps)
