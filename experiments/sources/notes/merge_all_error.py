"""`merge_all` takes the summaries of the whole graph, those of another model too; `merge` takes those of a scope.

2017/4/17, note 7: a model to train and one to test, with shared variables.

Prints:

    merge_all: runs | InvalidArgumentError
    merge:     runs | runs
"""

import numpy as np

import tfexp as tf


class Model:
    def __init__(self, scope: str | None) -> None:
        self.x = tf.placeholder(tf.float32, [None, 1])
        self.label = tf.placeholder(tf.float32, [None, 1])
        predicted = tf.matmul(self.x, tf.get_variable("w", shape=[1, 1]))
        tf.summary.scalar("loss", tf.reduce_mean(tf.square(self.label - predicted)))
        self.merged = (
            tf.summary.merge_all() if scope is None else tf.summary.merge(tf.get_collection(tf.GraphKeys.SUMMARIES, scope))
        )


def run_epoch(session: tf.Session, model: Model) -> str:
    x = np.linspace(0, 1, 10).reshape(-1, 1)
    try:
        session.run(model.merged, {model.x: x, model.label: x * 3})
    except tf.errors.InvalidArgumentError as error:
        return type(error).__name__
    return "runs"


for scoped in (False, True):
    with tf.Graph().as_default():
        with tf.name_scope("train") as train, tf.variable_scope("var1"):
            model1 = Model(train if scoped else None)
        with tf.name_scope("test") as test, tf.variable_scope("var1", reuse=True):
            model2 = Model(test if scoped else None)
        with tf.Session() as sess:
            tf.global_variables_initializer().run()
            print("merge:    " if scoped else "merge_all:", run_epoch(sess, model1), "|", run_epoch(sess, model2))
