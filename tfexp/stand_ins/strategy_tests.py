"""`tensorflow.python.distribute.strategy_test_lib`: what every strategy has to do. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.distribute.contexts import get_replica_context
from tfexp.distribute.input import InputContext
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.values import select
from tfexp.formats.event import read_events
from tfexp.runtime.testing import TestCase


class _TestException(Exception):  # noqa: N818 (TensorFlow's name)
    """What replicas and merges raise on purpose."""


def _raise(*_: Any) -> None:
    raise _TestException


def _merge(function: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: get_replica_context().merge_call(function)


def _call(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda strategy: strategy.extended.call_for_each_replica(function)


def _sum(value: Any) -> Any:
    return get_replica_context().all_reduce(ReduceOp.SUM, value)


def _mean(value: Any) -> Any:
    return get_replica_context().all_reduce(ReduceOp.MEAN, value)


def _events_from_logdir(test_case: TestCase, logdir: str) -> list[Any]:
    """The events of the one file of a folder."""
    test_case.assertTrue(tf.gfile.Exists(logdir))
    files = tf.gfile.ListDirectory(logdir)
    test_case.assertLen(files, 1)
    return list(read_events(f"{logdir}/{files[0]}"))


class DistributionTestBase(TestCase):
    """Tests of any strategy, for its own test case to call."""

    def _test_minimize_loss_eager(self, d: Any) -> None:
        with d.scope():
            layer = tf.layers.Dense(1, use_bias=False)
            layer.build([None, 1])
            before = layer.kernel.numpy().item()
            for _ in range(10):
                d.group(d.extended.call_for_each_replica(self._minimized, args=(layer, 0.2)))
            after = layer.kernel.numpy().item()
        self.assertLess(abs(after - 1), abs(before - 1))

    def _test_minimize_loss_graph(self, d: Any, soft_placement: bool = False, learning_rate: float = 0.2) -> None:
        config = tf.ConfigProto(allow_soft_placement=soft_placement)
        with tf.Graph().as_default(), self.session(config=config) as session, d.scope():
            layer = tf.layers.Dense(1, use_bias=False)
            layer.build([None, 1])
            step = d.group(d.extended.call_for_each_replica(self._minimized, args=(layer, learning_rate)))
            error = tf.reduce_sum(tf.abs(d.extended.read_var(layer.kernel) - 1))
            session.run(tf.global_variables_initializer())
            before = float(session.run(error))
            for _ in range(10):
                session.run(step)
            self.assertLess(float(session.run(error)), before)

    def _minimized(self, layer: Any, learning_rate: float) -> Any:
        """In a replica: one step of bringing the layer's output for 1 to 1."""
        optimizer = tf.train.GradientDescentOptimizer(learning_rate / tf.distribute.get_strategy().num_replicas_in_sync)
        return optimizer.minimize(lambda: tf.reduce_sum((layer(tf.constant([[1.0]])) - 1.0) ** 2), var_list=[layer.kernel])

    def _test_summary_for_replica_zero_only(self, d: Any) -> None:
        logdir = self.get_temp_dir()
        with self.cached_session() as session, d.scope():
            writer = tf.contrib.summary.create_file_writer(logdir)

            def run_fn() -> Any:
                with writer.as_default(), tf.contrib.summary.always_record_summaries():
                    step = tf.constant(1, tf.int64)
                    return tf.contrib.summary.scalar("a", 0.0, step=step)

            written = d.extended.call_for_each_replica(run_fn)
            if session is not None:
                session.run(writer.init())
                session.run([op for op in d.experimental_local_results(written) if op is not None])
            self.evaluate(writer.close())
        tags = [value.tag for event in _events_from_logdir(self, logdir) for value in event.summary.value]
        self.assertEqual(tags, ["a"])

    def _test_replica_id(self, d: Any) -> None:
        expected = list(range(d.num_replicas_in_sync))
        with d.scope():
            ids = d.extended.call_for_each_replica(lambda: tf.identity(get_replica_context().replica_id_in_sync_group))
        self.assertAllEqual(expected, self.evaluate(list(d.experimental_local_results(ids))))

    def _test_call_and_merge_exceptions(self, dist: Any) -> None:
        of_replicas = (_raise, _merge(_raise), _merge(_call(_raise)), _merge(_call(_merge(_raise))))
        with dist.scope():
            for function in of_replicas:
                with self.assertRaises(_TestException):
                    dist.extended.call_for_each_replica(function)

    # --- input ---------------------------------------------------------------------------------------------------

    def _input_fn_to_test_input_context(
        self,
        dataset_or_callable_fn: Callable[[], Any],
        expected_num_replicas_in_sync: int,
        expected_num_input_pipelines: int,
        expected_input_pipeline_id: Any,
    ) -> Callable[[InputContext], Any]:
        """An input function that is told what is expected; `expected_input_pipeline_id`: a number, or a list of all."""
        told: list[int] = []

        def input_fn(input_context: InputContext) -> Any:
            self.assertIsNotNone(input_context)
            self.assertEqual(expected_num_replicas_in_sync, input_context.num_replicas_in_sync)
            self.assertEqual(expected_num_input_pipelines, input_context.num_input_pipelines)
            expected = expected_input_pipeline_id
            self.assertEqual(expected if isinstance(expected, int) else len(told), input_context.input_pipeline_id)
            told.append(input_context.input_pipeline_id)
            return dataset_or_callable_fn()

        return input_fn

    def _assert_elements(self, expected: Any, found: Any, ignore_order: bool) -> None:
        if ignore_order:
            self.assertCountEqual(expected, found)
        else:
            self.assertAllEqual(expected, found)

    def _test_input_fn_iterable(
        self, strategy: Any, input_fn: Callable[..., Any], expected_values: Sequence[Any], ignore_order: bool = False
    ) -> None:
        elements = list(strategy.experimental_distribute_datasets_from_function(input_fn))
        self.assertLen(elements, len(expected_values))
        for expected, element in zip(expected_values, elements, strict=True):
            found = self.evaluate(list(strategy.experimental_local_results(element)))
            self._assert_elements(expected, found, ignore_order)

    def _test_input_fn_iterator(
        self,
        iterator: Any,
        devices: Sequence[str],
        expected_values: Sequence[Any],
        sess: Any = None,
        test_reinitialize: bool = True,
        ignore_order: bool = False,
    ) -> None:
        evaluate = self.evaluate if sess is None else sess.run

        def parts() -> list[Any]:
            element = iterator.get_next()
            return evaluate([select(replica, element) for replica in range(len(devices))])

        for _ in range(2 if test_reinitialize else 1):
            evaluate(iterator.initialize())
            for expected in expected_values:
                self._assert_elements(expected, parts(), ignore_order)
            with self.assertRaises(tf.errors.OutOfRangeError):
                parts()

    def _test_numpy_dataset(self, strategy: Any) -> None:
        with strategy.scope(), self.cached_session() as session:
            given = (np.arange(20.0), np.arange(20) + 500)
            dataset = strategy.experimental_make_numpy_dataset(given, session)
            element = tf.data.make_initializable_iterator(dataset)
            self.evaluate(element.initializer)
            following = element.get_next()
            for row in zip(*given, strict=True):
                self.assertAllEqual(row, self.evaluate(following))
            with self.assertRaises(tf.errors.OutOfRangeError):
                self.evaluate(following)

    # --- variables -----------------------------------------------------------------------------------------------

    def _test_global_step_update(self, strategy: Any) -> None:
        with strategy.scope():
            step = tf.get_variable(
                "global_step",
                shape=[],
                dtype=tf.int64,
                initializer=tf.zeros_initializer(),
                trainable=False,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self.evaluate(tf.global_variables_initializer())
            updates, values = strategy.extended.call_for_each_replica(lambda: (step.assign_add(1), step.value()))
            self.evaluate(strategy.group(updates))
            values = strategy.experimental_local_results(values)
            self.assertEqual([1] * len(values), self.evaluate([tf.identity(step)] * len(values)))

    def _test_trainable_variable(self, strategy: Any) -> None:
        """Variables are trainable where it is not said, unless they are synchronized on read."""
        on_read = {"synchronization": tf.VariableSynchronization.ON_READ, "aggregation": tf.VariableAggregation.SUM}
        cases: list[tuple[dict[str, Any], bool]] = [
            ({}, True),
            ({"trainable": True}, True),
            ({"trainable": False}, False),
            (on_read, False),
            ({**on_read, "trainable": False}, False),
        ]
        makers: list[Callable[..., Any]] = [lambda **kwargs: tf.Variable(1.0, **kwargs), self._got]
        for make in makers:
            with self.cached_session(), strategy.scope():
                before = len(tf.trainable_variables())
                made = [(make(**kwargs), trainable) for kwargs, trainable in cases]
                for variable, trainable in made:
                    self.assertEqual(trainable, variable.trainable)
                if not tf.executing_eagerly():
                    self.assertLen(tf.trainable_variables(), before + sum(trainable for _, trainable in made))

    def _got(self, **kwargs: Any) -> Any:
        return tf.get_variable(tf.get_default_graph().unique_name("got"), initializer=1.0, **kwargs)


class _Reductions(TestCase):
    """What replicas are given together, and its gradients; `inputs` and `expected` are lists of values for each replica."""

    def _check(self, strategy: Any, function: Callable[..., Any], inputs: Sequence[Any], expected: Sequence[Any]) -> None:
        """`function` of each replica's own inputs gives what is expected there."""
        given = [[tf.constant(value) for value in own] for own in self._of_replicas(strategy, inputs)]

        def own() -> Any:
            return function(given[int(tf.get_static_value(get_replica_context().replica_id_in_sync_group))])

        results = strategy.experimental_run_v2(own)
        found = [select(replica, results) for replica in range(strategy.num_replicas_in_sync)]
        self.assertAllClose(self._of_replicas(strategy, expected), self.evaluate(found))

    def _test_collective_comms(
        self, strategy: Any, comm_fn: Callable[..., Any], inputs: Sequence[Any], expected: Sequence[Any]
    ) -> None:
        self._check(strategy, comm_fn, inputs, expected)

    def _test_collective_comms_gradients(
        self, strategy: Any, comm_fn: Callable[..., Any], inputs: Sequence[Any], expected_grads: Sequence[Any]
    ) -> None:
        if tf.executing_eagerly():
            self.skipTest("`tf.gradients` is not supported with eager execution without using tf.functions.")

        def step(given: list[Any]) -> Any:
            return tf.gradients(list(comm_fn(given)), given)

        self._check(strategy, step, inputs, expected_grads)

    def _test_collective_comms_gradient_tape(
        self, strategy: Any, comm_fn: Callable[..., Any], inputs: Sequence[Any], expected_grads: Sequence[Any]
    ) -> None:
        def step(given: list[Any]) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(given)
                outputs = list(comm_fn(given))
            return tape.gradient(outputs, given)

        self._check(strategy, step, inputs, expected_grads)

    def _of_replicas(self, strategy: Any, values: Sequence[Any]) -> list[list[Any]]:
        """[argument][replica] as [replica][argument]; of one replica, the arguments."""
        if strategy.num_replicas_in_sync == 1:
            return [list(values)]
        return [list(of_replica) for of_replica in zip(*values, strict=True)]


class OneDeviceDistributionTestBase(_Reductions):
    """Tests of any strategy with one replica."""

    def _test_run(self, strategy: Any) -> None:
        run, results = strategy.experimental_run_v2, strategy.experimental_local_results
        first = run(lambda: tf.identity(4.0))
        self.assertAllEqual([4.0], self.evaluate(results(first)))
        second = run(lambda x: {"a": x * 2, "b": x * x}, args=(first,))
        self.assertAllEqual([8.0], self.evaluate(results(second["a"])))
        third = run(lambda b, a: b + a + 2, kwargs=second)
        self.assertAllEqual([26.0], self.evaluate(results(third)))

    def _test_all_reduce_sum(self, strategy: Any) -> None:
        self._test_collective_comms(strategy, _sum, inputs=(4.0, [42.0, 43.0]), expected=(4.0, [42.0, 43.0]))

    def _test_all_reduce_sum_gradients(self, strategy: Any) -> None:
        self._test_collective_comms_gradients(strategy, _sum, inputs=[4.0], expected_grads=[1.0])

    def _test_all_reduce_sum_gradient_tape(self, strategy: Any) -> None:
        self._test_collective_comms_gradient_tape(strategy, _sum, inputs=[4.0], expected_grads=[1.0])

    def _test_all_reduce_mean(self, strategy: Any) -> None:
        self._test_collective_comms(strategy, _mean, inputs=(2.0, [21.0, 22.0]), expected=(2.0, [21.0, 22.0]))

    def _test_all_reduce_mean_gradients(self, strategy: Any) -> None:
        self._test_collective_comms_gradients(strategy, _mean, inputs=[5.0], expected_grads=[1.0])

    def _test_all_reduce_mean_gradient_tape(self, strategy: Any) -> None:
        self._test_collective_comms_gradient_tape(strategy, _mean, inputs=[5.0], expected_grads=[1.0])

    def _test_device_and_input_device_are_colocated(self, strategy: Any) -> None:
        elements = strategy.experimental_distribute_dataset(tf.data.Dataset.range(5))
        if tf.executing_eagerly():
            element = next(iter(elements))
        else:
            element = elements.make_initializable_iterator().get_next()
        there = strategy.experimental_run_v2(lambda x: tf.identity(x).device, args=(element,))
        self.assertDeviceEqual(there, strategy.extended.worker_devices[0])


class TwoDeviceDistributionTestBase(_Reductions):
    """Tests of any strategy with two replicas."""

    def _test_run(self, strategy: Any) -> None:
        run, results = strategy.experimental_run_v2, strategy.experimental_local_results
        first = run(lambda: tf.identity(get_replica_context().replica_id_in_sync_group + 1))
        self.assertAllEqual([1, 2], self.evaluate(results(first)))
        second = run(lambda x: {"a": x * 2, "b": x * x}, args=(first,))
        self.assertAllEqual([2, 4], self.evaluate(results(second["a"])))
        self.assertAllEqual([1, 4], self.evaluate(results(second["b"])))
        third = run(lambda b, a: b + a + 2, kwargs=second)
        self.assertAllEqual([5, 10], self.evaluate(results(third)))

    def _test_all_reduce_sum(self, strategy: Any) -> None:
        inputs, expected = ([1.0, 3.0], [[39.0, 2.0], [3.0, 41.0]]), ([4.0, 4.0], [[42.0, 43.0], [42.0, 43.0]])
        self._test_collective_comms(strategy, _sum, inputs, expected)

    def _test_all_reduce_sum_gradients(self, strategy: Any) -> None:
        self._test_collective_comms_gradients(strategy, _sum, inputs=[[1.0, 3.0]], expected_grads=[[2.0, 2.0]])

    def _test_all_reduce_sum_gradient_tape(self, strategy: Any) -> None:
        self._test_collective_comms_gradient_tape(strategy, _sum, inputs=[[1.0, 3.0]], expected_grads=[[2.0, 2.0]])

    def _test_all_reduce_mean(self, strategy: Any) -> None:
        inputs, expected = ([1.0, 3.0], [[39.0, 2.0], [3.0, 41.0]]), ([2.0, 2.0], [[21.0, 21.5], [21.0, 21.5]])
        self._test_collective_comms(strategy, _mean, inputs, expected)

    def _test_all_reduce_mean_gradients(self, strategy: Any) -> None:
        self._test_collective_comms_gradients(strategy, _mean, inputs=[[1.0, 3.0]], expected_grads=[[1.0, 1.0]])

    def _test_all_reduce_mean_gradient_tape(self, strategy: Any) -> None:
        self._test_collective_comms_gradient_tape(strategy, _mean, inputs=[[1.0, 3.0]], expected_grads=[[1.0, 1.0]])
