"""`tensorflow.python.ops.linalg.linear_operator_test_util`: what tests of linear operators derive from. Source: TF 1.15.

A derived test says how to make an operator and its dense matrix (`operator_and_matrix`); `add_tests` gives it a test for
each thing that operators can be asked for, in all types, shapes and ways of feeding.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.core import dtypes
from tfexp.ops.linalg import adjoint


class OperatorShapesInfo:
    """The shape of the operator to make, and whatever else its maker wants to know."""

    def __init__(self, shape: Iterable[int], **kwargs: Any):
        self.shape = shape
        self.__dict__.update(kwargs)


OperatorBuildInfo = OperatorShapesInfo


class CheckTapeSafeSkipOptions:
    """Answers that need not depend on all of an operator's variables."""

    DETERMINANT = "determinant"
    DIAG_PART = "diag_part"
    LOG_ABS_DETERMINANT = "log_abs_determinant"
    TRACE = "trace"


class LinearOperatorDerivedClassTest(tf.test.TestCase):
    """Tests of one kind of operator."""

    _atol = {
        dtypes.float16: 1e-3,
        dtypes.float32: 1e-6,
        dtypes.float64: 1e-12,
        dtypes.complex64: 1e-6,
        dtypes.complex128: 1e-12,
    }
    _rtol = dict(_atol)

    def setUp(self) -> None:
        super().setUp()
        self._atol, self._rtol = dict(self._atol), dict(self._rtol)

    def assertAC(self, x: Any, y: Any) -> None:
        """Close, as the type wants it."""
        dtype = dtypes.as_dtype(np.asarray(x).dtype)
        self.assertAllClose(x, y, atol=self._atol[dtype], rtol=self._rtol[dtype])

    def assertRaisesError(self, msg: str) -> Any:
        """A context in which building fails with that text, in eager execution, or running does."""
        if not tf.executing_eagerly():
            return self.assertRaisesOpError(msg)
        return self.assertRaisesRegex(Exception, msg)  # noqa: PT027  # a method of a TestCase

    @staticmethod
    def adjoint_options() -> list[bool]:
        return [False, True]

    adjoint_arg_options = adjoint_options

    @staticmethod
    def dtypes_to_test() -> list[Any]:
        return [dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]

    @staticmethod
    def use_placeholders_options() -> list[bool]:
        return [False, True]

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        raise NotImplementedError("operator_shapes_infos has to be defined")

    def operator_and_matrix(
        self, shapes_info: OperatorShapesInfo, dtype: Any, use_placeholder: bool, ensure_self_adjoint_and_pd: bool = False
    ) -> Any:
        """(operator, dense matrix)"""
        raise NotImplementedError("operator_and_matrix has to be defined")

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        return self.make_x(operator, adjoint=not adjoint, with_batch=with_batch)

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """Something to multiply by: [..., columns, 2], or of as many rows for the adjoint."""
        rows = operator.range_dimension if adjoint else operator.domain_dimension
        rows = rows.value or self.evaluate(
            operator.range_dimension_tensor() if adjoint else operator.domain_dimension_tensor()
        )
        batch = self.evaluate(operator.batch_shape_tensor()).tolist() if with_batch else []
        return random_normal([*batch, rows, 2], dtype=operator.dtype)

    def check_tape_safe(self, operator: Any, skip_options: Iterable[str] | None = None) -> None:
        """That answers depend on each of the operator's variables, as tapes see it, but for those of `skip_options`."""
        if not operator.variables:
            raise AssertionError("`operator.variables` was empty")
        questions: dict[str, Callable[[], Any]] = {
            "dense": operator.to_dense,
            "adjoint": lambda: operator.adjoint().to_dense(),
            "matmul": lambda: operator.matmul(self.make_x(operator, adjoint=False)),
        }
        if operator.is_square:
            questions |= {"diag_part": operator.diag_part, "trace": operator.trace}
            if operator.is_non_singular:
                questions |= {
                    "determinant": operator.determinant,
                    "log_abs_determinant": operator.log_abs_determinant,
                    "solve": lambda: operator.solve(self.make_rhs(operator, adjoint=False)),
                    "inverse": lambda: operator.inverse().to_dense(),
                }
        for name in questions.keys() - set(skip_options or ()):
            with tf.GradientTape() as tape:
                answer = questions[name]()
            for gradient in tape.gradient(answer, operator.variables):
                assert gradient is not None, name

    @staticmethod
    def skip_these_tests() -> list[str]:
        """Names of checks that mean nothing for this kind."""
        return []

    @staticmethod
    def optional_tests() -> list[str]:
        """Names of checks that are wanted besides those that all kinds have."""
        return []


class SquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """Tests of a kind of square operators."""

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        return [OperatorShapesInfo(shape) for shape in ((0, 0), (1, 1), (1, 3, 3), (3, 4, 4), (2, 1, 4, 4))]


class NonSquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """Tests of a kind of operators that need not be square: what needs inverses and determinants is left out."""

    @staticmethod
    def skip_these_tests() -> list[str]:
        return ["cholesky", "det", "inverse", "log_abs_det", "solve", "solve_with_broadcast"]

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        return [OperatorShapesInfo(shape) for shape in ((2, 1), (1, 2), (1, 3, 2), (3, 3, 4), (2, 1, 2, 4))]


# --- what operators are asked for -----------------------------------------------------------------------------------------


def _same(ask: Callable[[Any], Any], of_dense: Callable[[Any], Any]) -> Callable[..., None]:
    """A check that an operator answers as its dense matrix does."""

    def check(test: LinearOperatorDerivedClassTest, operator: Any, dense: Any) -> None:
        test.assertAC(*test.evaluate([ask(operator), of_dense(dense)]))

    return check


def _check_matmul(test: LinearOperatorDerivedClassTest, operator: Any, dense: Any, with_batch: bool = True) -> None:
    for by_adjoint in test.adjoint_options():
        x = test.make_x(operator, by_adjoint, with_batch)
        product = operator.matmul(x, adjoint=by_adjoint)
        test.assertAC(*test.evaluate([product, tf.matmul(dense, x, adjoint_a=by_adjoint)]))


def _check_solve(test: LinearOperatorDerivedClassTest, operator: Any, dense: Any, with_batch: bool = True) -> None:
    for by_adjoint in test.adjoint_options():
        rhs = test.make_rhs(operator, by_adjoint, with_batch)
        solution = operator.solve(rhs, adjoint=by_adjoint)
        found, wanted = test.evaluate([tf.matmul(dense, solution, adjoint_a=by_adjoint), rhs])
        test.assertAC(found, np.broadcast_to(wanted, found.shape))


CHECKS: dict[str, Callable[..., None]] = {
    "to_dense": _same(lambda operator: operator.to_dense(), lambda dense: dense),
    "adjoint": _same(lambda operator: operator.adjoint().to_dense(), adjoint),
    "cholesky": _same(lambda operator: operator.cholesky().to_dense(), tf.cholesky),
    "det": _same(lambda operator: operator.determinant(), tf.matrix_determinant),
    "log_abs_det": _same(lambda operator: operator.log_abs_determinant(), lambda dense: tf.linalg.slogdet(dense)[1]),
    "diag_part": _same(lambda operator: operator.diag_part(), tf.matrix_diag_part),
    "inverse": _same(lambda operator: operator.inverse().to_dense(), tf.matrix_inverse),
    "trace": _same(lambda operator: operator.trace(), tf.trace),
    "add_to_tensor": _same(lambda operator: operator.add_to_tensor(2 * operator.to_dense()), lambda dense: 3 * dense),
    "matmul": _check_matmul,
    "matmul_with_broadcast": functools.partial(_check_matmul, with_batch=False),
    "solve": _check_solve,
    "solve_with_broadcast": functools.partial(_check_solve, with_batch=False),
}


