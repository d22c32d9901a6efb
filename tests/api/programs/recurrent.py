"""Recurrent networks of several kinds with clipped gradients."""

import numpy as np
import tensorflow as tf
from tensorflow.contrib import rnn

UNITS, RATE, LAYERS, KEEP = 4, 0.05, 2, 0.9
x = tf.placeholder(tf.float32, [None, 5, 3])
y = tf.placeholder(tf.int32, [None])
lengths = tf.placeholder(tf.int32, [None])


def cell():
    return rnn.DropoutWrapper(rnn.BasicLSTMCell(UNITS, forget_bias=1.0), output_keep_prob=KEEP)


outputs, _ = tf.nn.dynamic_rnn(rnn.MultiRNNCell([cell() for _ in range(LAYERS)]), x, lengths, dtype=tf.float32)
steps = tf.unstack(x, 5, 1)
static, _ = rnn.static_rnn(rnn.GRUCell(4), steps, dtype=tf.float32, scope="static")
both, _ = tf.nn.bidirectional_dynamic_rnn(rnn.LSTMCell(4), rnn.LSTMCell(4), x, dtype=tf.float32, sequence_length=lengths)
sides, _, _ = rnn.static_bidirectional_rnn(rnn.GRUCell(2), rnn.GRUCell(2), steps, dtype=tf.float32, scope="sides")
last = tf.concat([outputs[:, -1], static[-1], both[0][:, -1], sides[-1]], 1)
logits = tf.layers.dense(last, 4)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
variables = tf.trainable_variables()
gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
train = tf.train.AdamOptimizer(RATE).apply_gradients((g, v) for g, v in zip(gradients, variables) if g is not None)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    feeds = {x: np.random.RandomState(1).rand(7, 5, 3), y: [0, 1, 2, 3, 0, 1, 2], lengths: [5, 4, 3, 5, 2, 1, 5]}
    losses = [session.run([loss, train], feeds)[0] for _ in range(20)]
    assert losses[-1] < losses[0] and session.run(norm, feeds) > 0, losses
