"""find_missing_half: the same half as a fit's, and one clear sentence for wrong settings."""

import numpy as np
import pytest

from otherhalf import GOALClassifier, InputError, find_missing_half, split
from otherhalf.complement.settings import ComplementSettings, EncoderSettings, KernelSettings
from otherhalf.data.synthetic import contextual_sbm

GRAPH = contextual_sbm(num_nodes=100, num_classes=3, num_features=5, homophily=0.1, seed=0)
PARTS = split(GRAPH, seed=0)


@pytest.mark.parametrize(("method", "stages"), [("embedding", {"search"}), ("kernel", {"choose", "spread"})])
def test_the_half_is_the_one_of_a_fit(method, stages):
    half = find_missing_half(GRAPH, PARTS, seed=3, method=method)
    options = {"plain": 0, "trees": False, "folds": 1}
    model = GOALClassifier(seed=3, epochs=1, method=method, ensemble=options).fit(GRAPH, PARTS)
    assert half.method == method
    assert np.array_equal(half.pairs, model.missing_half_.pairs)
    assert (half.kind, half.k, half.encoder) == (
        model.missing_half_.kind,
        model.missing_half_.k,
        model.missing_half_.encoder,
    )
    assert {"diagnose", "total"} | stages <= set(half.seconds)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"settings": ComplementSettings(k_homophily=0)}, "k must be an integer ≥ 1, not 0"),
        (
            {"settings": ComplementSettings(encoder=EncoderSettings(kind="cnn"))},
            "encoder must be one of auto",
        ),
        ({"settings": KernelSettings(k=0)}, "k must be an integer ≥ 1, not 0"),
        ({"settings": {"k": 3}}, "settings must be KernelSettings or ComplementSettings, not dict"),
        (
            {"settings": KernelSettings(), "method": "embedding"},
            "KernelSettings are not settings of the method embedding: leave one out",
        ),
        ({"method": "magic"}, "method must be one of kernel, embedding, not 'magic'"),
        ({"follow": "me"}, "follow must be one of ks, labels, homophily, heterophily, not 'me'"),
        ({"preset": "worst"}, "preset must be one of best, paper, not 'worst'"),
        ({"device": "tpu"}, "the device 'tpu' cannot be used here"),
    ],
)
def test_wrong_settings(options, sentence):
    """k=0 gave an empty half, and an unknown encoder a KeyError."""
    steps = []
    with pytest.raises(InputError, match=sentence):
        find_missing_half(GRAPH, PARTS, on_step=lambda *step: steps.append(step), **options)
    assert steps == []


def test_progress():
    steps = []
    settings = ComplementSettings(encoder=EncoderSettings(kind="mlp"))
    find_missing_half(GRAPH, PARTS, settings=settings, on_step=lambda *step: steps.append(step))
    assert list(dict.fromkeys(stage for stage, *_ in steps)) == ["encoder-mlp", "head", "search"]


def test_the_default_is_the_kernel_and_the_paper_preset_the_embedding():
    assert find_missing_half(GRAPH, PARTS).method == "kernel"
    assert find_missing_half(GRAPH, PARTS, settings=ComplementSettings()).method == "embedding"


@pytest.mark.parametrize(("homophily", "kind"), [(0.95, "heterophily"), (0.05, "homophily")])
def test_the_labels_decide_which_half_is_missing(homophily, kind):
    graph = contextual_sbm(num_nodes=200, num_classes=3, num_features=5, homophily=homophily, seed=1)
    parts = split(graph, seed=0)
    half = find_missing_half(graph, parts)
    assert half.kind == kind
    assert half.words.startswith("joined by " if kind == "homophily" else "joined for lack of ")
    share = half.homophily(graph.y, parts.test)
    assert share > 0.5 if kind == "homophily" else share < 0.34
