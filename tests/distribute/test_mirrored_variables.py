"""Variables with copies: what each place reads and may assign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distribute.replicas import initialized, number, two

Sync, Agg = tf.VariableSynchronization, tf.VariableAggregation


@pytest.mark.parametrize(
    ("aggregation", "expected"), [(Agg.SUM, 3.0), (Agg.MEAN, 1.5), (Agg.ONLY_FIRST_REPLICA, 1.0)], ids=lambda a: str(a)
)
def test_replicas_assign_together(aggregation: Any, expected: float) -> None:
    with two().scope() as strategy:
        v = tf.Variable(0.0, aggregation=aggregation)
        assigned = strategy.experimental_run_v2(lambda: tf.identity(v.assign(number())))
        added = strategy.experimental_run_v2(lambda: tf.identity(tf.assign_add(v, number())))
    with initialized() as session:
        assert session.run(list(assigned.values)) == [expected] * 2
        assert session.run(list(added.values)) == [2 * expected] * 2
        assert session.run(list(v.values)) == [2 * expected] * 2


@pytest.mark.parametrize("change", [lambda v: v.assign(1.0), lambda v: v.assign_sub(1.0), lambda v: tf.assign_add(v, 1.0)])
def test_a_replica_alone_may_not_change_what_is_mirrored(change: Callable[[Any], Any]) -> None:
    with two().scope() as strategy:
        v = tf.Variable(0.0, name="v")
        with pytest.raises(ValueError, match=r"You must specify an aggregation method to update a MirroredVariable .* v:0"):
            strategy.experimental_run_v2(lambda: change(v))


def test_scattered_updates_reach_all_copies() -> None:
    with two().scope() as strategy:
        v = tf.Variable(tf.zeros([3]), aggregation=Agg.SUM)
        rows = tf.IndexedSlices(tf.constant([5.0]), tf.constant([1]), tf.constant([3]))
        once = strategy.group(v.scatter_add(rows))

        def build() -> Any:
            return tf.group(v.scatter_add(tf.IndexedSlices([number()], [1], [3])))

        both = strategy.group(strategy.experimental_run_v2(build))
    with initialized() as session:
        session.run(once)
        session.run(both)
        np.testing.assert_array_equal(session.run(list(v.values)), [[0, 8, 0]] * 2)


@pytest.mark.parametrize(
    ("aggregation", "expected"), [(Agg.SUM, 3.0), (Agg.MEAN, 1.5), (Agg.ONLY_FIRST_REPLICA, 1.0)], ids=lambda a: str(a)
)
def test_copies_that_are_put_together_when_they_are_read(aggregation: Any, expected: float) -> None:
    with two().scope() as strategy:
        v = tf.Variable(0.0, synchronization=Sync.ON_READ, aggregation=aggregation)
        assert not v.trainable and not tf.trainable_variables()
        own = strategy.experimental_run_v2(lambda: tf.identity(v.assign_add(number())))
        read, as_operand = v.read_value(), v + 0.0
        given = strategy.group(v.assign(7.0))
    with initialized() as session:
        assert session.run(list(own.values)) == [1.0, 2.0]
        assert session.run([read, as_operand, v]) == [expected] * 3
        session.run(given)
        assert session.run(read) == 7.0


def test_a_sum_cannot_be_added_to_from_outside() -> None:
    with two().scope():
        v = tf.Variable(0.0, name="v", synchronization=Sync.ON_READ, aggregation=Agg.SUM)
        with pytest.raises(ValueError, match=r"does not support `assign_add` in cross-replica context .* copies of v:0"):
            v.assign_add(1.0)


def test_replicas_share_the_variables_that_they_make() -> None:
    def build() -> Any:
        with tf.variable_scope("layer"):
            v = tf.get_variable("v", [2])
        return v, tf.Variable(1.0, name="u"), tf.Variable(2.0, name="u")

    with two().scope() as strategy:
        made = strategy.experimental_run_v2(build)
    assert [v.name for v in made] == ["layer/v:0", "u:0", "u_1:0"] == [v.name for v in tf.global_variables()]
    assert [copy.op.name for copy in made[2].values] == ["u_1", "u_1/replica_1"]
    with initialized() as session:
        first, second = session.run(list(made[0].values))
        np.testing.assert_array_equal(first, second)


def test_a_variable_of_one_replica_only_is_refused() -> None:
    def build() -> None:
        if tf.distribute.get_replica_context()._replica_id == 1:
            tf.Variable(1.0, name="odd")

    with pytest.raises(RuntimeError, match="create variable odd in replica 1, which replica 0 did not make 1 times"):
        two().experimental_run_v2(build)


def test_reading_and_assigning_outside_of_the_scope() -> None:
    strategy = two()
    with strategy.scope():
        v = tf.get_variable("v", initializer=2.0)
    doubled = v.assign(v * 2.0)
    with initialized() as session:
        assert session.run(doubled) == 4.0
        assert session.run([v, *v.values]) == [4.0] * 3
        v.load(9.0, session)
        assert session.run(list(v.values)) == [9.0] * 2
    with pytest.raises(ValueError, match=r"handle is not available outside the replica context .* v:0 has 2 copies"):
        _ = v.handle


def test_what_updates_see() -> None:
    with two().scope() as strategy:
        v, other = tf.get_variable("v", initializer=1.0), tf.get_variable("other", initializer=10.0)
        strategy.extended.update(other, lambda copy: copy.assign(20.0))
        each = strategy.extended.update(v, lambda copy, x: copy.assign_add(x + other), args=(other,), group=False)
        assert [value.op.inputs[0].op.name for value in each] == ["v", "v/replica_1"]
        assert strategy.extended.variable_created_in_scope(v) and strategy.extended.value_container(v.values[1]) is v
        with pytest.raises(ValueError, match="can be updated on all its devices"):
            strategy.extended.update(tf.constant(1.0), lambda copy: copy)
    with initialized() as session:
        session.run(list(each))
        assert session.run(list(v.values)) == [21.0] * 2


def test_arguments_that_make_no_sense() -> None:
    with two().scope() as strategy:
        with pytest.raises(ValueError, match="`NONE` variable synchronization mode is not supported with `Mirrored`"):
            tf.Variable(1.0, synchronization=Sync.NONE)
        assert tf.get_variable("read", [], trainable=True, synchronization=Sync.ON_READ).trainable
        with pytest.raises(ValueError, match="Invalid variable aggregation mode: sum for variable: v"):
            tf.Variable(1.0, aggregation="sum", name="v")
        part = tf.get_variable("part", [4], partitioner=tf.fixed_size_partitioner(2))
        assert part.values[0].shape == [4]
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        assert tf.Variable(1.0, synchronization=Sync.NONE).synchronization is Sync.NONE
    with pytest.raises(ValueError, match="must only be passed a variable created in this"):
        strategy.colocate_vars_with(tf.Variable(1.0))


def test_values_of_replicas_are_no_tensors_across_them() -> None:
    with two().scope() as strategy:
        values = strategy.experimental_run_v2(number)
        assert repr(values).startswith("PerReplica:{\n  0: <tf.Tensor 'add:0'")
        with pytest.raises(ValueError, match="there is no replica here: take them apart by"):
            tf.identity(values)
        doubled = strategy.experimental_run_v2(lambda: tf.identity(values) * 2.0)
    with initialized() as session:
        assert session.run(list(doubled.values)) == [2.0, 4.0]


def test_whole_numbers_are_shared_out_without_loss(tmp_path: Any) -> None:
    with two().scope():
        v = tf.Variable(np.int64(0), name="v", synchronization=Sync.ON_READ, aggregation=Agg.SUM)
        assigned, saver = v.assign(value=5), tf.train.Saver([v])
    with initialized() as session:
        session.run(assigned)
        assert session.run(v) == 5
        path = saver.save(session, str(tmp_path / "m"))
        session.run(v.initializer)
        saver.restore(session, path)
        assert session.run(v) == 5
