"""`MirroredStrategy`: every replica's gradients count, all copies stay equal, checkpoints have each variable once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distribute.replicas import DEVICES, initialized, number, session, two
from tfexp.train.moving_averages import assign_moving_average

OPTIMIZERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.01),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.01, 0.9),
    "Adam": lambda: tf.train.AdamOptimizer(0.01),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.01),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.01),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.01),
    "ProximalAdagrad": lambda: tf.train.ProximalAdagradOptimizer(0.01),
    "AdagradDA": lambda: tf.train.AdagradDAOptimizer(0.01, tf.train.get_or_create_global_step()),
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


def test_a_step_is_left_out_where_one_replicas_gradients_are_not_finite() -> None:
    with two().scope() as strategy:
        w = tf.get_variable("w", initializer=2.0)
        scale = tf.train.experimental.DynamicLossScale(8.0, increment_period=1)
        plain = tf.train.GradientDescentOptimizer(0.1)
        optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(plain, scale)
        infinite = tf.placeholder(tf.float32, [])
        build = lambda: optimizer.minimize(w * tf.where(number() > 1.5, infinite, 1.0))  # noqa: E731
        train = strategy.group(strategy.experimental_run_v2(build))
    with initialized() as opened:
        opened.run(train, {infinite: np.inf})
        assert opened.run([*w.values, scale._scale]) == [2.0, 2.0, 4.0]
        opened.run(train, {infinite: 3.0})
        first, second, now = opened.run([*w.values, scale._scale])
        assert first == second == pytest.approx(1.6) and now == 8.0


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


def test_other_ways_to_save_and_to_begin_reach_all_copies(tmp_path: Path) -> None:
    strategy = two()
    with strategy.scope():
        v = tf.get_variable("v", initializer=START)
        objects = tf.train.Checkpoint(v=v)
        doubled = v.assign(2.0 * START)
    with initialized() as opened:
        opened.run(doubled)
        path = objects.save(str(tmp_path / "objects"), session=opened)
        named = tf.train.Saver([v]).save(opened, str(tmp_path / "named"))
    with session() as opened:
        objects.restore(path).initialize_or_restore(opened)
        np.testing.assert_array_equal(opened.run(list(v.values)), [2 * START] * 2)
    with tf.Graph().as_default(), two().scope() as strategy:

        def build() -> Any:
            own = tf.get_variable("own", [3])
            tf.train.init_from_checkpoint(named, {"v": own})
            return own

        own = strategy.experimental_run_v2(build)
        assert len([op for op in tf.get_default_graph().get_operations() if op.type == "RestoreV2"]) == 2
        with initialized() as opened:
            np.testing.assert_array_equal(opened.run(list(own.values)), [2 * START] * 2)


def test_a_monitored_session_counts_and_summarizes_once(tmp_path: Path) -> None:
    with two().scope() as strategy:
        w = tf.get_variable("w", initializer=START)
        optimizer, step = tf.train.AdamOptimizer(), tf.train.get_or_create_global_step()

        def build() -> Any:
            loss = tf.reduce_sum(w * w)
            tf.summary.scalar("loss", loss)
            return optimizer.minimize(loss, global_step=step)

        train = strategy.group(strategy.experimental_run_v2(build))
        assert [summary.op.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)] == ["loss"]
        config = tf.ConfigProto(device_count={"CPU": 2})
        stop = tf.train.StopAtStepHook(2)
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), config=config, hooks=[stop]) as opened:
            while not opened.should_stop():
                opened.run(train)
    assert tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path)), "global_step") == 2


def test_what_has_no_sum_is_refused_in_a_replica() -> None:
    with two().scope() as strategy:
        v = tf.Variable([0, 0], name="v", aggregation=tf.VariableAggregation.SUM)
        with pytest.raises(NotImplementedError, match="`scatter_nd_add` of v:0 in a replica"):
            strategy.experimental_run_v2(lambda: v.scatter_nd_add([[1]], [5]))
        changed = strategy.group(v.scatter_nd_add([[1]], [5]))
        assert not hasattr(v[0], "assign")
    with initialized() as opened:
        opened.run(changed)
        np.testing.assert_array_equal(opened.run(list(v.values)), [[0, 5]] * 2)


class _Kept(tf.distribute.CrossDeviceOps):
    """Says what it was asked for."""

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        return reduce_op, len(per_replica_value.values), destinations

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        return [self.reduce_implementation(reduce_op, *pair) for pair in value_destination_pairs]


def test_programs_reduce_several_values_in_their_own_way() -> None:
    mean, value = tf.distribute.ReduceOp.MEAN, tf.constant(3.0)
    strategy = tf.distribute.MirroredStrategy(list(DEVICES), cross_device_ops=_Kept())
    with strategy.scope():
        values = strategy.experimental_run_v2(number)
        assert strategy.extended.batch_reduce_to(mean, [(values, "/cpu:1")] * 2) == [(mean, 2, "/cpu:1")] * 2
    # What is there alone already is the sum, and the mean.
    assert _Kept().reduce(mean, value, "/cpu:0") is value and _Kept().batch_reduce(mean, [(value, "/cpu:0")]) == [value]
    assert _Kept().reduce(mean, value, "/cpu:1") == (mean, 1, "/cpu:1")
    with pytest.raises(ValueError, match=r"Expected a tensor or .*: 3\.0"):
        _Kept().reduce(mean, 3.0, "/cpu:0")
    with pytest.raises(ValueError, match="should be a tuple"):
        _Kept().batch_reduce(mean, [value])
    with pytest.raises(NotImplementedError, match="batch_reduce_implementation"):
        tf.distribute.CrossDeviceOps().batch_reduce(mean, [(value, "/cpu:1")])
