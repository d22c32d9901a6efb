"""A convolutional classifier with flags, summaries, a traced step and regularized layers, as in tutorials."""

import os
import sys
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("max_steps", 3, "Number of steps.")
flags.DEFINE_float("learning_rate", 0.001, "Learning rate.")
flags.DEFINE_string("log_dir", None, "Where summaries go.")


def weight_variable(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1), name="weights")


def variable_summaries(variable):
    with tf.name_scope("summaries"):
        mean = tf.reduce_mean(variable)
        tf.summary.scalar("mean", mean)
        with tf.name_scope("stddev"):
            stddev = tf.sqrt(tf.reduce_mean(tf.square(variable - mean)))
        tf.summary.scalar("stddev", stddev)
        tf.summary.histogram("histogram", variable)


def main(_):
    folder = FLAGS.log_dir or tempfile.mkdtemp()
    if tf.gfile.Exists(folder):
        tf.gfile.DeleteRecursively(folder)
    tf.gfile.MakeDirs(folder)
    session = tf.InteractiveSession()
    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, [None, 144], name="x-input")
        labels = tf.placeholder(tf.int64, [None], name="y-input")
        image = tf.reshape(x, [-1, 12, 12, 1])
        tf.summary.image("input", image, 3)
    with tf.name_scope("conv"):
        weights = weight_variable([5, 5, 1, 8])
        variable_summaries(weights)
        biases = tf.Variable(tf.constant(0.1, shape=[8]))
        hidden = tf.nn.relu(tf.nn.conv2d(image, weights, strides=[1, 1, 1, 1], padding="SAME") + biases)
    hidden = tf.nn.max_pool(hidden, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    hidden = tf.layers.dense(tf.layers.flatten(hidden), 32, tf.nn.relu, name="fc1")
    keep = tf.placeholder(tf.float32)
    regularizer = tf.contrib.layers.l2_regularizer(1e-4)
    logits = tf.layers.dense(tf.nn.dropout(hidden, keep), 10, kernel_regularizer=regularizer, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    tf.summary.scalar("loss", loss)
    total = loss + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    step = tf.train.AdamOptimizer(FLAGS.learning_rate).minimize(total)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    merged = tf.summary.merge_all()
    writer = tf.summary.FileWriter(os.path.join(folder, "train"), session.graph)
    tf.global_variables_initializer().run()
    for i in range(FLAGS.max_steps):
        feeds = {x: np.random.rand(16, 144), labels: np.random.randint(0, 10, 16), keep: 0.5}
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        summary, _ = session.run([merged, step], feed_dict=feeds, options=options, run_metadata=metadata)
        writer.add_run_metadata(metadata, "step%03d" % i)
        writer.add_summary(summary, i)
        assert 0 <= session.run(accuracy, feeds) <= 1
    writer.close()
    names = [v.name for v in tf.trainable_variables()]
    expected = ["conv/weights:0", "conv/Variable:0", "fc1/kernel:0", "fc1/bias:0"]
    assert names == [*expected, "logits/kernel:0", "logits/bias:0"], names
    (file,) = tf.gfile.Glob(os.path.join(folder, "train", "events*"))
    events = list(tf.train.summary_iterator(file))
    assert [e.step for e in events if e.HasField("summary")] == [0, 1, 2]


if __name__ == "__main__":
    tf.app.run(main=main, argv=[sys.argv[0]])
