"""A training that goes on takes its input up where it was."""

from __future__ import annotations

import pytest

import tfexp as tf

SEEN: list[int] = []


def numbers():
    return tf.data.Dataset.range(100).map(lambda n: ({"x": tf.cast(n, tf.float32)}, n))


def model_fn(features, labels, mode):
    slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
    note = tf.py_func(lambda n: SEEN.append(int(n)), [labels], [])
    with tf.control_dependencies([note]):
        train_op = tf.assign_add(tf.train.get_global_step(), 1)
    return tf.estimator.EstimatorSpec(mode, loss=features["x"] * slope, train_op=train_op)


def test_the_input_goes_on_where_the_last_training_stopped(tmp_path):
    config = tf.estimator.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=2, tf_random_seed=1)
    for steps in (3, 2):
        SEEN.clear()
        estimator = tf.estimator.Estimator(model_fn, config=config)
        estimator.train(numbers, hooks=[tf.data.experimental.CheckpointInputPipelineHook(estimator)], steps=steps)
    assert SEEN == [3, 4]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-5")
    assert tf.train.latest_checkpoint(str(tmp_path), "checkpoint_input").endswith("input-5")


def test_a_graph_without_iterators_is_refused(tmp_path):
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
    with pytest.raises(ValueError, match=r"saves the iterators of tf\.data, and the graph has none"):
        estimator.train(lambda: ({"x": tf.constant(1.0)}, tf.constant(1)), hooks=[hook], steps=1)
