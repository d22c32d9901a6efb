"""A test file as TensorFlow's own are: imports of its inner modules, decorators, sessions, `test.main()`."""

import numpy as np
from absl.testing import parameterized
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import constant_op, dtypes, errors, errors_impl, ops, tensor_util, test_util
from tensorflow.python.ops import (
    array_ops,
    control_flow_ops,
    gen_array_ops,
    gen_math_ops,
    gradient_checker,
    gradients_impl,
    math_ops,
    state_ops,
    variable_scope,
    variables,
)
from tensorflow.python.platform import test
from tensorflow.python.training import gradient_descent, saver


@test_util.run_all_in_graph_and_eager_modes
class SumTest(test.TestCase, parameterized.TestCase):
    @parameterized.parameters(dtypes.float32, dtypes.float64, dtypes.int32)
    def testSum(self, dtype):
        x = constant_op.constant([[1, 2], [3, 4]], dtype=dtype)
        self.assertAllEqual(self.evaluate(math_ops.reduce_sum(x, 1)), [3, 7])
        self.assertDTypeEqual(math_ops.reduce_sum(x), dtype.as_numpy_dtype)

    def testBroadcastError(self):
        with self.assertRaises((ValueError, errors_impl.InvalidArgumentError)):
            self.evaluate(array_ops.zeros([2]) + array_ops.zeros([3]))


class GraphTest(test.TestCase):
    @test_util.run_deprecated_v1
    def testConcat(self):
        with self.session(use_gpu=True) as sess:
            one, other = (array_ops.placeholder(dtypes.float32, shape=[2, 3]) for _ in range(2))
            joined = array_ops.concat([one, other], 1)
            a, b = np.random.rand(2, 3).astype("f"), np.random.rand(2, 3).astype("f")
            result = sess.run(joined, feed_dict={one: a, other: b})
        self.assertEqual(result.shape, joined.get_shape())
        self.assertAllEqual(result[:, 3:], b)

    @test_util.run_v1_only("b/120545219")
    def testGradientsOfSlices(self):
        with self.cached_session():
            x = constant_op.constant(np.arange(12.0).reshape(4, 3), dtypes.float64)
            gathered = array_ops.gather(x, [0, 1])
            slices = gradients_impl.gradients(array_ops.concat([gathered, gathered], 0), x)[0]
            self.assertIsInstance(slices, ops.IndexedSlices)
            self.assertAllEqual(ops.convert_to_tensor(slices).eval()[:, 0], [2, 2, 0, 0])
            error = gradient_checker.compute_gradient_error(x, [4, 3], x[1:, ::2], [3, 2])
            self.assertLess(error, 1e-6)

    def testVariables(self):
        with self.cached_session():
            v = variables.VariableV1(0.0)
            with self.assertRaisesOpError("Attempting to use uninitialized value"):
                v.eval()
            variables.global_variables_initializer().run()
            self.assertAllClose(state_ops.assign_add(v, 2.0).eval(), 2.0)
            with variable_scope.variable_scope("scope", reuse=variable_scope.AUTO_REUSE):
                w = variable_scope.get_variable("w", [2])
                self.assertIs(variable_scope.get_variable("w", [2]), w)
            train = gradient_descent.GradientDescentOptimizer(0.5).minimize(math_ops.square(v))
            train.run()
            self.assertAllClose(v.eval(), 0.0)

    def testGenerated(self):
        with self.cached_session():
            offsets = gen_array_ops.concat_offset(1, [[2, 3, 5], [2, 7, 5]])
            self.assertAllEqual(offsets[1].eval(), [0, 3, 0])
            self.assertAllEqual(gen_math_ops.mat_mul([[1, 2]], [[3], [4]]).eval(), [[11]])
            self.assertAllEqual(gen_math_ops._range(0, 3, 1).eval(), [0, 1, 2])

    def testControlFlow(self):
        with self.cached_session():
            false, true = control_flow_ops.switch(constant_op.constant([1]), False)
            merged, index = control_flow_ops.merge([false, true])
            self.assertAllEqual(merged.eval(), [1])
            self.assertEqual(index.eval(), 0)
            with self.assertRaisesRegex(errors.InvalidArgumentError, "assertion failed"):
                control_flow_ops.with_dependencies(
                    [control_flow_ops.Assert(constant_op.constant(False), ["no"])], constant_op.constant(1)
                ).eval()

    def testProtos(self):
        with ops.Graph().as_default() as graph:
            constant_op.constant(7, shape=[2, 2], name="seven")
            definition = graph.as_graph_def()
        self.assertIsInstance(definition, graph_pb2.GraphDef)
        self.assertAllEqual(tensor_util.MakeNdarray(definition.node[0].attr["value"].tensor), [[7, 7], [7, 7]])
        self.assertProtoEquals("name: 'x' op: 'NoOp'", type(definition.node[0])(name="x", op="NoOp"))
        test_util.assert_ops_in_graph({"seven": "Const"}, graph)

    def testSaver(self):
        path = self.get_temp_dir() + "/model"
        with self.session(graph=ops.Graph()) as sess:
            v = variables.Variable([1.0, 2.0], name="v")
            sess.run(v.initializer)
            written = saver.Saver().save(sess, path, global_step=3)
        self.assertEqual(saver.latest_checkpoint(self.get_temp_dir()), written)
        with self.session(graph=ops.Graph()) as sess:
            v = variables.Variable([0.0, 0.0], name="v")
            saver.Saver().restore(sess, written)
            self.assertAllClose(v, [1.0, 2.0])

    def testMocks(self):
        with test.mock.patch.object(math_ops, "add", return_value=3):
            self.assertEqual(math_ops.add(1, 1), 3)
        self.assertFalse(test.is_gpu_available())


if __name__ == "__main__":
    test.main()
