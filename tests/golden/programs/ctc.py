"""Connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, raised, runs, values

LENGTHS = np.int32([6, 5, 4, 3])


def _labels(tf: Any, rows: list[list[int]]) -> Any:
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(np.array(places), np.int32([x for row in rows for x in row]), [len(rows), max(map(len, rows))])


@program("N: tf.nn.ctc_loss and its gradient")
def loss(tf: Any) -> Outcome:
    x, swapped = tf.placeholder(tf.float32, [6, 4, 5], name="x"), tf.placeholder(tf.float32, [4, None, 5], name="swapped")
    lengths = tf.placeholder(tf.int32, [4])
    labels = _labels(tf, [[0, 1, 1], [2], [3, 3], [0, 1, 2]])
    made = [
        tf.nn.ctc_loss(labels, x, lengths),
        tf.nn.ctc_loss(labels, x, lengths, preprocess_collapse_repeated=True),
        tf.nn.ctc_loss(labels, logits=x, sequence_length=lengths, ctc_merge_repeated=False),
        tf.nn.ctc_loss(labels, swapped, lengths, time_major=False),
        tf.nn.ctc_loss(
            _labels(tf, [[1], [0, 1, 2, 3, 0, 1], [1, 1, 1, 1], [2, 4]]), x, lengths, ignore_longer_outputs_than_inputs=True
        ),
    ]
    for one in list(made):
        made += [g for g in tf.gradients(one, [x, swapped]) if g is not None]
    given = 2 * values("x", 6, 4, 5)
    refused = [raised(lambda: tf.nn.ctc_loss([[1]], x, lengths))]
    return runs(Run(made, {x: given, swapped: given.swapaxes(0, 1), lengths: LENGTHS}, rtol=1e-4), refused=refused)


@program("N: CTC decoders")
def decoders(tf: Any) -> Outcome:
    x, lengths = tf.placeholder(tf.float32, [6, 4, 5], name="x"), tf.placeholder(tf.int32, [4])
    decoded = [
        tf.nn.ctc_greedy_decoder(x, lengths),
        tf.nn.ctc_greedy_decoder(x, lengths, merge_repeated=False),
        tf.nn.ctc_beam_search_decoder(x, lengths, beam_width=4, top_paths=2),
        tf.nn.ctc_beam_search_decoder(x, lengths, top_paths=3, merge_repeated=False),
        tf.nn.ctc_beam_search_decoder_v2(x, lengths, beam_width=3),
    ]
    made = [part for paths, score in decoded for one in [*paths] for part in (one.indices, one.values, one.dense_shape)]
    return runs(Run([*made, *[score for _, score in decoded]], {x: 3 * values("x", 6, 4, 5), lengths: LENGTHS}))


@program("N: labels for CTC")
def labels(tf: Any) -> Outcome:
    x, lengths = tf.placeholder(tf.int32, [3, 5], name="x"), tf.placeholder(tf.int32, [3])
    made = [*tf.nn.collapse_repeated(x, lengths), *tf.nn.ctc_unique_labels(x)]
    rows = np.int32([[1, 1, 2, 2, 1], [1, 1, 1, 1, 1], [1, 2, 3, 0, 0]])
    return runs(Run(made, {x: rows, lengths: np.int32([5, 4, 3])}))
