"""Gradient checkers of functions, functions of eager modules, and features by date."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins import gradient_checker as checker
from tfexp.stand_ins import gradient_checker_steps as steps
from tfexp.stand_ins.context import eager_mode
from tfexp.stand_ins.modules import stand_for


def both_modes(run):
    with tf.Graph().as_default(), tf.Session():
        run()
    with eager_mode():
        run()


def test_jacobians_of_a_function():
    def run():
        a, b = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.arange(15.0).reshape(3, 5)
        theoretical, numeric = checker.compute_gradient(tf.matmul, [a, b])
        assert [t.shape for t in theoretical] == [(10, 6), (10, 15)]
        np.testing.assert_allclose(theoretical[0], np.kron(np.eye(2), b.T))
        assert checker.max_error(theoretical, numeric) < 1e-9
        wrong = tf.custom_gradient(lambda x: (x * x, lambda grad: grad))
        assert checker.max_error(*checker.compute_gradient(wrong, [np.array([3.0])])) == pytest.approx(5.0)

    both_modes(run)


def test_jacobians_of_complex_values_and_rows():
    def run():
        z = np.array([1 + 2j, 3 - 1j])
        theoretical, numeric = checker.compute_gradient(lambda x: x * x, [z])
        assert theoretical[0].shape == (4, 4) and checker.max_error(theoretical, numeric) < 1e-9
        rows = checker.compute_gradient(lambda x: tf.gather(x, [2, 2]), [np.ones((3, 2))])
        assert rows[0][0].shape == (4, 6) and checker.max_error(*rows) < 1e-9

    both_modes(run)


def test_empty_results_have_empty_gradients():
    def run():
        theoretical, _ = checker.compute_gradient(lambda x: x[:0], [np.ones((3, 2), np.float32)])
        assert theoretical[0].shape == (0, 6)

        @tf.custom_gradient
        def wrong(x):
            return x[:0], lambda grad: tf.ones([3, 2])

        with pytest.raises(ValueError, match="Empty tensor with nonzero gradients"):
            checker.compute_gradient(wrong, [np.ones((3, 2), np.float32)])
        with pytest.raises(ValueError, match="`x` must be a list"):
            checker.compute_gradient(tf.sin, np.ones(3))
        with pytest.raises(AssertionError, match="unsupported type int64 of argument 1"):
            checker.compute_gradient(tf.add, [np.ones(3), np.ones(3, np.int64)])

    both_modes(run)


def test_functions_of_eager_modules_are_traced():
    ops, seen = stand_for("tensorflow.python.framework.ops"), []

    def doubled(x):
        seen.append((tf.executing_eagerly(), ops.executing_eagerly_outside_functions(), ops.inside_function()))
        return 2 * x

    def_function = stand_for("tensorflow.python.eager.def_function")
    for traced in (def_function.function(doubled), stand_for("tensorflow.python.eager.function").defun(doubled)):
        assert isinstance(traced, def_function.Function)
        with eager_mode():
            assert traced(tf.constant([1, 2])).numpy().tolist() == [2, 4]
            traced(tf.constant([3, 4]))
    assert seen == [(False, True, True)] * 2


def test_tapes_from_outside():
    backprop, tape = stand_for("tensorflow.python.eager.backprop"), stand_for("tensorflow.python.eager.tape")
    with eager_mode():
        x = tf.constant(3.0)
        result, vjp = backprop.make_vjp(lambda a, b: a * a * b, params=[0])(x, 2.0)
        assert result.numpy() == 18 and vjp(tf.constant(0.5))[0].numpy() == 6
        with backprop.GradientTape(persistent=True) as recorder:
            recorder.watch(x)
            with tape.stop_recording():
                unseen = x * 2
                assert not tape.could_possibly_record()
            seen = x * 3
            assert tape.could_possibly_record()
        assert recorder.gradient(unseen, x) is None and recorder.gradient(seen, x).numpy() == 3
        traced = stand_for("tensorflow.python.eager.function").defun_with_attributes(attributes={"a": "b"})(lambda y: y + x)
        assert traced(x).numpy() == 6


def test_features_by_date():
    assert tf.compat.forward_compatible(2019, 4, 25) and not tf.compat.forward_compatible(2020, 1, 1)
    with tf.compat.forward_compatibility_horizon(2020, 1, 2):
        assert tf.compat.forward_compatible(2020, 1, 1)
    assert not tf.compat.forward_compatible(2020, 1, 1)


def test_assertions_with_other_arguments():
    check_ops = stand_for("tensorflow.python.ops.check_ops")
    with eager_mode():
        check_ops.assert_less_v2(1, 2, "fine")
        check_ops.assert_less_equal_v2(y=2, x=1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
            check_ops.assert_greater_v2(1, 2, "too small", 3, "name")
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
            check_ops.assert_non_negative_v2(-1, message="negative")
    assert not hasattr(check_ops, "assert_nothing_v2")


def test_functions_of_version_2_by_their_private_names():
    """Their arguments are those of 1.15's private modules, also where an op is called so as well."""
    arrays, confusion, lookup, nn, random = (
        stand_for(f"tensorflow.python.ops.{name}")
        for name in ("array_ops", "confusion_matrix", "lookup_ops", "nn_ops", "random_ops")
    )
    with eager_mode():
        np.testing.assert_array_equal(arrays.gather_v2([[1, 2], [3, 4]], [1], None, 1), [[2], [4]])
        np.testing.assert_array_equal(arrays.pad_v2([5], [[1, 0]], "CONSTANT", 7), [7, 5])
        np.testing.assert_array_equal(arrays.zeros_like_v2(input=[5]), [0])
        np.testing.assert_array_equal(confusion.confusion_matrix([0, 1], [0, 1], None, [2, 3], tf.int32), [[2, 0], [0, 3]])
        assert nn.crelu_v2([[1.0, -1.0]], 0).shape == [2, 2]
        assert random.random_poisson_v2([3], lam=2.0).shape == [3]
    with tf.Graph().as_default(), tf.Session() as session:
        table = lookup.index_table_from_tensor(vocabulary_list=["a", "b"], num_oov_buckets=1)
        words = lookup.index_to_string_table_from_tensor(vocabulary_list=["a", "b"])
        found = table.lookup(tf.constant(["b", "c"])), words.lookup(tf.constant([1, 2], tf.int64))
        session.run(tf.tables_initializer())
        numbers, texts = session.run(found)
    assert numbers.tolist() == [1, 2] and texts.tolist() == [b"b", b"UNK"]


def test_the_steps_of_a_check_can_be_taken_one_by_one():
    with tf.Graph().as_default(), tf.Session():
        x, factor = tf.placeholder(tf.float64, [2, 3]), tf.placeholder(tf.float64, [])
        y = tf.reduce_sum(factor * x * x, 1)
        dx, dy = steps._compute_dx_and_dy(x, y, [2])
        start, more = np.arange(6.0).reshape(2, 3), {factor: 2.0}
        expected = np.zeros([6, 2])
        expected[:3, 0], expected[3:, 1] = 4 * start
        found = steps._compute_theoretical_jacobian(x, [2, 3], start, dy, [2], dx, more)
        np.testing.assert_array_equal(found, expected)
        near = steps._compute_numeric_jacobian(x, [2, 3], start, y, [2], 1e-3, more)
        np.testing.assert_allclose(near, expected, atol=1e-9)
