"""slim.learning.train, slim.evaluation and slim.model_analyzer."""

import json

import numpy as np
import pytest

import tfexp as tf

slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def trained(**kwargs):
    """A variable that falls by 1 each step, and the loss that it is."""
    x = slim.model_variable("x", initializer=tf.constant(10.0))
    return slim.learning.create_train_op(x, tf.train.GradientDescentOptimizer(1.0), **kwargs)


def test_gradients_are_multiplied_and_then_cut():
    x = tf.get_variable("x", initializer=tf.constant([3.0, 4.0]))
    loss = tf.reduce_sum(x * x)
    slim.learning.create_train_op(
        loss, tf.train.GradientDescentOptimizer(1.0), None, None, None, 0.5, True, gradient_multipliers={"x": 2.0}
    )
    names = [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    assert names == ["summarize_grads/x_gradient", "summarize_grads/x_gradient_norm"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.TRAIN_OP))
        np.testing.assert_allclose(session.run(x), [2.7, 3.6], rtol=1e-6)


def test_training_takes_a_function_of_gradients_at_its_sixth_place():
    x = tf.get_variable("x", initializer=tf.constant([3.0, 4.0]))
    op = tf.contrib.training.create_train_op(
        tf.reduce_sum(x * x),
        tf.train.GradientDescentOptimizer(1.0),
        None,
        None,
        None,
        tf.contrib.training.clip_gradient_norms_fn(1.0),
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op)
        np.testing.assert_allclose(session.run(x), [2.4, 3.2], rtol=1e-6)


def test_a_step_of_ones_own_says_when_to_stop(tmp_path):
    seen = []

    def step(session, train_op, global_step, kwargs):
        loss, at = session.run([train_op, global_step])
        seen.append((float(loss), int(at), kwargs["mine"]))
        return loss, len(seen) == 3

    last = slim.learning.train(
        trained(), str(tmp_path), step, {"mine": 7}, save_summaries_secs=0, init_fn=lambda session: seen.clear()
    )
    assert last == seen[-1][0] and [mine for _, _, mine in seen] == [7, 7, 7]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-3")


def test_steps_are_traced(tmp_path):
    slim.learning.train(trained(), str(tmp_path), number_of_steps=2, trace_every_n_steps=2, save_summaries_secs=0)
    (path,) = tmp_path.glob("tf_trace-*.json")
    assert path.name == "tf_trace-1.json" and json.loads(path.read_text())["traceEvents"]
    assert tf.get_default_graph().get_operation_by_name("train_step/Equal_1").type == "Equal"  # the first is of logging


def test_what_training_refuses():
    op = trained()
    with pytest.raises(ValueError, match="train_op cannot be None"):
        slim.learning.train(None, None)
    for name, value in (("summary_op", None), ("saver", tf.train.Saver()), ("trace_every_n_steps", 1)):
        with pytest.raises(ValueError, match=f"Cannot provide {name} because logdir=None"):
            slim.learning.train(op, None, **{name: value})
    with pytest.raises(ValueError, match="must be either None or a positive number"):
        slim.learning.train(op, None, number_of_steps=0)
    with pytest.raises(ValueError, match="startup_delay_steps must be zero"):
        slim.learning.train(op, None, startup_delay_steps=3, sync_optimizer=[])
    with pytest.raises(TypeError, match="SyncReplicasOptimizer"):
        slim.learning.train(op, None, sync_optimizer=tf.train.GradientDescentOptimizer(1.0))


def test_training_with_a_synchronous_optimizer():
    x = tf.get_variable("x", initializer=tf.constant(10.0))
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 1)
    op = slim.learning.create_train_op(x, optimizer)
    assert slim.learning.train(op, None, number_of_steps=3, sync_optimizer=optimizer) <= 10.0


def test_metrics_of_a_checkpoint(tmp_path):
    slim.learning.train(trained(), str(tmp_path), number_of_steps=4, save_summaries_secs=0)
    with tf.Graph().as_default():
        x = slim.model_variable("x", shape=[])
        slim.get_or_create_global_step()
        mean, update = slim.metrics.streaming_mean(x)
        tf.summary.scalar("x", mean)
        events = tmp_path / "eval"
        path = tf.train.latest_checkpoint(str(tmp_path))
        got = slim.evaluation.evaluate_once("", path, str(events), 3, eval_op=update, final_op=mean)
        again = slim.evaluation.evaluation_loop(
            "", str(tmp_path), None, eval_op=update, final_op=mean, summary_op=None, max_number_of_evaluations=1, timeout=9
        )
    (file,) = events.iterdir()
    found = [v.simple_value for e in tf.train.summary_iterator(str(file)) for v in e.summary.value]
    assert got == again == 6.0 and found == [6.0]


def test_sizes_of_variables_and_nodes(graph, capsys):
    v = tf.get_variable("v", [2, 3], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.placeholder(tf.float32, name="u")
    assert slim.model_analyzer.tensor_description(x) == "(float32 ?x4)"
    assert slim.model_analyzer.analyze_vars([v], print_info=True) == (6, 24)
    assert "v:0 (float32_ref 2x3) [6, bytes: 24]" in capsys.readouterr().out
    assert slim.model_analyzer.analyze_ops(graph, print_info=True) == 24
    out = capsys.readouterr().out
    assert "x \t-> (float32 ?x4) [0]\n" in out and "v/read \t-> (float32 2x3) [6]\n" in out and "u \t->  [0]\n" in out
