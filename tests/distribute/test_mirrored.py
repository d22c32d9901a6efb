"""`MirroredStrategy`: every replica's gradients count, all copies stay equal, checkpoints have each variable once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distribute.replicas import initialized, number, session, two
from tfexp.train.moving_averages import assign_moving_average

OPTIMIZERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.01),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.01, 0.9),
    "Adam": lambda: tf.train.AdamOptimizer(0.01),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.01),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.01),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.01),
}
START = np.float32([1.0, 2.0, 3.0])


def _alone(name: str, sparse: bool, steps: int) -> Any:
    """The variable after steps of one replica whose loss is the sum of both replicas' losses."""
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=START, use_resource=True)
        train = OPTIMIZERS[name]().minimize(3.0 * _loss(w, sparse))
        with initialized() as opened:
            for _ in range(steps):
                opened.run(train)
            return opened.run(w)


def _loss(w: Any, sparse: bool) -> Any:
    return tf.reduce_sum(tf.square(tf.gather(w, [0, 2, 2]) if sparse else w))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_is_that_of_the_sum_of_the_losses(name: str, sparse: bool) -> None:
    strategy = two()
    with strategy.scope():
        w = tf.get_variable("w", initializer=START)
        step = tf.train.get_or_create_global_step()
        optimizer = OPTIMIZERS[name]()
        train = strategy.experimental_run_v2(lambda: optimizer.minimize(number() * _loss(w, sparse), global_step=step))
    with initialized() as opened:
        for _ in range(3):
            opened.run(strategy.group(train))
        first, second, steps = opened.run([*strategy.experimental_local_results(w), step])
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, _alone(name, sparse, 3), rtol=1e-5)
    assert steps == 3


