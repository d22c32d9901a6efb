"""Tests of linear operators written for TensorFlow: what they derive from, and the checks that they share."""

import unittest

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins import linear_operator_tests as testing
from tfexp.stand_ins import linear_operator_utilities as utilities


class Diagonal(testing.SquareLinearOperatorDerivedClassTest):
    @staticmethod
    def operator_shapes_infos():
        return [testing.OperatorShapesInfo((2, 3, 3))]

    @staticmethod
    def dtypes_to_test():
        return [tf.float64, tf.complex128]

    def operator_and_matrix(self, shapes_info, dtype, use_placeholder, ensure_self_adjoint_and_pd=False):
        diagonal = testing.random_uniform(shapes_info.shape[:-1], 1.0, 2.0, dtype=dtype)
        if ensure_self_adjoint_and_pd:
            diagonal = tf.cast(tf.abs(diagonal), dtype)
        given = tf.placeholder_with_default(diagonal, None) if use_placeholder else diagonal
        kept = ensure_self_adjoint_and_pd or None
        operator = tf.linalg.LinearOperatorDiag(given, is_self_adjoint=kept, is_positive_definite=kept)
        return operator, tf.matrix_diag(given)


class Wrong(Diagonal):
    def operator_and_matrix(self, *args, **kwargs):
        operator, dense = super().operator_and_matrix(*args, **kwargs)
        return operator, 2 * dense


Diagonal.__test__ = Wrong.__test__ = False  # run by the test below


@pytest.mark.parametrize(("kind", "passes"), [(Diagonal, True), (Wrong, False)])
def test_tests_are_added(kind, passes):
    testing.add_tests(kind)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(kind)
    assert suite.countTestCases() == 4 * len(testing.CHECKS) + 1  # test_session
    chosen = unittest.TestSuite(
        test for test in suite if ("float64" in test.id() and kind is Diagonal) or "trace" in test.id()
    )
    result = unittest.TestResult()
    with np.errstate(all="ignore"):
        chosen.run(result)
    assert (result.errors, len(result.failures)) == ([], 0 if passes else chosen.countTestCases())


def test_errors_of_runs_and_of_eager_execution():
    case = Diagonal()
    checked = tf.placeholder_with_default(-2, [])
    operator = tf.linalg.LinearOperatorZeros(checked, assert_proper_shapes=True)
    with tf.Session() as session, case.assertRaisesError("num_rows must be non-negative"):
        session.run(operator.shape_tensor())
    with eager_mode(), case.assertRaisesError("num_rows must be non-negative"):
        tf.linalg.LinearOperatorZeros(tf.constant(-2))
    with pytest.raises(AssertionError), case.assertRaisesError("not this"):
        pass


def test_checks_and_equations():
    with tf.Graph().as_default(), tf.Session() as session:
        matrices = utilities.broadcast_matrix_batch_dims([np.ones((2, 1, 3, 3)), np.ones((5, 3, 7))])
        assert [m.shape.as_list() for m in matrices] == [[2, 5, 3, 3], [2, 5, 3, 7]]
        with pytest.raises(ValueError, match="at least two dimensions"):
            utilities.broadcast_matrix_batch_dims([np.ones(3), np.ones((3, 3))])
        matrix, rhs = np.diag([2.0, 4.0]), np.ones((5, 2, 1))
        for solve in (utilities.matrix_solve_with_broadcast, utilities.matrix_triangular_solve_with_broadcast):
            np.testing.assert_allclose(session.run(solve(matrix, rhs))[3], [[0.5], [0.25]])
        np.testing.assert_allclose(session.run(utilities.cholesky_solve_with_broadcast(matrix, rhs))[3], [[0.25], [0.0625]])
        session.run(utilities.assert_no_entries_with_modulus_zero([1.0, -2.0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="none is zero"):
            session.run(utilities.assert_no_entries_with_modulus_zero([0.0], message="none is zero"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="real"):
            session.run(utilities.assert_zero_imag_part([1 + 2j], message="real"))
        assert utilities.shape_tensor([2, 3]).dtype == tf.int32
        kinds = {tf.float32: tf.complex64, tf.float64: tf.complex128, tf.complex64: tf.complex64}
        assert {kind: utilities._to_complex(tf.constant([1], kind)).dtype for kind in kinds} == kinds
        a = tf.linalg.LinearOperatorFullMatrix(np.ones((2, 3)))
        assert utilities.is_aat_form([a, a.H]) and not utilities.is_aat_form([a, a])
        hint = utilities.use_operator_or_provided_hint_unless_contradicting
        assert hint(a, "is_square", None, "") is False and hint(a, "is_self_adjoint", True, "") is True
        with pytest.raises(ValueError, match="it is not"):
            hint(a, "is_square", True, "it is not")
