"""What else `tf.test` and TensorFlow's `test_util` give a suite."""

import sys
import unittest

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime import testing_modes as test_util
from tfexp.runtime.eager import eager_mode
from tfexp.runtime.testing_leaks import assert_no_new_pyobjects_executing_eagerly

modes = []


class ModesTest(tf.test.TestCase):
    @test_util.run_in_graph_and_eager_modes
    def test_in_both_modes(self):
        modes.append(tf.executing_eagerly())
        with self.cached_session() as session:
            self.assertAllEqual(session.run(tf.constant([1]) + 1), [2])
        v = tf.Variable([3.0])
        self.evaluate(v.initializer if modes[-1] is False else [])
        self.assertAllClose(v * 2, [6.0])
        self.assertEqual(modes, [False, True][: len(modes)])

    @test_util.run_in_graph_and_eager_modes(use_gpu=False)
    def test_with_arguments(self):
        self.assertAllEqual(self.evaluate([tf.constant([1]), tf.constant([2])]), [[1], [2]])

    @test_util.run_deprecated_v1
    def test_graphs_are_what_there_is(self):
        self.assertFalse(tf.executing_eagerly())

    @test_util.run_v1_only("reason")
    def test_v1(self):
        self.assertEqual(tf.VERSION[0], "1")

    def test_skipped(self):
        class Inner(tf.test.TestCase):
            @test_util.run_v2_only
            def test_two(self):
                self.fail()

            @test_util.run_gpu_only
            def test_gpu(self):
                self.fail()

            @test_util.skip_if(lambda: True)
            def test_condition(self):
                self.fail()

            @test_util.disable_xla("because")
            def test_runs(self):
                pass

        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Inner).run(result)
        self.assertEqual(
            sorted(reason for _, reason in result.skipped),
            ["Not a test.", "Test is only compatible with v2", "Test requires GPU"],
        )
        self.assertEqual(result.failures + result.errors, [])

    def test_layouts(self):
        self.assertEqual(test_util.NHWCToNCHW([2, 3, 5, 7]), [2, 7, 3, 5])
        self.assertEqual(test_util.NCHWToNHWC(tf.zeros([2, 7, 3, 5, 11])).shape, [2, 3, 5, 11, 7])

    def test_nodes_that_are_expected(self):
        tf.constant(1.0, name="a")
        found = test_util.assert_ops_in_graph({"a": "Const"}, tf.get_default_graph())
        self.assertEqual(found["a"], test_util.get_node_def_from_graph("a", tf.get_default_graph().as_graph_def()))
        with self.assertRaisesRegex(ValueError, "Expected op for node a is different. Add vs Const"):
            test_util.assert_ops_in_graph({"a": "Add"}, tf.get_default_graph())
        with self.assertRaisesRegex(ValueError, "Not all expected ops are present"):
            test_util.assert_ops_in_graph({"b": "Add"}, tf.get_default_graph())

    def test_combinations(self):
        made = test_util.generate_combinations_with_testcase_name(rate=[0.5], mode=["a", "b"])
        self.assertEqual([c["testcase_name"] for c in made], ["_test_mode_a_rate_05", "_test_mode_b_rate_05"])


class CatchingTest(tf.test.TestCase):
    def test_writes(self):
        with open(self.get_temp_dir() + "/stream", "w") as stream, self.captureWritesToStream(stream) as writes:
            print("first", file=stream, flush=True)
            self.assertEqual(writes.contents(), "first\n")

    def test_threads(self):
        done = []
        thread = self.checkedThread(target=done.append, args=(1,))
        thread.start()
        thread.join()
        self.assertEqual(done, [1])
        self.assertFalse(thread.is_alive())
        failing = self.checkedThread(target=self.fail, args=("reason",))
        failing.start()
        with self.assertRaisesRegex(AssertionError, "Error in checkedThread: reason"):
            failing.join()

    def test_stubs(self):
        stubs = tf.test.StubOutForTesting()
        stubs.Set(sys, "maxsize", 7)
        stubs.SmartSet(tf.test.TestCase, "assertLen", 8)
        self.assertEqual((sys.maxsize, tf.test.TestCase.assertLen), (7, 8))
        stubs.CleanUp()
        self.assertGreater(sys.maxsize, 7)
        self.assertNotIn("assertLen", vars(tf.test.TestCase))
        self.assertLen([1, 2], 2)

    def test_types(self):
        self.assertDTypeEqual(tf.constant(1.0), np.float32)
        self.assertDTypeEqual(np.zeros(2, np.int8), tf.int8)
        with self.assertRaises(AssertionError):
            self.assertDTypeEqual([1.5], tf.float32)
        self.assertAllInSet(tf.constant([["a", "b"]]), [b"a", b"b"])


