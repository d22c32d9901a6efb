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


@program("C7: SyncReplicasOptimizer over two parameter servers, dense and sparse")
def sync_replicas(tf: Any) -> Outcome:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:1")):
        step = tf.train.get_or_create_global_step()
        dense = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        sparse = tf.get_variable("b", [5, 2], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(dense * dense) + tf.reduce_sum(tf.gather(sparse, [1, 3]))
        inner = tf.train.GradientDescentOptimizer(0.5)
        optimizer = tf.train.SyncReplicasOptimizer(inner, replicas_to_aggregate=2, total_num_replicas=3)
        early = [raised(optimizer.get_chief_queue_runner), raised(optimizer.get_init_tokens_op)]
        early += [raised(lambda: optimizer.apply_gradients([])), raised(lambda: optimizer.minimize(loss))]
        train = optimizer.minimize(loss, global_step=step)
        optimizer.get_init_tokens_op(0)
        optimizer.make_session_run_hook(True).begin()
        optimizer.make_session_run_hook(False, num_tokens=4).begin()
    runner = optimizer.get_chief_queue_runner()
    names = [train.name, optimizer.local_step_init_op.name, optimizer.chief_init_op.name]
    names += [runner.name, runner.close_op.name, runner.cancel_op.name, *[op.name for op in runner.enqueue_ops]]
    return runs(early=early, names=names)


@program("C7: SyncReplicasOptimizer with moving averages")
def sync_replicas_averages(tf: Any) -> Outcome:
    step = tf.train.get_or_create_global_step()
    weights = tf.get_variable("w", [3])
    averages = tf.train.ExponentialMovingAverage(0.9)
    adam = tf.train.AdamOptimizer(0.5)
    optimizer = tf.train.SyncReplicasOptimizer(adam, 3, 2, variable_averages=averages, variables_to_average=[weights])
    optimizer.minimize(tf.reduce_sum(weights * weights), global_step=step)
    few = raised(lambda: optimizer.get_init_tokens_op(0))
    optimizer.get_init_tokens_op(1)
    return runs(few=few, slots=optimizer.get_slot_names())
