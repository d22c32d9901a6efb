"""Candidate samplers: their graphs, and TensorFlow's numbers for its seeds, from run to run."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("O10: candidate samplers")
def samplers(tf: Any) -> Outcome:
    tf.set_random_seed(11)
    true = tf.constant([[1, 3], [2, 0], [5, 2]], tf.int64)
    made = []
    for unique in (False, True):
        for sampler in (
            tf.nn.uniform_candidate_sampler,
            tf.nn.log_uniform_candidate_sampler,
            tf.nn.learned_unigram_candidate_sampler,
        ):
            for classes in (7, 8, 1000003):
                made.append(sampler(true, 2, 5, unique, classes, seed=classes % 13))
            made.append(sampler(true, 2, 97, unique, 101, name="many"))
    made.append(tf.nn.uniform_candidate_sampler(true, 2, 53, False, 2**62 + 2**61, seed=1))
    hits = tf.nn.compute_accidental_hits(true, tf.constant([2, 5, 3, 9, 2], tf.int64), 2)
    flat = [t for one in made for t in one]
    return runs(
        *[Run([*flat, *hits], rtol=3e-7, atol=0.0)] * 3,
        shapes=[str(t.shape) for t in (*made[0], *hits)],
        fields=[list(made[0]._fields), list(hits._fields)],
    )


@program("O10: losses over sampled classes")
def sampled_losses(tf: Any) -> Outcome:
    tf.set_random_seed(5)
    weights = tf.constant(values("weights", 11, 4))
    parts = [tf.constant(values("first", 6, 4)), tf.constant(values("second", 5, 4))]
    biases, x = tf.constant(values("biases", 11)), tf.placeholder(tf.float32, [3, 4])
    free, many = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int64, [None, 2])
    labels = tf.constant([[1], [2], [10]], tf.int64)
    with tf.name_scope("scope"):
        losses = [tf.nn.sampled_softmax_loss(weights, biases, labels, x, 5, 11, seed=3)]
    losses.append(tf.nn.nce_loss(weights, biases, tf.cast(labels, tf.int32), x, 7, 11))
    losses.append(tf.nn.nce_loss(parts, biases, labels, x, 7, 11, remove_accidental_hits=True, name="hits"))
    sampled = tf.nn.uniform_candidate_sampler(many, 2, 6, True, 11)
    losses.append(tf.nn.sampled_softmax_loss(weights, biases, many, free, 6, 11, 2, sampled, partition_strategy="div"))
    grads = tf.gradients(losses[:2], [weights, biases, x])
    dense = [tf.convert_to_tensor(g) for g in grads]
    fed = {x: values("x", 3, 4), free: values("free", 2, 4), many: [[1, 3], [4, 0]]}
    return runs(Run([*losses, *dense], fed), Run(losses, fed))
