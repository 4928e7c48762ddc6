"""find_missing_half: the same half as a fit's, and one clear sentence for wrong settings."""

import numpy as np
import pytest

from otherhalf import GOALClassifier, InputError, find_missing_half, split
from otherhalf.complement.settings import ComplementSettings, EncoderSettings
from otherhalf.data.synthetic import contextual_sbm

GRAPH = contextual_sbm(num_nodes=100, num_classes=3, num_features=5, homophily=0.1, seed=0)
PARTS = split(GRAPH, seed=0)


def test_the_half_is_the_one_of_a_fit():
    half = find_missing_half(GRAPH, PARTS, seed=3)
    model = GOALClassifier(seed=3, epochs=1).fit(GRAPH, PARTS)
    assert np.array_equal(half.pairs, model.missing_half_.pairs)
    assert (half.kind, half.k, half.encoder) == (
        model.missing_half_.kind,
        model.missing_half_.k,
        model.missing_half_.encoder,
    )
    assert {"diagnose", "search", "total"} <= set(half.seconds)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"settings": ComplementSettings(k_homophily=0)}, "k must be an integer ≥ 1, not 0"),
        (
            {"settings": ComplementSettings(encoder=EncoderSettings(kind="cnn"))},
            "encoder must be one of auto",
        ),
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
