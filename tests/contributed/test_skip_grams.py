"""Skip-grams: vocabularies, subsampling, batches."""

import numpy as np
import pytest

import tfexp as tf
from tests.contributed.draining import drained

text = tf.contrib.text


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def vocabulary(tmp_path):
    file = tmp_path / "vocabulary.csv"
    file.write_text("a,x,10\nb,y,20\nc,z,300\nd,q,1\n")
    return str(file)


def pairs(tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [(t.decode(), lab.decode()) for t, lab in zip(*session.run(tensors), strict=True)]


def test_every_word_with_those_beside_it():
    assert pairs(text.skip_gram_sample(["the", "quick", "fox"], 1, 1)) == [
        ("the", "quick"), ("quick", "the"), ("quick", "fox"), ("fox", "quick")
    ]  # fmt: skip


def test_words_that_are_rare_or_unknown_are_left_out(vocabulary):
    found = text.skip_gram_sample_with_text_vocab(
        tf.constant(["a", "?", "d", "b"]), vocabulary, vocab_freq_index=2, vocab_min_count=10, min_skips=1, max_skips=1
    )
    assert pairs(found) == [("a", "b"), ("b", "a")]


def test_frequent_words_are_left_out_now_and_then(vocabulary):
    tokens = tf.constant(["c", "d"] * 500)
    found = text.skip_gram_sample_with_text_vocab(
        tokens, vocabulary, vocab_freq_index=2, vocab_subsampling=0.01, min_skips=0, max_skips=0,
        emit_self_as_target=True, seed=5,
    )  # fmt: skip
    kept = [token for token, _ in pairs(found)]
    share = 0.01 * 331 / 300
    assert kept.count("d") == 500 and kept.count("c") / 500 == pytest.approx(share + np.sqrt(share), abs=0.05)


def test_batches_are_of_one_size():
    words = tf.train.limit_epochs(tf.constant(["p", "q", "r"]), 2)
    tokens, labels = text.skip_gram_sample(words, 1, 1, batch_size=4)
    assert tokens.shape == labels.shape == [4]
    assert [t.tolist() for t, _ in drained([tokens, labels])] == [[b"p", b"q", b"q", b"r"]] * 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vocab_min_count": 3}, "vocab_freq_table is not provided"),
        ({"vocab_freq_table": {}, "corpus_size": 3}, "both are needed"),
        ({"vocab_freq_table": {}}, "a table with an initializer"),
    ],
)
def test_arguments_that_need_others(given, message):
    with pytest.raises(ValueError, match=message):
        text.skip_gram_sample(["a"], **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vocab_token_index": -1}, "must both be >= 0"),
        ({"vocab_freq_index": 0}, "should be different"),
        ({"vocab_freq_index": 3}, "out of bounds"),
        ({"vocab_freq_index": 2, "corpus_size": 10}, "must be greater than or equal"),
        ({"vocab_freq_index": 2, "vocab_subsampling": 2.0}, r"within range \[0, 1\]"),
    ],
)
def test_vocabularies_that_are_refused(vocabulary, given, message):
    with pytest.raises(ValueError, match=message):
        text.skip_gram_sample_with_text_vocab(["a"], vocabulary, **given)
