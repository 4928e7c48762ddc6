"""Words of texts."""

import numpy as np
import pytest

from otherhalf.data.columns.hashing import buckets, stable_hashes
from otherhalf.data.columns.words import WIDTH, chunks, count_words, weighted


def matrix(*texts):
    return count_words(np.array(texts, dtype=object))


def bucket(word):
    return int(buckets(stable_hashes([word]), WIDTH)[0])


def test_counts_by_hand():
    counts = matrix("Red, red!\nBLUE", "", "blue")
    assert counts.shape == (3, WIDTH)
    assert counts.nnz == 3
    assert [counts[0, bucket("red")], counts[0, bucket("blue")], counts[2, bucket("blue")]] == [2, 1, 1]


def test_no_text_and_no_word():
    assert matrix().shape == (0, WIDTH)
    assert matrix("!!!", "").nnz == 0


def test_a_chinese_character_is_a_word():
    assert matrix("图图节 graph").nnz == 3


def test_rows_have_length_one():
    rows = weighted(matrix("a b b", "c", ""), np.ones(WIDTH, dtype=np.float32))
    assert np.sqrt(rows.multiply(rows).sum(axis=1)).A1.tolist() == pytest.approx([1, 1, 0])
    assert rows[0, bucket("b")] / rows[0, bucket("a")] == pytest.approx(1 + np.log(2))


def test_chunks_cover_all_texts():
    texts = np.full(45_000, "a", dtype=object)
    assert sum(len(texts[part]) for part in chunks(texts)) == 45_000
