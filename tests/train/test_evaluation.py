"""Evaluating checkpoints: once, as they come, and the loops of tf.contrib.training."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.train.checkpoint_watching import wait_for_new_checkpoint

training = tf.contrib.training


@pytest.fixture
def checkpoint(tmp_path):
    """A folder in which `w` is 3."""
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=3.0)
        tf.train.get_or_create_global_step()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver([w, tf.train.get_global_step()]).save(session, str(tmp_path / "model.ckpt"), 7)
    return str(tmp_path)


def mean():
    """(value, update) of the mean of w, 2w, 3w, … as batches come."""
    tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [])
    batch = tf.get_variable("batch", [], tf.float32, tf.zeros_initializer(), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    return tf.metrics.mean(w * batch.assign_add(1.0))


def test_a_checkpoint_is_evaluated_once(checkpoint, tmp_path):
    value, update = mean()
    tf.summary.scalar("mean", value)
    hooks = [training.StopAfterNEvalsHook(3), training.SummaryAtEndHook(str(tmp_path / "eval"))]
    path = tf.train.latest_checkpoint(checkpoint)
    assert training.evaluate_once(path, eval_ops=update, final_ops={"mean": value}, hooks=hooks) == {"mean": 6.0}
    assert len(tf.get_collection(tf.GraphKeys.EVAL_STEP)) == 1
    (events,) = (tmp_path / "eval").iterdir()
    scalars = [v.simple_value for e in tf.train.summary_iterator(str(events)) for v in e.summary.value]
    assert scalars == [6.0]


def test_checkpoints_are_evaluated_as_they_come(checkpoint):
    value, update = mean()
    hooks = [training.StopAfterNEvalsHook(1)]
    arguments = {"eval_ops": [update], "final_ops": value, "hooks": hooks, "eval_interval_secs": 0}
    assert training.evaluate_repeatedly(checkpoint, max_number_of_evaluations=1, **arguments) == 3.0


def test_checkpoints_come_until_none_does(checkpoint):
    asked = []
    found = list(tf.train.checkpoints_iterator(checkpoint, timeout=0, timeout_fn=lambda: asked.append(1) or len(asked) > 1))
    assert [path.rpartition("/")[2] for path in found] == ["model.ckpt-7"] and len(asked) == 2
    assert wait_for_new_checkpoint(checkpoint, found[0], seconds_to_sleep=0.01, timeout=0.02) is None


def test_training_in_a_monitored_session(tmp_path):
    loss = tf.square(tf.get_variable("w", initializer=3.0))
    train = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.25))
    last = training.train(train, str(tmp_path), hooks=[tf.train.StopAtStepHook(num_steps=3)])
    np.testing.assert_allclose(last, 9.0 / 16.0)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-3")
    with pytest.raises(ValueError, match="logdir cannot be None when save_summaries_steps is not None"):
        training.train(train, None)