def _test_of(name: str, placeholder: bool, dtype: Any, info: OperatorShapesInfo) -> Callable[..., None]:
    def run(self: Any) -> None:
        with self.session(graph=tf.Graph()):
            operator, dense = self.operator_and_matrix(
                info, dtype, use_placeholder=placeholder, ensure_self_adjoint_and_pd=name == "cholesky"
            )
            CHECKS[name](self, operator, dense)

    return run


def add_tests(test_cls: type[LinearOperatorDerivedClassTest]) -> None:
    """Give a class its tests: each check in each type, shape and way of feeding."""
    skipped = test_cls.skip_these_tests()
    ways = itertools.product(
        [name for name in CHECKS if name not in skipped],
        test_cls.use_placeholders_options(),
        test_cls.dtypes_to_test(),
        test_cls.operator_shapes_infos(),
    )
    for name, placeholder, dtype, info in ways:
        shape = "_".join(map(str, info.shape))
        test = f"test_{name}_operator_shape_{shape}_dtype_{dtype.name}_use_placeholder_{placeholder}"
        setattr(test_cls, test, _test_of(name, placeholder, dtype, info))


# --- matrices to make operators of ---------------------------------------------------------------------------------------


def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = dtypes.float32, seed: Any = None) -> Any:
    """Normal numbers; for complex types, real and imaginary parts are."""
    dtype = dtypes.as_dtype(dtype)
    real = dtype.real_dtype
    drawn = tf.random_normal(shape, mean, stddev, dtype=real, seed=seed)
    if not dtype.is_complex:
        return drawn
    return tf.complex(drawn, tf.random_normal(shape, mean, stddev, dtype=real, seed=None if seed is None else seed + 1234))


def random_uniform(shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None) -> Any:
    """Uniform numbers; for complex types, real and imaginary parts are."""
    dtype = dtypes.as_dtype(dtype)
    low = 0 if minval is None else minval
    drawn = tf.random_uniform(shape, low, maxval, dtype=dtype.real_dtype, seed=seed)
    if not dtype.is_complex:
        return drawn
    other = None if seed is None else seed + 12345
    return tf.complex(drawn, tf.random_uniform(shape, low, maxval, dtype=dtype.real_dtype, seed=other))


def random_sign_uniform(
    shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None
) -> Any:
    """Uniform numbers, half of them negative."""
    signs = tf.sign(tf.random_uniform(shape, -1.0, 1.0, seed=seed))
    return random_uniform(shape, minval, maxval, dtype=dtype, seed=seed) * tf.cast(signs, dtype)


def random_tril_matrix(
    shape: Any, dtype: Any, force_well_conditioned: bool = False, remove_upper: bool = True, seed: Any = None
) -> Any:
    """Lower triangular matrices, with diagonals far from 0 if wanted."""
    matrix = random_normal(shape, dtype=dtype, seed=seed)
    if remove_upper:
        matrix = tf.matrix_band_part(matrix, -1, 0)
    if force_well_conditioned:
        size = tf.shape(matrix)[:-1]
        matrix = tf.matrix_set_diag(matrix, random_sign_uniform(size, dtype=dtype, minval=1.0, maxval=2.0, seed=seed))
    return matrix


def random_positive_definite_matrix(shape: Any, dtype: Any, force_well_conditioned: bool = False) -> Any:
    """Self-adjoint matrices with positive eigenvalues."""
    factor = random_tril_matrix(shape, dtype, force_well_conditioned=force_well_conditioned)
    return tf.matmul(factor, factor, adjoint_b=True)


def random_normal_correlated_columns(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = dtypes.float32, eps: float = 1e-4, seed: Any = None
) -> Any:
    """Matrices whose columns are nearly the first ones again."""
    half = random_normal([*shape[:-1], (shape[-1] + 1) // 2], mean, stddev, dtype, seed)
    noise = random_normal([*shape[:-1], shape[-1] // 2], 0.0, eps, dtype, None if seed is None else seed + 1)
    return tf.concat([half, half[..., : shape[-1] // 2] + noise], -1)
