"""A graph that is built again takes the parameters of one that was trained, and is asked for predictions.

2017/4/1, notes 1 and 2. The checkpoint is `net.ckpt`.

Prints:

    the same prediction: True of 3 classes; sum 1.000
"""

import numpy as np

import tfexp as tf


def network() -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    inputs, keep = tf.placeholder(tf.float32, [None, 2], name="inputs"), tf.placeholder(tf.float32, [], name="keep")
    w, b = tf.get_variable("w", [2, 3]), tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    logits = tf.nn.xw_plus_b(tf.nn.dropout(inputs, keep), w, b)
    return inputs, keep, tf.nn.softmax(logits)


graph = tf.Graph()
with graph.as_default(), tf.Session() as sess:
    inputs, keep, prediction = network()
    sess.run(tf.global_variables_initializer())
    trained = prediction.eval({inputs: [[1.0, 2.0]], keep: 1.0})
    tf.train.Saver().save(sess, "./net.ckpt")

graph = tf.Graph()
with graph.as_default():
    inputs, keep, prediction = network()
    with tf.Session(graph=graph) as sess:
        tf.train.Saver().restore(sess, "./net.ckpt")
        found = prediction.eval({inputs: [[1.0, 2.0]], keep: 1.0})
print("the same prediction:", np.array_equal(trained, found), "of", found.size, "classes; sum", f"{found.sum():.3f}")
