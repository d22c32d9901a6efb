"""Where a program builds: outside of strategies, across replicas, in one of them; and what is refused there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfexp as tf
from tests.distribute.replicas import initialized, number, session, two

distribute = tf.distribute


def test_outside_of_strategies_there_is_one_replica() -> None:
    context = distribute.get_replica_context()
    assert not distribute.has_strategy() and not distribute.in_cross_replica_context()
    assert (context.replica_id_in_sync_group, context.num_replicas_in_sync, context.strategy.num_replicas_in_sync) == (
        0,
        1,
        1,
    )
    assert context.merge_call(lambda strategy, x: (strategy, x, distribute.in_cross_replica_context()), args=(3,)) == (
        distribute.get_strategy(),
        3,
        True,
    )
    with distribute.get_strategy().scope():
        assert not distribute.has_strategy()
    assert distribute.get_strategy().experimental_run_v2(lambda x: x + 1, args=(3,)) == 4


def test_a_graph_has_its_own_strategy() -> None:
    with two().scope() as strategy:
        assert distribute.get_strategy() is strategy
        with tf.Graph().as_default():
            assert not distribute.has_strategy()


def test_replicas_build_one_after_the_other_and_meet() -> None:
    order: list[Any] = []
    strategy = two()

    def meet(_: Any, numbers: Any) -> Any:
        order.append(("all", strategy.experimental_local_results(numbers)))
        return numbers

    def build() -> Any:
        context = distribute.get_replica_context()
        own = context._replica_id
        order.append(own)
        got = context.merge_call(meet, args=(own,))
        order.append(("got", got))
        return got

    assert strategy.experimental_run_v2(build).values == (0, 1)
    assert order == [0, 1, ("all", (0, 1)), ("got", 0), ("got", 1)]


def test_contrib_names_the_strategy_across_replicas_and_requires_a_replica() -> None:
    contrib, strategy = tf.contrib.distribute, two()
    contexts = []

    def build() -> Any:
        assert contrib.get_cross_replica_context() is None
        contexts.append(contrib.get_replica_context())
        contrib.require_replica_context(contexts[-1])
        contexts[-1].merge_call(lambda given: contexts.append(contrib.get_cross_replica_context()))
        return tf.constant(1.0)

    assert contrib.get_cross_replica_context() is None
    with strategy.scope():
        assert contrib.get_cross_replica_context() is strategy
        strategy.experimental_run_v2(build)
        with pytest.raises(RuntimeError, match="is not being built here"):
            contrib.require_replica_context(contexts[0])
    assert contexts[2] is strategy


def test_scopes_around_stay_the_replicas_own() -> None:
    """What a replica has entered is around its own nodes only, also when it was stopped in between."""
    strategy = two()

    def build() -> Any:
        with tf.name_scope("inner"), tf.control_dependencies([tf.no_op()]):
            distribute.get_replica_context().merge_call(lambda _: None)
            return tf.constant(1.0, name="c")

    with tf.name_scope("outer"):
        first, second = strategy.experimental_run_v2(build).values
        after = tf.constant(1.0, name="after")
    assert (first.op.name, second.op.name, after.op.name) == ("outer/inner/c", "outer/replica_1/inner/c", "outer/after")
    assert [op.name for op in second.op.control_inputs] == ["outer/replica_1/inner/NoOp"]
    assert not after.op.control_inputs and not after.device


def test_an_error_in_a_replica_is_raised_and_leaves_nothing_behind() -> None:
    strategy = two()

    def build() -> None:
        with tf.name_scope("inner"):
            if distribute.get_replica_context()._replica_id == 1:
                raise KeyError("second")
            distribute.get_replica_context().merge_call(lambda _: None)

    with pytest.raises(KeyError, match="second"):
        strategy.experimental_run_v2(build)
    assert not distribute.has_strategy() and tf.constant(1.0, name="c").op.name == "c"


def test_a_replica_that_does_not_merge_is_named() -> None:
    strategy = two()

    def build() -> None:
        if distribute.get_replica_context()._replica_id == 0:
            distribute.get_replica_context().merge_call(lambda _: None)

    with pytest.raises(RuntimeError, match=r"replicas \[1\] returned without it"):
        strategy.experimental_run_v2(build)


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda s: s.experimental_run_v2(lambda: s.experimental_run_v2(lambda: 1)), "cross-replica context, use get_replica_co"),
    (lambda s: s.experimental_run_v2(lambda: s.reduce("SUM", 1.0)), "requires being in cross-replica context"),
    (lambda s: two().scope().__enter__(), "Mixing different tf.distribute.Strategy objects"),
    (lambda s: two().experimental_run_v2(lambda: 1), "Mixing different tf.distribute.Strategy objects"),
    (lambda s: distribute.experimental_set_strategy(two()), "Must not be called inside a `tf.distribute.Strategy` scope"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_the_wrong_context(call: Callable[[Any], Any], message: str) -> None:
    with two().scope() as strategy, pytest.raises(RuntimeError, match=message):
        call(strategy)


def test_what_is_extended_enters_the_scope() -> None:
    strategy = two()
    with strategy.scope():
        variable = tf.Variable(1.0, name="v")
    sums = strategy.extended.call_for_each_replica(lambda: variable + number())
    total = strategy.extended.reduce_to("SUM", sums, destinations=variable)
    changed = strategy.extended.update(variable, lambda copy: copy.assign(7.0))
    assert not distribute.has_strategy()
    with initialized() as run:
        assert run.run(strategy.experimental_local_results(total)) == (5.0, 5.0)
        run.run(changed)
        assert run.run(variable.values) == (7.0, 7.0)


def test_nests_are_reduced() -> None:
    strategy = two()

    def total() -> Any:
        return distribute.get_replica_context().all_reduce("SUM", {"a": number(), "b": [(tf.constant(5.0),)]})

    with strategy.scope():
        reduced = strategy.experimental_run_v2(total)
    with initialized() as run:
        assert run.run(strategy.experimental_local_results(reduced["a"])) == (3.0, 3.0)
        assert run.run(strategy.experimental_local_results(reduced["b"][0][0])) == (10.0, 10.0)


def test_reductions_of_aggregations() -> None:
    convert = distribute.ReduceOp.from_variable_aggregation
    assert convert(tf.VariableAggregation.MEAN) is distribute.ReduceOp.MEAN
    with pytest.raises(ValueError, match="Could not convert"):
        convert(tf.VariableAggregation.ONLY_FIRST_REPLICA)


@pytest.mark.parametrize("make", [distribute.get_strategy, two])
def test_outside_of_the_scope(make: Callable[[], Any]) -> None:
    strategy = make()
    with strategy.scope():
        variable = tf.Variable(1.0, use_resource=True)
    update = strategy.extended.update(variable, lambda one, value: one.assign(value), args=(3.0,), group=True)
    total = strategy.extended.reduce_to(distribute.ReduceOp.MEAN, tf.constant(2.0), variable)
    with session() as opened:
        opened.run(tf.global_variables_initializer())
        opened.run([update, total])
        assert opened.run(strategy.extended.read_var(variable)) == 3.0
    assert not distribute.in_cross_replica_context()


def test_a_strategy_for_the_rest_of_the_program() -> None:
    strategy = two()
    distribute.experimental_set_strategy(strategy)
    try:
        assert distribute.get_strategy() is strategy and distribute.in_cross_replica_context()
        distribute.experimental_set_strategy(two())
        assert distribute.get_strategy() is not strategy
        with pytest.raises(RuntimeError, match="Must not be called inside"):
            distribute.get_strategy().experimental_run_v2(lambda: distribute.experimental_set_strategy(None))
    finally:
        distribute.experimental_set_strategy(None)
    assert not distribute.has_strategy()
