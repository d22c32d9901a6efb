"""The graphs that monitored sessions make before they run: hooks, then the scaffold."""

from __future__ import annotations

import tempfile
from typing import Any

from tests.golden.programs.registry import Outcome, program, raised, runs


def _finalized(tf: Any, graph: Any, **settings: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, tf.train.MonitoredTrainingSession(checkpoint_dir=folder, **settings):
        assert graph.finalized


@program("T4: MonitoredTrainingSession, the chief's graph")
def monitored_training(tf: Any) -> Outcome:
    step = tf.train.get_or_create_global_step()
    weights = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
    tf.Variable(1, name="local", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    loss = tf.reduce_sum(weights * weights)
    tf.summary.scalar("loss", loss)
    tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=step)
    _finalized(tf, tf.get_default_graph(), hooks=[tf.train.StopAtStepHook(num_steps=5)])
    return runs()


@program("T4: a scaffold of a graph without variables")
def empty_scaffold(tf: Any) -> Outcome:
    scaffold = tf.train.Scaffold()
    scaffold.finalize()
    return runs(names=[scaffold.init_op.name, scaffold.ready_op.name, scaffold.local_init_op.name, str(scaffold.summary_op)])


@program("T4: a scaffold that is given things, and finds others")
def filled_scaffold(tf: Any) -> Outcome:
    tf.Variable(1.0, name="v")
    tf.add_to_collection(tf.GraphKeys.READY_OP, tf.report_uninitialized_variables(name="mine"))
    scaffold = tf.train.Scaffold(init_op=tf.no_op(name="given"), local_init_op=tf.train.Scaffold.default_local_init_op())
    scaffold.finalize()
    return runs(names=[scaffold.init_op.name, scaffold.ready_op.name, scaffold.local_init_op.name])


@program("T4: hooks read the step once, in its own scope")
def reading_the_step(tf: Any) -> Outcome:
    none = raised(tf.train.StopAtStepHook(last_step=3).begin)
    with tf.variable_scope("outer"):
        tf.get_variable(
            tf.GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=tf.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.GLOBAL_STEP],
        )
    with tf.name_scope("elsewhere"):
        for hook in (tf.train.StopAtStepHook(last_step=3), tf.train.StepCounterHook(), tf.train.GlobalStepWaiterHook(1)):
            hook.begin()
    return runs(none=none)
