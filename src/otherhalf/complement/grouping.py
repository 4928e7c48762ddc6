"""The grouping loss (Section 4.2)."""

import torch
from torch import Tensor
from torch.nn import functional as F

EPSILON = 1e-8


def grouping_loss(z: Tensor, y: Tensor) -> Tensor:
    r"""Pull nodes of one class together and push classes apart, over all pairs at once.

    .. math::
        \mathcal{L}_{pos} &= -\log(\mathrm{sig}(m_P) + \epsilon), \quad
        m_P = \frac{1}{|P|}\sum_{(i,j) \in P} \mathbf{z}_i \cdot \mathbf{z}_j \\
        \mathcal{L}_{neg} &= -\log(1 - \mathrm{sig}(m_N + \epsilon)), \quad
        m_N = \frac{1}{|N|}\sum_{(i,j) \in N} \mathbf{z}_i \cdot \mathbf{z}_j

    with P the pairs :math:`i \ne j` of one class, N those of two classes, and
    :math:`\mathcal{L}_{grp} = \mathcal{L}_{pos} + \mathcal{L}_{neg}`.

    The mean is inside the sigmoid, so no list of pairs is needed. With :math:`\mathbf{s}_c` the sum of
    :math:`\mathbf{z}` over class c,

    .. math::
        \sum_P = \sum_c \|\mathbf{s}_c\|^2 - \sum_i \|\mathbf{z}_i\|^2, \qquad
        \sum_N = \|\sum_c \mathbf{s}_c\|^2 - \sum_c \|\mathbf{s}_c\|^2,

    exact over all ordered pairs in O(B·d) for B nodes of width d. A mean over no pairs (every class has one
    node; only one class) adds no loss.

    Args:
        z: ``[B, d]`` embeddings.
        y: ``[B]`` class codes.
    """
    classes, codes = torch.unique(y, return_inverse=True)
    sums = z.new_zeros(len(classes), z.shape[1]).index_add(0, codes, z)
    counts = torch.bincount(codes)
    within = (sums**2).sum()
    intra = within - (z**2).sum()
    inter = (sums.sum(dim=0) ** 2).sum() - within
    intra_pairs = int((counts * (counts - 1)).sum())
    inter_pairs = int(counts.sum() ** 2 - (counts**2).sum())
    loss = z.new_zeros(())
    if intra_pairs:
        loss = loss - torch.log(torch.sigmoid(intra / intra_pairs) + EPSILON)
    if inter_pairs:
        # 1 − sig(m) = sig(−m), whose logarithm stays finite for large m.
        loss = loss - F.logsigmoid(-(inter / inter_pairs + EPSILON))
    return loss