def test_benchmarks_report(capsys):
    class Adding(tf.test.Benchmark):
        def benchmark_sum(self):
            with tf.Graph().as_default(), tf.Session() as session:
                result = self.run_op_benchmark(session, tf.add(1, 2), min_iters=3, extras={"size": 1})
            assert result["iters"] == 3 and result["wall_time"] > 0

    from tfexp.runtime.benchmark import run_benchmarks, wanted_benchmarks

    argv = ["program", "--benchmarks=Adding", "--other"]
    assert wanted_benchmarks(argv) == "Adding" and argv == ["program", "--other"]
    run_benchmarks("Adding")
    assert capsys.readouterr().out.startswith("Adding.benchmark_sum: iters: 3, wall_time: ")
    with pytest.raises(ValueError, match="calling Benchmark function"):
        Adding().report_benchmark()


def test_a_local_cluster():
    workers, servers = tf.test.create_local_cluster(2, 1)
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(3.0)
        with tf.Session(workers[1].target) as session:
            session.run(v.initializer)
            assert session.run(v) == 3.0
    assert len(servers) == 1


def test_control_flow_by_functions_for_some_tests() -> None:
    seen = []

    @test_util.with_control_flow_v2
    class Inner:
        def test_both(self) -> None:
            seen.append(tf.control_flow_v2_enabled())

        @test_util.disable_control_flow_v2("because")
        def test_one(self) -> None:
            seen.append(tf.control_flow_v2_enabled())

    assert [name for name in vars(Inner) if "test" in name] == ["test_both", "test_one", "test_bothWithControlFlowV2"]
    Inner().test_one()
    Inner().test_both()
    Inner().test_bothWithControlFlowV2()
    assert seen == [False, False, True] and not tf.control_flow_v2_enabled()


class Leaving:
    """Tests that leave things behind, and one that does not."""

    @test_util.assert_no_garbage_created
    def a_cycle(self):
        cycle = []
        cycle.append(cycle)

    @test_util.assert_no_new_tensors
    def a_tensor(self):
        self.kept = tf.constant([3.0])

    @test_util.assert_no_garbage_created
    @test_util.assert_no_new_tensors
    def nothing(self):
        return (tf.reshape(tf.constant([3.0]), [1]) * 2.0).shape.as_list()

    @assert_no_new_pyobjects_executing_eagerly
    def an_object(self):
        self.__dict__.setdefault("objects", []).append([tf.executing_eagerly()])
        if len(self.objects) == 5:  # as another thread may in the middle
            self.freed.clear()

    @assert_no_new_pyobjects_executing_eagerly
    def objects_once(self):
        self.runs += 1
        if self.runs == 5:
            self.kept = [[], []]


@pytest.mark.usefixtures("only_new_garbage")
def test_what_tests_leave_behind():
    with eager_mode():
        assert Leaving().nothing() == [1]
        with pytest.raises(AssertionError, match="1 Tensors not deallocated"):
            Leaving().a_tensor()
    with pytest.raises(AssertionError, match="garbage collector: 1 objects"):
        Leaving().a_cycle()
    leaving = Leaving()
    leaving.freed, leaving.runs = [[] for _ in range(10)], 0
    with pytest.raises(AssertionError, match="new Python objects"):
        leaving.an_object()
    leaving.objects_once()


def test_tests_whose_names_say_so_are_run_in_a_graph_alone():
    seen = []

    @test_util.run_all_in_graph_and_eager_modes
    class Tests(tf.test.TestCase):
        def testBoth(self):
            seen.append(("both", tf.executing_eagerly()))

        def testSkipEagerHere(self):
            seen.append(("camel", tf.executing_eagerly()))

        def test_skip_eager_here(self):
            seen.append(("snake", tf.executing_eagerly()))

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    assert not result.errors
    assert sorted(seen) == [("both", False), ("both", True), ("camel", False), ("snake", False)]
