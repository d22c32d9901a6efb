"""tf.test.TestCase, as a suite written for TensorFlow uses it."""

import os

import numpy as np

import tfexp as tf


class SquareTest(tf.test.TestCase):
    def test_square(self):
        with self.session():
            x = tf.square([2, 3])
            self.assertAllEqual(x.eval(), [4, 9])
            self.assertAllClose(tf.sqrt([4.0, 9.0]), [2.0, 3.0])

    def test_the_cached_session_keeps_variables(self):
        v = tf.Variable([1.0, 2.0])
        with self.cached_session() as session:
            session.run(v.initializer)
        with self.cached_session():
            self.assertAllClose(self.evaluate(v), [1.0, 2.0])

    def test_ops_of_a_session_go_to_the_cpu_unless_the_gpu_may_be_used(self):
        for block in (self.session, self.cached_session):
            with block():
                self.assertEqual(tf.no_op().device, "/device:CPU:0")
            with block(use_gpu=True):
                self.assertEqual(tf.no_op().device, "")
        with self.session(force_gpu=True):
            self.assertEqual(tf.no_op().device, "/device:GPU:0")
        for other in ({"force_gpu": True}, {"graph": tf.Graph()}, {"config": tf.ConfigProto()}):
            with self.assertRaisesRegex(ValueError, f"The {next(iter(other))} used to get"), self.cached_session(**other):
                pass

    def test_each_test_starts_with_an_empty_graph(self):
        self.assertEqual(tf.get_default_graph().get_operations(), [])
        self.assertEqual(tf.get_default_graph().seed, 87654321)

    def test_a_session_that_another_test_left_open_is_no_hindrance(self):
        session = tf.InteractiveSession()
        self.addCleanup(session.close)
        tf.no_op()
        self.setUp()
        self.assertEqual(tf.get_default_graph().get_operations(), [])

    def test_a_test_may_be_set_up_within_a_graph(self):
        with tf.Graph().as_default() as graph:
            self.setUp()
            self.assertIs(tf.get_default_graph(), graph)
            self.assertEqual(graph.seed, 87654321)

    def test_differences_are_failures(self):
        for call in (
            lambda: self.assertAllClose([1.0, 2.0], [1.0, 2.1]),
            lambda: self.assertAllEqual([1, 2], [1, 3]),
            lambda: self.assertAllEqual([1, 2], [1, 2, 3]),
            lambda: self.assertAllEqual(["a"], [b"a"]),
            lambda: self.assertAllEqual(["a"], [b"b"]),
            lambda: self.assertAllClose({"a": 1.0}, {"b": 1.0}),
            lambda: self.assertAllClose([1.0, {"a": [2.0]}], [1.0, {"a": [2.1]}]),
            lambda: self.assertAllClose([1.0, [2.0, 3.0]], [1.0, [2.0, 3.0, 4.0]]),
            lambda: self.assertAllClose([1.0, {"a": 2.0}], 5.0),
            lambda: self.assertNear(1.0, 2.0, 0.5),
            lambda: self.assertNotAllClose([1.0], [1.0]),
            lambda: self.assertAllInRange([0.5, 1.5], 0.0, 1.0),
            lambda: self.assertAllClose(np.float16(1.0), np.float16(1.001)),
            lambda: self.assertProtoEquals(3, tf.Summary()),
        ):
            with self.assertRaises(AssertionError):
                call()

    def test_failures_say_where(self):
        nested = {"x": [1.0, {"y": [2.0, 3.0]}]}
        for call, text in (
            (lambda: self.assertAllClose(nested, {"x": [1.0, {"y": [2.0, 4]}]}), r"a\[x\]\[1\]\[y\] is different from b"),
            (
                lambda: self.assertAllClose([1.0, 2.0], [1.0, 3.0]),
                r"(?s)not close where = \(array\(\[1\]\),\).*rhs",
            ),
            (lambda: self.assertAllEqual([1, 2], [1, 3]), r"(?s)not equal where = \(array\(\[1\]\),\).*lhs = \[2\]"),
            (lambda: self.assertAllClose(nested, {"z": 1}), r"mismatched keys: a has keys dict_keys\(\['x'\]\)"),
            (lambda: self.assertAllInRange([[1, 2], [3, 4]], 0, 3), r"1 of the 4 .* range \[0, 3\](?s:.*)\[1 1\] : 4"),
            (lambda: self.assertAllInRange([np.nan], 0, 3), "1 of the 1 element.s. are outside"),
            (
                lambda: self.assertAllInRange(np.arange(20), 1, 3, open_lower_bound=True),
                r"(?s)range \(1, 3\].*\[11\] : 11$",
            ),
            (lambda: self.assertAllInRange(["a"], 0, 3), "does not have an ordered numeric type"),
            (lambda: self.assertAllInSet([1, 2, 3], {1, 2}), r"1 unique element.* \{1, 2\}: \[3\]"),
        ):
            with self.assertRaisesRegex(AssertionError, text):
                call()
        with self.assertRaisesRegex(TypeError, "Error: a has <class 'str'>"):
            self.assertAllClose("a", "a")

    def test_structures_and_strings(self):
        self.assertAllClose({"a": [1.0], "b": [np.ones(2), np.ones(3)]}, {"a": [1.0], "b": [np.ones(2), np.ones(3)]})
        self.assertAllClose([1.0, [2.0, 3.0], {"a": (4.0,)}], (1.0, np.array([2.0, 3.0]), {"a": [4.0]}))
        self.assertAllClose(tf.SparseTensorValue([[0]], [1.0], [2]), tf.SparseTensorValue([[0]], [1.0], [2]))
        with self.assertRaisesRegex(ValueError, "Can't compare dict to non-dict, a.0. vs b.0."):
            self.assertAllClose([{"a": 1.0}], [1.0])
        self.assertAllEqual([b"a", b"b"], np.array([b"a", b"b"], dtype=object))
        self.assertNotAllEqual(["a", "b"], np.array([b"a", b"b"], dtype=object))
        self.assertProtoEquals("tag: 'x' simple_value: 2", tf.Summary.Value(tag="x", simple_value=2))

    def test_op_errors_match_by_their_text(self):
        with self.session() as session, self.assertRaisesOpError("uninitialized value nothing"):
            session.run(tf.Variable(1.0, name="nothing"))
        with self.assertRaises(AssertionError), self.assertRaisesOpError("other text"):
            raise tf.errors.NotFoundError(None, None, "some text")

    def test_gradients_can_be_checked(self):
        with self.session():
            x = tf.placeholder(tf.float64, [2, 3])
            good = tf.test.compute_gradient_error(x, [2, 3], tf.tanh(x), [2, 3])
            self.assertLess(good, 1e-6)
            np.random.seed(3)
            doubled = tf.test.compute_gradient(x, [2, 3], x**2, [2, 3])[0]
            np.random.seed(3)
            self.assertAllClose(np.diag(doubled), 2 * np.random.random_sample(6))
            with self.assertRaisesRegex(AssertionError, r"x_shape = \[2, 3\], init_data shape = \[6\]"):
                tf.test.compute_gradient(x, [2, 3], x, [2, 3], x_init_value=np.ones(6))
            with tf.get_default_graph().gradient_override_map({"Tanh": "Sigmoid"}):
                wrong = tf.tanh(x)
            self.assertGreater(tf.test.compute_gradient_error(x, [2, 3], wrong, [2, 3]), 0.01)

    def test_jacobians_have_the_type_of_what_is_moved(self):
        with self.session():
            for dtype, real in ((tf.float16, "float16"), (tf.float32, "float32"), (tf.complex128, "float64")):
                x = tf.ones([2], dtype)
                for jacobian in tf.test.compute_gradient(x, [2], x * x, [2]):
                    self.assertEqual(jacobian.dtype, real)
            with self.assertRaisesRegex(AssertionError, "dx = None"):
                tf.test.compute_gradient(x, [2], tf.constant(1.0), [])
            with self.assertRaisesRegex(AssertionError, "Don't support type int32 for x"):
                tf.test.compute_gradient(tf.constant([1]), [1], x, [2])


class FoldersTest(tf.test.TestCase):
    def test_a_test_may_remove_its_folder(self):
        os.rmdir(self.get_temp_dir())
