"""Losses for many classes and for sequences: noise-contrastive estimation, and the cross-entropy of each sequence.

2017/4/13, notes 1 and 2. The sequence loss is `tf.contrib`'s.

Prints:

    nce: falls to less than half: True
    of each sequence: [0.1809 0.6931]
"""

import numpy as np

import tfexp as tf

random = np.random.RandomState(0)
words, width = 50, 4
embeddings = tf.Variable(random.randn(words, width).astype(np.float32))
weights, biases = tf.Variable(tf.zeros([words, width])), tf.Variable(tf.zeros([words]))
near = tf.nn.embedding_lookup(embeddings, [1, 2, 3])
loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels=[[2], [3], [4]], inputs=near, num_sampled=8, num_classes=words))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

logits = [tf.constant([[2.0, 1.0], [0.0, 0.0]]), tf.constant([[0.0, 3.0], [1.0, 1.0]])]
targets = [tf.constant([0, 1]), tf.constant([1, 0])]
ones = [tf.ones([2]), tf.ones([2])]
sequence = tf.contrib.legacy_seq2seq.sequence_loss_by_example(logits, targets, ones)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    first = sess.run(loss)
    for _ in range(100):
        sess.run(train)
    print("nce: falls to less than half:", sess.run(loss) < first / 2)
    print("of each sequence:", sess.run(sequence).round(4))
