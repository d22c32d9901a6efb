"""Cross-entropy in two steps and in one; with logits, of classes that exclude each other and of labels that do not.

2017/4/12, notes 10 and 11.

Prints:

    [[0.09003 0.24473 0.66524]
     [0.09003 0.24473 0.66524]
     [0.09003 0.24473 0.66524]]
    two steps: 1.22282
    one step:  1.22282
    sigmoid:   1.16293
"""

import tfexp as tf

logits = tf.constant([[1.0, 2.0, 3.0]] * 3)
labels = tf.constant([[0.0, 0.0, 1.0]] * 3)
softmax = tf.nn.softmax(logits)
two_steps = -tf.reduce_sum(labels * tf.log(softmax))
one_step = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=labels))
independent = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))
with tf.Session() as sess:
    print(sess.run(softmax).round(5))
    print("two steps:", f"{sess.run(two_steps):.5f}")
    print("one step: ", f"{sess.run(one_step):.5f}")
    print("sigmoid:  ", f"{sess.run(independent):.5f}")
