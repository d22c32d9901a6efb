"""CTC: the loss and the decoders against all alignments, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError

TIME, BATCH, CLASSES = 5, 3, 4
BLANK = CLASSES - 1
LENGTHS = np.int32([5, 3, 4])
ROWS = [[0, 1, 1], [2], [0, 2]]
INDICES = np.array([[i, j] for i, row in enumerate(ROWS) for j in range(len(row))])
VALUES = np.int32([x for row in ROWS for x in row])


def collapsed(path, merge=True):
    kept = [c for i, c in enumerate(path) if not (merge and i and path[i - 1] == c)]
    return tuple(c for c in kept if c != BLANK)


def by_labels(logits, length):
    """The log probability of every sequence of labels."""
    shares = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    found = {}
    for path in itertools.product(range(CLASSES), repeat=length):
        score = sum(shares[t, c] for t, c in enumerate(path))
        key = collapsed(path)
        found[key] = np.logaddexp(found.get(key, -np.inf), score)
    return found


def losses(logits):
    found = [-by_labels(logits[:, i].astype(np.float64), n)[tuple(ROWS[i])] for i, n in enumerate(LENGTHS)]
    return np.array(found, logits.dtype)


def loss_reference(logits, *others):
    """The gradient by central differences."""
    wide = logits.astype(np.float64)
    gradient = np.zeros_like(wide)
    for place in np.ndindex(wide.shape):
        step = np.zeros_like(wide)
        step[place] = 1e-5
        i = place[1]
        up, down = (-by_labels((wide + s)[:, i], LENGTHS[i])[tuple(ROWS[i])] for s in (step, -step))
        gradient[place] = (up - down) / 2e-5
    return losses(logits), gradient.astype(logits.dtype)


def sparse(rows):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [x for row in rows for x in row]
    return np.array(indices).reshape(-1, 2), np.array(values), np.array([len(rows), max(map(len, rows))])


def greedy(merge):
    def reference(logits, lengths):
        best = [collapsed(logits[:n, i].argmax(-1).tolist(), merge) for i, n in enumerate(lengths)]
        scores = np.array([[-logits[:n, i].max(-1).sum()] for i, n in enumerate(lengths)])
        return (*sparse(best), scores.astype(logits.dtype))

    return reference


def beams(count):
    def reference(logits, lengths):
        found = [by_labels(logits[:, i].astype(np.float64), n) for i, n in enumerate(lengths)]
        best = [sorted(one, key=one.__getitem__, reverse=True)[:count] for one in found]
        scores = np.array([[one[key] for key in keys] for one, keys in zip(found, best)])
        paths = [sparse([keys[k] for keys in best]) for k in range(count)]
        return [part for i in range(3) for part in [path[i] for path in paths]] + [scores.astype(logits.dtype)]

    return reference


LABELS = [INDICES, VALUES, LENGTHS]
X = (TIME, BATCH, CLASSES)


def refused(text, indices=INDICES, values=VALUES, lengths=LENGTHS):
    return Error([X, np.asarray(indices), np.int32(values), np.int32(lengths)], InvalidArgumentError, text)


LOSS_ERRORS = [
    refused("sequence_length(2) <= 5", lengths=[5, 3, 6]),
    refused("Not enough time for target transition sequence (required: 3, available: 2)0", lengths=[2, 3, 4]),
    refused("Labels length is zero in batch 2", [[0, 0], [1, 0]], [1, 1]),
    refused("All labels must be nonnegative integers, batch: 1 labels: -1", [[0, 0], [1, 0], [2, 0]], [1, -1, 1]),
    refused("Saw a non-null label", [[0, 0], [0, 1], [1, 0], [2, 0]], [3, 1, 1, 1]),
    refused("labels batch index must be between 0 and 3 but saw: 3", [[3, 0]], [1]),
    Error([(5, 0, 4), np.zeros((0, 2), np.int64), *[np.zeros(0, np.int32)] * 2], InvalidArgumentError, "must not be 0"),
    Error([(5, 3), *LABELS], ValueError, "Shape must be rank 3 but is rank 2"),
    Error([X, INDICES, VALUES, LENGTHS[:2]], ValueError, "Dimensions must be equal, but are 3 and 2"),
]
DECODER_ERRORS = [
    Error([X, np.int32([5, 3, 6])], FailedPreconditionError, "sequence_length(2) <= 5"),
    Error([(5, 3), LENGTHS], ValueError, "Shape must be rank 3 but is rank 2"),
    Error([X, LENGTHS[:2]], ValueError, "Dimensions must be equal, but are 3 and 2"),
]
FLOATS = ["float32", "float64"]
CASES = [
    # The gradient is what the row's reference computes; TensorFlow has no second one.
    OpCase("CTCLoss", [X, *LABELS], loss_reference, dtypes=FLOATS, numeric=False, tolerance=1e-4, errors=LOSS_ERRORS),
    *[
        OpCase(
            "CTCGreedyDecoder",
            [X, LENGTHS],
            greedy(merge),
            {"merge_repeated": merge},
            dtypes=FLOATS,
            label=f"merge {merge}",
            errors=DECODER_ERRORS,
            gradient=(),
            static_shape=[[None, 2], [None], [2], [BATCH, 1]],
        )
        for merge in (True, False)
    ],
    OpCase(
        "CTCBeamSearchDecoder",
        [X, LENGTHS],
        beams(3),
        {"beam_width": 500, "top_paths": 3, "merge_repeated": False},
        dtypes=FLOATS,
        errors=[
            *DECODER_ERRORS,
            Error([X, LENGTHS], InvalidArgumentError, "requested more paths than the beam width.", {"beam_width": 2}),
            Error([(1, 3, 2), np.int32([1, 1, 1])], InvalidArgumentError, "Less leaves in the beam search than requested."),
        ],
        gradient=(),
        static_shape=[*[[None, 2]] * 3, *[[None]] * 3, *[[2]] * 3, [BATCH, 3]],
    ),
]
test_rows = op_tests(CASES)


def test_gradient_and_no_second_one() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, X)
        loss = tf.nn.ctc_loss(tf.SparseTensor(INDICES, VALUES, [3, 3]), x, LENGTHS)
        (gradient,) = tf.gradients(loss, x, grad_ys=tf.constant([1.0, 2.0, -3.0], tf.float64))
        given = np.random.default_rng(3).normal(size=X)
        found = session.run(gradient, {x: given})
        with pytest.raises(LookupError, match="Gradient explicitly disabled"):
            tf.gradients(gradient, x)
    np.testing.assert_allclose(found, loss_reference(given)[1] * [[[1.0], [2.0], [-3.0]]], atol=1e-6)


def test_no_loss_where_time_is_too_short() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.random.default_rng(3).normal(size=X))
        labels = tf.SparseTensor(INDICES, VALUES, [3, 3])
        loss = tf.nn.ctc_loss(labels, x, [2, 3, 4], ignore_longer_outputs_than_inputs=True)
        found, gradient = session.run([loss, tf.gradients(loss, x)[0]])
    assert found[0] == 0
    assert not gradient[:, 0].any()
    assert found[1:].all()


@pytest.mark.parametrize("sparse_labels", [True, False])
def test_blank_where_one_likes(sparse_labels: bool) -> None:
    """ctc_loss_v2 with the blank in front is ctc_loss with the blank behind."""
    logits = np.random.default_rng(5).normal(size=X)
    shifted = np.concatenate([logits[..., -1:], logits[..., :-1]], axis=-1)
    with tf.Graph().as_default(), tf.Session() as session:
        wanted = tf.nn.ctc_loss(tf.SparseTensor(INDICES, VALUES, [3, 3]), logits, LENGTHS)
        labels = tf.SparseTensor(INDICES, VALUES + 1, [3, 3]) if sparse_labels else [[1, 2, 2], [3, 0, 0], [1, 3, 0]]
        found = tf.nn.ctc_loss_v2(labels, shifted, [3, 1, 2], LENGTHS, blank_index=0 if sparse_labels else None)
        np.testing.assert_allclose(*session.run([found, wanted]), rtol=1e-9)
        with pytest.raises(ValueError, match="blank_index must be given when using SparseTensor labels"):
            tf.nn.ctc_loss_v2(tf.SparseTensor(INDICES, VALUES, [3, 3]), shifted, None, LENGTHS)


def test_decoders_know_the_batch_by_the_lengths() -> None:
    logits = tf.placeholder(tf.float32)
    assert tf.nn.ctc_greedy_decoder(logits, [5, 4])[1].shape.as_list() == [2, 1]
    assert tf.nn.ctc_beam_search_decoder(logits, [5, 4], beam_width=3, top_paths=2)[1].shape.as_list() == [2, 2]


@pytest.mark.parametrize("blank_index", [0, -1])
def test_dense_loss_of_unknown_shapes(blank_index: int) -> None:
    values = np.random.default_rng(3).normal(size=(5, 2, 3)).astype(np.float32)
    labels = [[1, 2], [1, 0]] if blank_index == 0 else [[0, 1], [1, 0]]
    logits, given = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    known = tf.nn.ctc_loss_v2(labels, values, [2, 1], [5, 4], blank_index=blank_index)
    unknown = tf.nn.ctc_loss_v2(given, logits, [2, 1], [5, 4], blank_index=blank_index)
    with tf.Session() as session:
        wanted, found = session.run([known, unknown], {logits: values, given: labels})
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_unique_labels_are_a_list() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.nn.ctc_unique_labels([[3, 5, 3], [2, 2, 2]])
        assert isinstance(found, list)
        unique, where = session.run(found)
    assert (unique.tolist(), where.tolist()) == ([[3, 5, 0], [2, 0, 0]], [[0, 1, 0], [0, 0, 0]])


def test_a_beam_that_others_overtake_before_its_turn_is_forgotten():
    """Numbers of TensorFlow 1.15.0 and 2.21: at the second step nothing comes behind [2], though [2, 0] would."""
    logits = np.float32([[[-1.7, -2.1, -1.3, -0.8]], [[-0.8, -1.1, -3.6, -1.7]], [[-1.2, -1.8, -0.8, -2.7]]])
    with tf.Graph().as_default(), tf.Session() as session:
        paths, scores = session.run(tf.nn.ctc_beam_search_decoder(logits, [3], 3, 3, merge_repeated=False))
    assert [path.values.tolist() for path in paths] == [[0, 2], [0], [1, 2]]
    np.testing.assert_allclose(scores, [[-1.9494363, -2.0298028, -2.7017014]], rtol=1e-5)


def test_beams_of_no_rows():
    with tf.Graph().as_default(), tf.Session() as session:
        lengths = np.zeros(0, np.int32)
        (path,), scores = session.run(tf.nn.ctc_beam_search_decoder(np.zeros((5, 0, 3), np.float32), lengths, 3, 1))
    assert path.indices.shape == (0, 2)
    assert scores.shape == (0, 1)


def test_dense_labels_and_lengths_are_of_any_integers():
    logits = np.random.RandomState(3).rand(6, 2, 5).astype(np.float32)
    losses = []
    for dtype in (np.int32, np.int64):
        labels, longest = np.array([[1, 2, 2], [3, 1, 0]], dtype), np.array([3, 2], dtype)
        losses.append(tf.nn.ctc_loss_v2(labels, logits, longest, np.array([6, 5], dtype)))
    with tf.Session() as session:
        first, second = session.run(losses)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, [6.01378, 4.2174067], rtol=1e-6)
