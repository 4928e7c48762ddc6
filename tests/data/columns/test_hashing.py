"""Hashes that stay the same."""

import numpy as np

from otherhalf.data.columns.hashing import buckets, short_text, signs, stable_hashes

HASHES = [3405396810240292928, 3394012004367669963]


def test_a_hash_never_changes():
    assert stable_hashes(["a", "é"]).tolist() == HASHES


def test_no_texts():
    assert stable_hashes([]).shape == (0,)


def test_buckets_and_signs_are_spread():
    hashes = stable_hashes(str(i) for i in range(6400))
    assert np.bincount(buckets(hashes, 64), minlength=64).min() > 50
    assert set(np.unique(signs(hashes))) == {-1.0, 1.0}
    assert abs(signs(hashes).mean()) < 0.1


def test_a_long_text_is_cut_and_stays_distinct():
    assert short_text("abc") == "abc"
    first, second = short_text("x" * 100 + "a"), short_text("x" * 100 + "b")
    assert first != second
    assert len(first) < 70
