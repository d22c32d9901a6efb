"""Input of replicas: who gets what, in which order, and where it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distribute.replicas import session, two
from tfexp.runtime.eager import eager_mode

Dataset = tf.data.Dataset


def _seen(strategy: Any, iterator: Any) -> list[list[list[int]]]:
    """What each step gives the replicas."""
    elements = strategy.experimental_local_results(iterator.get_next())
    seen = []
    with session() as opened:
        opened.run(iterator.initialize())
        try:
            while True:
                seen.append([part.tolist() for part in opened.run(list(elements))])
        except tf.errors.OutOfRangeError:
            return seen


def test_batches_are_shared_out() -> None:
    with two().scope() as strategy:
        iterator = strategy.make_dataset_iterator(Dataset.range(10).batch(4))
    # The last batch is short: its parts are as even as they can be.
    assert _seen(strategy, iterator) == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], [9]]]


def test_a_replica_may_get_nothing_of_a_short_batch() -> None:
    with two().scope() as strategy:
        assert _seen(strategy, strategy.make_dataset_iterator(Dataset.range(5).batch(4)))[-1] == [[4], []]


def test_batches_of_structures_keep_their_form_and_known_shapes() -> None:
    data = Dataset.from_tensor_slices({"x": np.arange(24.0).reshape(8, 3), "y": np.arange(8)}).batch(4, drop_remainder=True)
    with two().scope() as strategy:
        iterator = strategy.experimental_distribute_dataset(data).make_initializable_iterator()
        element = iterator.get_next()
        totals = strategy.experimental_run_v2(lambda e: tf.reduce_sum(e["x"]), args=(element,))
    assert [part.shape.as_list() for part in (*element["x"].values, *element["y"].values)] == [[2, 3], [2, 3], [2], [2]]
    assert iterator.output_types == {"x": tf.float64, "y": tf.int64}
    with session() as opened:
        opened.run(iterator.initializer)
        assert opened.run(list(totals.values)) == [15.0, 51.0]


def test_one_shot_iterators() -> None:
    with two().scope() as strategy:
        data = strategy.experimental_distribute_dataset(Dataset.range(4).batch(4))
        element = data.make_one_shot_iterator().get_next()
    with session() as opened:
        assert [part.tolist() for part in opened.run(list(element.values))] == [[0, 1], [2, 3]]


def test_elements_of_an_input_function_go_to_the_replicas_in_turn() -> None:
    contexts: list[Any] = []

    def input_fn(context: Any) -> Any:
        contexts.append(context)
        return Dataset.range(8).batch(context.get_per_replica_batch_size(4))

    with two().scope() as strategy:
        iterator = strategy.make_input_fn_iterator(input_fn)
        same = strategy.experimental_distribute_datasets_from_function(input_fn).make_initializable_iterator()
    assert _seen(strategy, iterator) == _seen(strategy, same) == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    (context, _) = contexts
    assert (context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync) == (1, 0, 2)
    assert str(context) == "tf.distribute.InputContext(input pipeline id 0, total: 1)"
    with pytest.raises(ValueError, match="`global_batch_size` 7 is not divisible by `num_replicas_in_sync` 2"):
        context.get_per_replica_batch_size(7)


def test_running_on_the_next_element() -> None:
    with two().scope() as strategy:
        iterator = strategy.make_dataset_iterator(strategy.experimental_make_numpy_dataset(np.arange(4)).batch(4))
        sums = strategy.experimental_run(tf.reduce_sum, iterator)
    with session() as opened:
        opened.run(iterator.initialize())
        assert opened.run(list(sums.values)) == [1, 5]


WRONG: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda s: s.make_dataset_iterator(3), TypeError, "must be a tf.data.Dataset. Given: 3"),
    (lambda s: s.make_dataset_iterator(Dataset.range(3)), ValueError, "must have batches: batch it first"),
    (
        lambda s: s.make_dataset_iterator(Dataset.range(9).batch(3, drop_remainder=True)),
        ValueError,
        "have 3 elements, which cannot be shared evenly among 2 replicas: batch by a multiple of 2",
    ),
    (lambda s: s.make_input_fn_iterator(lambda c: 3), ValueError, "`input_fn` must return a tf.data.Dataset. Given: 3"),
    (
        lambda s: s.make_input_fn_iterator(lambda c: Dataset.range(3), tf.distribute.InputReplicationMode.PER_REPLICA),
        ValueError,
        "Input replication mode not supported: InputReplicationMode.PER_REPLICA",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_input_that_is_refused(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with two().scope() as strategy, pytest.raises(error, match=message):
        call(strategy)


def _steps(strategy: Any, iterations: int, reduce_op: Any, in_replica: bool) -> tuple[list[Any], Any]:
    """A run of several steps: (the sum of the elements, the last step's output), the context."""
    with strategy.scope():
        total = tf.get_variable("total", [], tf.int64, tf.zeros_initializer(), aggregation=tf.VariableAggregation.SUM)
        iterator = strategy.make_input_fn_iterator(lambda _: Dataset.range(1, 20))

        def step(context: Any, elements: Any) -> Any:
            def own(element: Any) -> Any:
                if in_replica:
                    context.set_last_step_output("last", element, reduce_op)
                return total.assign_add(element)

            if not in_replica:
                context.set_last_step_output("last", elements, reduce_op)
            context.set_non_tensor_output("kind", "numbers")
            return strategy.group(strategy.extended.call_for_each_replica(own, args=(elements,)))

        initial = tf.constant(0, tf.int64)
        values = {"last": [initial] * strategy.num_replicas_in_sync if reduce_op is None else initial}
        context = strategy.extended.experimental_run_steps_on_iterator(step, iterator, iterations, values)
    last = list(strategy.experimental_local_results(context.last_step_outputs["last"]))
    with session() as opened:
        opened.run([iterator.initialize(), tf.global_variables_initializer()])
        of_last_step, done = opened.run([last, context.run_op])
        return (of_last_step, done, opened.run(total)), context


@pytest.mark.parametrize("in_replica", [True, False])
def test_several_steps_run_in_one(in_replica: bool) -> None:
    (last, done, total), context = _steps(two(), 3, tf.distribute.ReduceOp.SUM, in_replica)
    assert (last, done, total) == ([5 + 6], None, sum(range(1, 7)))
    assert context.non_tensor_outputs == {"kind": "numbers"}


def test_outputs_of_steps_that_are_not_reduced_are_the_replicas() -> None:
    assert _steps(two(), 2, None, in_replica=False)[0][0] == [3, 4]


def test_outputs_of_steps_may_be_structures_of_the_replicas() -> None:
    strategy = two()
    with strategy.scope():
        iterator, zero = strategy.make_input_fn_iterator(lambda _: Dataset.range(1, 20)), tf.constant(0, tf.int64)

        def step(context: Any, elements: Any) -> Any:
            context.set_last_step_output("last", {"both": elements, "one": tf.constant(7)})
            return tf.no_op()

        initial = {"last": {"both": [zero, zero], "one": 0}}
        context = strategy.extended.experimental_run_steps_on_iterator(step, iterator, 2, initial)
    last = context.last_step_outputs["last"]
    with session() as opened:
        opened.run(iterator.initialize())
        assert opened.run([*strategy.experimental_local_results(last["both"]), last["one"]]) == [3, 4, 7]


def test_a_replica_says_how_its_output_is_reduced() -> None:
    with pytest.raises(ValueError, match="its output 'last' is reduced"):
        _steps(two(), 2, None, in_replica=True)


def test_data_of_strategies_are_iterated_eagerly() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with pytest.raises(RuntimeError, match="eager execution"):
        next(iter(strategy.experimental_distribute_dataset(Dataset.range(3))))
    with eager_mode():
        data = Dataset.range(3)
        assert [int(one) for one in strategy.experimental_distribute_dataset(data)] == [0, 1, 2]
        iterator = strategy.make_input_fn_iterator(lambda _: data)
        assert [int(iterator.get_next()) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            iterator.get_next()
        iterator.initialize()
        assert int(iterator.get_next()) == 0
        left = iter(strategy.experimental_distribute_dataset(data))
        function = tf.function(lambda: strategy.experimental_run_v2(lambda x: x + 1, args=(next(left),)))
        assert [int(function()) for _ in range(3)] == [1, 2, 3] and list(left) == []


def test_loops_of_functions_go_through_distributed_data() -> None:
    """As far as there is an element for each replica, though the last are smaller."""

    @tf.function
    def digits(data: Any) -> Any:
        found, steps = tf.constant(0, tf.int64), 0
        for element in data:
            for part in strategy.experimental_local_results(element["x"]):
                found = found * 100 + tf.reduce_sum(part)
            steps += 1
        return found, steps

    with eager_mode(), two().scope() as strategy:
        data = strategy.experimental_distribute_dataset(Dataset.range(10).map(lambda x: {"x": x}).batch(4))
        assert [part.numpy() for part in digits(data)] == [10509130809, 3]
