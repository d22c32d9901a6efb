"""What TensorFlow's own tests of strategies and workers are written with."""

import os

import pytest

import tfexp as tf
from tests.distribute.replicas import session, two
from tfexp.stand_ins import loss_examples, worker_tests
from tfexp.stand_ins.modules import stand_for
from tfexp.stand_ins.strategy_tests import (
    DistributionTestBase,
    OneDeviceDistributionTestBase,
    TwoDeviceDistributionTestBase,
)

test_util = stand_for("tensorflow.python.framework.test_util")


@test_util.run_all_in_graph_and_eager_modes
class TestOneDevice(DistributionTestBase, OneDeviceDistributionTestBase):
    def test_all(self):
        one = tf.distribute.OneDeviceStrategy("/cpu:0")
        for check in (
            *(self._test_replica_id, self._test_call_and_merge_exceptions, self._test_run, self._test_trainable_variable),
            *(self._test_all_reduce_sum, self._test_all_reduce_sum_gradient_tape),
            *(self._test_all_reduce_mean, self._test_all_reduce_mean_gradient_tape),
            self._test_device_and_input_device_are_colocated,
        ):
            check(one)
        numbers = self._input_fn_to_test_input_context(lambda: tf.data.Dataset.range(3), 1, 1, 0)
        iterator = one.make_input_fn_iterator(numbers)
        self._test_input_fn_iterator(iterator, one.extended.worker_devices, [[0], [1], [2]])
        if tf.executing_eagerly():
            self._test_minimize_loss_eager(one)
            self._test_input_fn_iterable(one, numbers, [[0], [1], [2]])
        else:
            self._test_minimize_loss_graph(one)
            self._test_numpy_dataset(one)
            self._test_global_step_update(one)
            self._test_summary_for_replica_zero_only(one)
            self._test_all_reduce_sum_gradients(one)
            self._test_all_reduce_mean_gradients(one)


class TestTwoDevices(DistributionTestBase, TwoDeviceDistributionTestBase):
    def evaluate(self, tensors):
        with session() as opened:
            return opened.run(tensors)

    def test_all(self):
        with tf.Graph().as_default():
            for check in (
                *(self._test_replica_id, self._test_call_and_merge_exceptions, self._test_run),
                *(self._test_all_reduce_sum, self._test_all_reduce_sum_gradients, self._test_all_reduce_sum_gradient_tape),
                *(
                    self._test_all_reduce_mean,
                    self._test_all_reduce_mean_gradients,
                    self._test_all_reduce_mean_gradient_tape,
                ),
            ):
                check(two())


@pytest.mark.parametrize("steps", [1, 2])
def test_losses_of_examples_are_minimized(steps):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        step, layer = loss_examples.single_loss_example(
            lambda: tf.train.GradientDescentOptimizer(0.1), two(), use_bias=True, iterations_per_step=steps
        )
        begin, once = step.initialize(), step()
        with session() as opened:
            opened.run([begin, tf.global_variables_initializer()])
            for _ in range(6 // steps):
                opened.run(once)
            assert opened.run(layer.kernel + layer.bias)[0, 0] == pytest.approx(1, abs=1e-3)


def test_the_example_of_batch_normalization():
    with tf.Graph().as_default():
        tf.get_variable_scope().set_use_resource(True)  # tapes do not see how others are read
        minimize, data, layer = loss_examples.batchnorm_example(lambda: tf.train.GradientDescentOptimizer(0.1), 2)
        elements = tf.data.make_one_shot_iterator(data()).get_next()
        done = minimize(elements)
        with tf.Session() as opened:
            opened.run(tf.global_variables_initializer())
            assert opened.run([elements, done])[0][2, 3] == 19.0 and opened.run(elements)[2, 3] == 119.0
        assert elements.shape == [16, 8] and layer.momentum == 0.9


class TestWorkers(worker_tests.MultiWorkerTestBase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass(num_workers=2, num_ps=0)

    @classmethod
    def tearDownClass(cls):
        for servers in worker_tests._servers.pop().values():
            for server in servers:
                server.stop()

    def test_clients_are_of_their_workers(self):
        seen = []

        def client(job, task, gpus, eager):
            address = self._cluster_spec[job][task]
            with tf.Graph().as_default(), self.cached_session(target=f"grpc://{address}") as opened:
                with self.cached_session() as again:
                    assert again is opened
                seen.append((job, task, gpus, eager, opened.run(tf.constant(task))))

        self._run_between_graph_clients(client, self._cluster_spec, 0, False)
        assert sorted(seen) == [("worker", 0, 0, False, 0), ("worker", 1, 0, False, 1)]


class TestTasks(worker_tests.IndependentWorkerTestBase):
    def test_each_knows_which_it_is(self):
        seen = []

        def task(given):
            seen.append((worker_tests.get_task_type(), worker_tests.get_task_index(), worker_tests.is_chief(), given))

        threads = self.run_multiple_tasks_in_threads(task, {"worker": ["a:1", "b:2"], "ps": ["c:3"]}, 5)
        self.join_independent_workers(threads["worker"] + threads["ps"])
        assert sorted(seen) == [("ps", 0, False, 5), ("worker", 0, True, 5), ("worker", 1, False, 5)]
        assert "TF_CONFIG" not in os.environ and "PATH" in os.environ

    def test_the_error_of_one_is_raised(self):
        def task():
            raise ValueError("broken")

        threads = self.run_multiple_tasks_in_threads(task, {"worker": ["a:1"]})
        with pytest.raises(ValueError, match="broken"):
            self.join_independent_workers(threads["worker"])


def test_addresses_of_a_cluster_are_different():
    spec = worker_tests.create_cluster_spec(has_chief=True, num_workers=2, has_eval=True)
    assert {job: len(addresses) for job, addresses in spec.items()} == {"chief": 1, "worker": 2, "evaluator": 1}
    assert len({address for addresses in spec.values() for address in addresses}) == 4