def test_names_and_devices_of_copies() -> None:
    strategy = two()
    with strategy.scope():
        w = tf.get_variable("w", [2])
        optimizer = tf.train.AdamOptimizer()
        strategy.experimental_run_v2(lambda: optimizer.minimize(tf.reduce_sum(w * w)))
    assert [(v.op.name, v.device[-5:]) for v in w.values] == [("w", "CPU:0"), ("w/replica_1", "CPU:1")]
    assert [v.name for v in tf.trainable_variables()] == ["w:0"]
    assert [v.name for v in tf.global_variables()] == ["w:0", "beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]
    assert [v.op.name for v in optimizer.get_slot(w, "m").values] == ["w/Adam", "w/Adam/replica_1"]
    assert optimizer.get_slot(w.values[1], "m") is optimizer.get_slot(w, "m")


def test_reductions() -> None:
    strategy = two()
    with strategy.scope():
        rows = strategy.experimental_run_v2(lambda: tf.range(3.0) * number())
        told = [strategy.reduce(op, rows) for op in ("sum", tf.distribute.ReduceOp.MEAN)]
        # The second replica has two rows, the first has one.
        ragged = strategy.experimental_run_v2(
            lambda: tf.ones([tf.distribute.get_replica_context()._replica_id + 1]) * number()
        )
        along = [strategy.reduce(op, ragged, axis=0) for op in ("SUM", "MEAN")]
        everywhere = strategy.extended.reduce_to("SUM", rows, destinations=rows)
        in_all = strategy.experimental_run_v2(lambda: tf.distribute.get_replica_context().all_reduce("MEAN", number()))
    with session() as opened:
        total, mean = opened.run(told)
        np.testing.assert_allclose([total, mean], [[0, 3, 6], [0, 1.5, 3]])
        np.testing.assert_allclose(opened.run(along), [5, 5 / 3])
        np.testing.assert_allclose(opened.run(list(everywhere.values)), [[0, 3, 6]] * 2)
        assert opened.run(list(in_all.values)) == [1.5, 1.5]


def test_the_gradient_of_an_all_reduction_is_one() -> None:
    strategy = two()

    def build() -> Any:
        x = number()
        y = tf.distribute.get_replica_context().all_reduce("SUM", x * x)
        return tf.gradients(y * number(), x)[0]

    # d(1*s + 2*s)/dx = 3 * 2x, with s the sum of the squares.
    with strategy.scope():
        made = strategy.experimental_run_v2(build)
    with session() as opened:
        assert opened.run(list(made.values)) == [6.0, 12.0]


def test_what_is_the_same_in_all_replicas_has_a_mean_but_no_sum() -> None:
    with two().scope() as strategy:
        assert strategy.reduce("MEAN", 2.0) == 2.0 and strategy.reduce("SUM", 0) == 0
        with pytest.raises(ValueError, match=r"2\.0 cannot be reduced .* its sum would be 2 times as much"):
            strategy.reduce("SUM", 2.0)


def test_checkpoints_are_those_of_one_replica(tmp_path: Path) -> None:
    strategy = two()
    with strategy.scope():
        w = tf.get_variable("w", initializer=START)
        count = tf.Variable(
            5.0, name="count", synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM
        )
        saver = tf.train.Saver()
        changed = strategy.group(strategy.experimental_run_v2(lambda: tf.group(count.assign_add(number()))))
        bigger = w.assign(2.0 * START)
    with initialized() as opened:
        opened.run([changed, bigger])
        path = saver.save(opened, str(tmp_path / "model"))
    assert dict(tf.train.list_variables(path)) == {"w": [3], "count": []}
    assert tf.train.load_variable(path, "count") == 5 + 5 + 1 + 2
    with session() as opened:
        saver.restore(opened, path)
        np.testing.assert_array_equal(opened.run(list(w.values)), [2 * START, 2 * START])
        assert opened.run(list(count.values)) == [6.5, 6.5]
    with tf.Graph().as_default():
        alone = tf.get_variable("w", [3])
        with tf.Session() as opened:
            tf.train.Saver([alone]).restore(opened, path)
            np.testing.assert_array_equal(opened.run(alone), 2 * START)


def test_losses_are_shares_of_the_whole_batch() -> None:
    with two().scope() as strategy:
        made = strategy.experimental_run_v2(
            lambda: (tf.nn.compute_average_loss(tf.constant([2.0, 4.0])), tf.nn.scale_regularization_loss(tf.constant(3.0)))
        )
        assert tf.distribute.get_loss_reduction() is tf.distribute.ReduceOp.SUM
    with session() as opened:
        assert opened.run([part for value in made for part in value.values]) == [1.5, 1.5, 1.5, 1.5]


def test_metrics_are_of_all_replicas() -> None:
    with two().scope() as strategy:
        value, update = strategy.experimental_run_v2(lambda: tf.metrics.mean(number(), metrics_collections=["metrics"]))
    assert tf.get_collection("metrics") == [value]
    with initialized() as opened:
        opened.run(strategy.group(update))
        opened.run(strategy.group(update))
        assert opened.run(value) == 1.5


def test_moving_averages_are_of_the_mean() -> None:
    with two().scope() as strategy:
        average = tf.get_variable("average", initializer=0.0, trainable=False)
        debiased = tf.get_variable("debiased", initializer=0.0, trainable=False)
        moved = strategy.experimental_run_v2(
            lambda: [
                tf.group(assign_moving_average(average, number(), 0.5, zero_debias=False)),
                tf.group(assign_moving_average(debiased, number(), 0.5)),
            ]
        )
    with initialized() as opened:
        opened.run([strategy.group(one) for one in moved])
        assert opened.run([*average.values, *debiased.values]) == [0.75, 0.75, 1.5, 1.5]


def test_batch_normalization_averages_over_replicas() -> None:
    with two().scope() as strategy:

        def build() -> Any:
            tf.layers.batch_normalization(tf.ones([5, 3]) * number(), momentum=0.0, training=True)
            return tf.group(*tf.get_collection(tf.GraphKeys.UPDATE_OPS, tf.get_default_graph().get_name_scope() or None))

        update = strategy.experimental_run_v2(build)
        (mean,) = [v for v in tf.global_variables() if v.op.name.endswith("moving_mean")]
        read = tf.identity(mean)
    with initialized() as opened:
        opened.run(strategy.group(update))
        np.testing.assert_allclose(opened.run(read), [1.5] * 3)


def test_devices_must_differ() -> None:
    with pytest.raises(ValueError, match="No duplicates allowed in `devices`"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/device:CPU:0"])
    with pytest.raises(ValueError, match=r"must be a tf\.distribute\.CrossDeviceOps"):
        tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops="nccl")
