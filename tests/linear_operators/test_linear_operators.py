"""Every kind of linear operator against its dense matrix, batched, with static and with unknown shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.defaults import new_eager_world

L = tf.linalg


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape)


def definite(*shape: int) -> np.ndarray:
    half = drawn(*shape)
    return half @ np.swapaxes(half, -1, -2) + 2 * np.eye(shape[-1])


def kron(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([np.kron(one, b) for one in a])


def blocks(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    b = np.broadcast_to(b, (*a.shape[:-2], *b.shape[-2:]))
    upper = np.concatenate([a, np.zeros((*a.shape[:-1], b.shape[-1]))], -1)
    return np.concatenate([upper, np.concatenate([np.zeros((*b.shape[:-1], a.shape[-1])), b], -1)], -2)


def toeplitz(col: np.ndarray, row: np.ndarray) -> np.ndarray:
    n = len(col)
    return np.array([[col[i - j] if i >= j else row[j - i] for j in range(n)] for i in range(n)])


def circulant(spectrum: np.ndarray, depth: int) -> np.ndarray:
    block = spectrum.shape[-depth:]
    size = int(np.prod(block))
    axes = tuple(range(-depth, 0))
    columns = np.eye(size).reshape(size, *block)
    made = np.fft.ifftn(spectrum * np.fft.fftn(columns, axes=axes), axes=axes)
    return made.reshape(size, size).T


@dataclass(frozen=True)
class Case:
    """How to make an operator of arrays, and the dense matrices that it stands for."""

    make: Callable[..., Any]
    arrays: list[np.ndarray]
    dense: np.ndarray
    square: bool = True
    singular: bool = False
    options: dict[str, Any] = field(default_factory=dict)


A, B = definite(2, 3, 3), definite(5, 5)
DIAG, TRIL = drawn(2, 3) + 2, np.tril(drawn(2, 3, 3)) + 3 * np.eye(3)
AXIS = drawn(2, 3)
COL, ROW = drawn(5) + 3 * np.eye(5)[0], drawn(5)
U, V, D = drawn(3, 2), 0.1 * drawn(2, 3, 2), np.float64([1.5, 0.5])
RECT = drawn(2, 3, 5)
SYMMETRIC = {"is_self_adjoint": True, "is_positive_definite": True}


def full(x: Any, **hints: Any) -> Any:
    return L.LinearOperatorFullMatrix(x, **hints)


CASES = {
    "diag": Case(L.LinearOperatorDiag, [DIAG], DIAG[..., None] * np.eye(3)),
    "complex diag": Case(L.LinearOperatorDiag, [DIAG + 1j], (DIAG + 1j)[..., None] * np.eye(3)),
    "identity": Case(lambda: L.LinearOperatorIdentity(3, [2], tf.float64), [], np.tile(np.eye(3), (2, 1, 1))),
    "scaled identity": Case(
        lambda x: L.LinearOperatorScaledIdentity(3, x), [np.float64([2, -3])], np.float64([[[2]], [[-3]]]) * np.eye(3)
    ),
    "zeros": Case(lambda: L.LinearOperatorZeros(3, dtype=tf.float64), [], np.zeros((3, 3)), singular=True),
    "full": Case(full, [drawn(2, 3, 3) + 3 * np.eye(3)], drawn(2, 3, 3) + 3 * np.eye(3)),
    "definite": Case(full, [A], A, options=SYMMETRIC),
    "rectangular": Case(full, [RECT], RECT, square=False),
    "tril": Case(L.LinearOperatorLowerTriangular, [TRIL + np.triu(drawn(2, 3, 3), 1)], TRIL),
    "composition": Case(lambda a, d: full(a) @ L.LinearOperatorDiag(d), [A, DIAG], A * DIAG[:, None, :]),
    "rectangular composition": Case(lambda a, b: full(a).matmul(full(b)), [RECT, B], RECT @ B, square=False),
    "kronecker": Case(lambda a, b: L.LinearOperatorKronecker([full(a), full(b)]), [A, B], kron(A, B)),
    "rectangular kronecker": Case(
        lambda a, b: L.LinearOperatorKronecker([full(a), full(b)]), [RECT, B], kron(RECT, B), square=False
    ),
    "block diag": Case(lambda a, b: L.LinearOperatorBlockDiag([full(a), full(b)]), [A, B], blocks(A, B)),
    "adjoint": Case(
        lambda x: full(x).adjoint(), [TRIL + 1j * drawn(2, 3, 3)], np.conj(np.swapaxes(TRIL + 1j * drawn(2, 3, 3), 1, 2))
    ),
    "inversion": Case(lambda x: full(x).inverse(), [TRIL], np.linalg.inv(TRIL)),
    "low rank update": Case(
        lambda a, u, d, v: L.LinearOperatorLowRankUpdate(full(a, **SYMMETRIC), u, d, v),
        [A, U, D, V],
        A + U * D @ np.swapaxes(V, 1, 2),
    ),
    "symmetric update": Case(lambda a, u: L.LinearOperatorLowRankUpdate(full(a, **SYMMETRIC), u), [A, U], A + U @ U.T),
    "householder": Case(
        L.LinearOperatorHouseholder,
        [AXIS],
        np.eye(3) - 2 * AXIS[..., None] * AXIS[:, None] / np.sum(AXIS**2, -1)[:, None, None],
    ),
    "toeplitz": Case(L.LinearOperatorToeplitz, [COL, ROW], toeplitz(COL, ROW)),
    "circulant": Case(
        lambda x: L.LinearOperatorCirculant(x, tf.complex128),
        [drawn(5) + 2 + 1j * drawn(5)],
        circulant(drawn(5) + 2 + 1j * drawn(5), 1),
    ),
    "circulant 2d": Case(
        lambda x: L.LinearOperatorCirculant2D(x, tf.complex128), [drawn(2, 3) + 2], circulant(drawn(2, 3) + 2, 2)
    ),
    "circulant 3d": Case(
        lambda x: L.LinearOperatorCirculant3D(x, tf.complex128), [drawn(2, 3, 2) + 2], circulant(drawn(2, 3, 2) + 2, 3)
    ),
}


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def asked(operator: Any, case: Case) -> dict[str, tuple[Any, np.ndarray]]:
    """What is asked of the operator -> (its answer, the dense matrix's)."""
    dense, kind = case.dense, operator.dtype.as_numpy_dtype
    rows, columns = dense.shape[-2:]
    x, y = drawn(columns, 7).astype(kind), drawn(rows, 7).astype(kind)
    answers = {
        "dense": (operator.to_dense(), dense),
        "shape": (operator.shape_tensor(), np.int32(dense.shape)),
        "diag_part": (operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1)),
        "matmul": (operator.matmul(x), dense @ x),
        "matmul adjoint": (operator.matmul(y, adjoint=True), adjoint(dense) @ y),
        "matmul of adjoint": (operator.matmul(adjoint(x), adjoint_arg=True), dense @ x),
        "matvec": (operator.matvec(x[:, 0]), dense @ x[:, 0]),
        "adjoint": (operator.H.to_dense(), adjoint(dense)),
        "sum": (operator.add_to_tensor(dense[..., ::-1, :].astype(kind)), dense + dense[..., ::-1, :]),
        "trace": (operator.trace(), np.trace(dense, axis1=-2, axis2=-1)),
    }
    if case.square:
        answers["determinant"] = operator.determinant(), np.linalg.det(dense)
    if case.square and not case.singular:
        inverse = np.linalg.inv(dense)
        answers |= {
            "log_abs_determinant": (operator.log_abs_determinant(), np.log(np.abs(np.linalg.det(dense)))),
            "solve": (operator.solve(y), inverse @ y),
            "solve adjoint": (operator.solve(y, adjoint=True), adjoint(inverse) @ y),
            "solvevec": (operator.solvevec(y[:, 0]), inverse @ y[:, 0]),
            "inverse": (operator.inverse().to_dense(), inverse),
        }
    return answers


UNKNOWN_SHAPES = (
    *("diag", "scaled identity", "full", "rectangular composition", "rectangular kronecker", "block diag", "adjoint"),
    *("low rank update", "householder", "toeplitz", "circulant 2d"),
)


@pytest.mark.parametrize(
    ("name", "static"), [*((name, True) for name in CASES), *((name, False) for name in UNKNOWN_SHAPES)]
)
def test_an_operator_is_its_matrix(name: str, static: bool) -> None:
    case = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        given = [tf.placeholder(a.dtype, a.shape if static else [None] * a.ndim) for a in case.arrays]
        operator = case.make(*given, **case.options)
        feeds = dict(zip(given, case.arrays, strict=True))
        assert operator.shape.is_compatible_with(case.dense.shape)
        assert not static or operator.shape.as_list() == list(case.dense.shape)
        answers = asked(operator, case)
        for what, (answer, wanted) in answers.items():
            assert answer.shape.is_compatible_with(np.shape(wanted)), f"{what}: {answer.shape} for {np.shape(wanted)}"
        found = session.run({what: answer for what, (answer, _) in answers.items()}, feeds)
        for what, (_, wanted) in answers.items():
            np.testing.assert_allclose(found[what], wanted, rtol=1e-8, atol=1e-8, err_msg=what)


def test_cholesky_factors_keep_the_structure() -> None:
    hints = {"is_self_adjoint": True, "is_positive_definite": True}
    made = [full(A, **hints), L.LinearOperatorDiag(np.abs(DIAG), **hints), L.LinearOperatorIdentity(3, dtype=tf.float64)]
    made += [L.LinearOperatorKronecker([made[0], made[1]]), L.LinearOperatorBlockDiag([made[0], made[2]])]
    with tf.Session() as session:
        for operator in made:
            factor = operator.cholesky()
            lower, dense = session.run([factor.to_dense(), operator.to_dense()])
            np.testing.assert_allclose(lower @ adjoint(lower), dense, atol=1e-12)
        assert isinstance(made[1].cholesky(), L.LinearOperatorDiag)
    with pytest.raises(ValueError, match="Not a positive definite self adjoint matrix"):
        full(A).cholesky()


def test_a_direct_sum_has_what_its_operators_have() -> None:
    parts = [full(np.eye(2), **SYMMETRIC), full(np.eye(3), **SYMMETRIC)]
    for hint, words in (("is_self_adjoint", "self-adjoint"), ("is_positive_definite", "positive definite")):
        with pytest.raises(ValueError, match=f"direct sum of {words} operators is always {words}"):
            L.LinearOperatorBlockDiag(parts, **{hint: False})


def test_assertions_fail() -> None:
    singular, skew = np.float64([[1, 2], [2, 4]]), np.float64([[1, 2], [3, 4]])
    good = [full(A, **SYMMETRIC), L.LinearOperatorDiag(np.float64([1, 2]), **SYMMETRIC)]
    with tf.Session() as session:
        three = tf.placeholder_with_default(np.ones([3, 3], np.float32), None)
        for operator in good:
            session.run(
                [operator.assert_non_singular(), operator.assert_self_adjoint(), operator.assert_positive_definite()]
            )
        for make, text in (
            (lambda: full(singular).assert_non_singular(), "Singular matrix"),
            (lambda: full(np.diag([1e-9, 1e8])).assert_non_singular(), "Singular matrix"),
            (lambda: L.LinearOperatorIdentity(2, assert_proper_shapes=True).matmul(three), "Dimensions are not compatible"),
            (lambda: full(skew).assert_self_adjoint(), "not equal to its adjoint"),
            (lambda: L.LinearOperatorDiag([1.0, 0.0]).assert_non_singular(), "contained zero values"),
            (lambda: L.LinearOperatorDiag([1.0, -1.0]).assert_positive_definite(), "not positive definite"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(make())


def test_what_cannot_be_is_refused() -> None:
    rectangular = full(RECT)
    for call, error, text in (
        (lambda: full(A, is_square=False, is_self_adjoint=True), ValueError, "always square"),
        (lambda: rectangular.solve(drawn(3, 1)), NotImplementedError, "not be square"),
        (lambda: rectangular.determinant(), NotImplementedError, "not be square"),
        (lambda: rectangular.inverse(), ValueError, "non square"),
        (lambda: rectangular.matmul(drawn(3, 7)), ValueError, "Dimensions 5 and 3 are not compatible"),
        (
            lambda: rectangular.matmul(rectangular),
            ValueError,
            "Operators are incompatible. Expected `x` to have dimension 5 but got 3",
        ),
        (lambda: full(A).matmul(tf.ones([3, 1])), TypeError, "Expected argument to have dtype"),
        (lambda: L.LinearOperatorDiag([1.0], is_self_adjoint=False), ValueError, "always self adjoint"),
        (lambda: L.LinearOperatorZeros(3).solve(drawn(3, 1)), NotImplementedError, "singular"),
        (lambda: full(np.int32([[1]])), TypeError, "floating or complex"),
        (lambda: full(np.float32([1])), ValueError, "at least 2 dimensions"),
        (lambda: L.LinearOperatorIdentity(2.0), TypeError, "num_rows must be integer"),
        (lambda: L.LinearOperatorIdentity(2, batch_shape=3), ValueError, "batch_shape must be a 1-D Tensor"),
        (lambda: L.LinearOperatorZeros(tf.Variable(2)), TypeError, "num_rows cannot be reference type"),
        (lambda: L.LinearOperatorZeros(2, tf.Variable(3)), TypeError, "num_columns cannot be reference type"),
        (
            lambda: L.LinearOperatorIdentity(2, batch_shape=tf.Variable([3])),
            TypeError,
            "batch_shape cannot be reference type",
        ),
        (lambda: L.LinearOperatorIdentity(2, is_square=False), ValueError, "always square"),
        (lambda: L.LinearOperatorZeros(2, is_positive_definite=True), ValueError, "non-positive definite"),
        (lambda: L.LinearOperatorZeros(2, 3), ValueError, r"num_rows\(2\) != num_columns\(3\)"),
        (lambda: L.LinearOperatorZeros(2).assert_non_singular(), tf.errors.InvalidArgumentError, "always non-invertible"),
        (lambda: L.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "mismatched dimensions"),
        (lambda: L.LinearOperatorHouseholder([1.0], is_self_adjoint=False), ValueError, "always self adjoint"),
        (
            lambda: L.LinearOperatorHouseholder([1.0]).assert_positive_definite(),
            tf.errors.InvalidArgumentError,
            "always non-positive definite",
        ),
        (lambda: L.LinearOperatorZeros(3).solvevec([1.0, 2.0, 3.0]), NotImplementedError, "singular"),
        (lambda: full(drawn(3, 2)).solvevec(drawn(3)), NotImplementedError, "expected to not be square"),
        (lambda: full(drawn(3, 2)).solvevec(drawn(2)), ValueError, "Dimensions 3 and 2 are not compatible"),
        (lambda: full(drawn(3, 2)).matvec(drawn(3)), ValueError, "Dimensions 2 and 3 are not compatible"),
        (lambda: L.LinearOperatorLowRankUpdate(full(A), drawn(2, 1)), ValueError, "Dimensions 3 and 2 are not compatible"),
        (lambda: L.LinearOperatorLowRankUpdate(full(drawn(2, 3, 3)), drawn(5, 3, 1)), ValueError, "Incompatible shapes"),
        (lambda: L.LinearOperatorLowRankUpdate(full(A), drawn(2, 3, 1), drawn(5, 1)), ValueError, "Incompatible shapes"),
        (
            lambda: L.LinearOperatorLowRankUpdate(full(A), drawn(2, 3, 1), None, drawn(5, 3, 1)),
            ValueError,
            "Incompatible shapes",
        ),
        (
            lambda: L.LinearOperatorKronecker([L.LinearOperatorIdentity(2)] * 2, is_non_singular=False),
            ValueError,
            "The Kronecker product of non-singular operators is always non-singular",
        ),
    ):
        with pytest.raises(error, match=text):
            call()


def test_gradients_pass_through_solve() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        diag = tf.constant(np.float64([2, 4]))
        slope = tf.gradients(L.LinearOperatorDiag(diag).solvevec(np.float64([1, 1])), diag)[0]
        np.testing.assert_allclose(session.run(slope), [-0.25, -0.0625])


def test_products_of_simple_operators_are_simple() -> None:
    diagonal, identity = L.LinearOperatorDiag([2.0, 3.0]), L.LinearOperatorIdentity(2)
    scaled, zeros = L.LinearOperatorScaledIdentity(2, 5.0), L.LinearOperatorZeros(2)
    lower = L.LinearOperatorLowerTriangular([[1.0, 0.0], [3.0, 4.0]])
    blocks = L.LinearOperatorBlockDiag([diagonal, lower])
    with tf.Session() as session:
        for a, b, kind in (
            (diagonal, diagonal, L.LinearOperatorDiag),
            (diagonal, scaled, L.LinearOperatorDiag),
            (scaled, scaled, L.LinearOperatorScaledIdentity),
            (identity, lower, L.LinearOperatorLowerTriangular),
            (lower, identity, L.LinearOperatorLowerTriangular),
            (lower, diagonal, L.LinearOperatorLowerTriangular),
            (diagonal, lower, L.LinearOperatorLowerTriangular),
            (zeros, diagonal, L.LinearOperatorZeros),
            (blocks, blocks, L.LinearOperatorBlockDiag),
            (lower, lower, L.LinearOperatorComposition),
        ):
            product = a.matmul(b)
            assert type(product) is kind
            np.testing.assert_allclose(*session.run([product.to_dense(), tf.matmul(a.to_dense(), b.to_dense())]))


def test_checks_in_runs() -> None:
    size, dims = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    checked = L.LinearOperatorIdentity(size, batch_shape=dims, assert_proper_shapes=True).to_dense()
    with tf.Session() as session:
        assert session.run(checked, {size: 2, dims: [3]}).shape == (3, 2, 2)
        for number, batch, text in ((-2, [3], "must be non-negative"), ([2], [3], "0-D Tensor"), (2, 3, "1-D Tensor")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(checked, {size: number, dims: batch})
        for assertion, text in (
            (L.LinearOperatorScaledIdentity(2, 0.0).assert_non_singular, "was singular"),
            (L.LinearOperatorScaledIdentity(2, -1.0).assert_positive_definite, "not positive definite"),
            (L.LinearOperatorScaledIdentity(2, 1j).assert_self_adjoint, "not self-adjoint"),
            (L.LinearOperatorCirculant(np.complex64([1, 2, 5])).assert_hermitian_spectrum, "was not Hermitian"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(assertion())
        session.run(L.LinearOperatorCirculant(np.complex64([1, 2j, -2j])).assert_hermitian_spectrum())


def test_functions_of_matrices_take_operators() -> None:
    matrix, other = np.float64([[3, 1], [1, 2]]), np.float64([[1, 2], [3, 5]])
    x, operator = np.float64([[1, 5, 7], [2, 3, 11]]), full(matrix, **SYMMETRIC)
    skew = full(other)
    answers = {
        "matmul": (tf.linalg.matmul(operator, x), matrix @ x),
        "adjoints": (tf.matmul(skew, x.T, adjoint_a=True, adjoint_b=True), other.T @ x),
        "right": (tf.matmul(x.T, skew, adjoint_b=True), x.T @ other.T),
        "matvec": (tf.linalg.matvec(operator, x[:, 0]), matrix @ x[:, 0]),
        "solve": (tf.linalg.solve(operator, x), np.linalg.solve(matrix, x)),
        "cholesky": (tf.linalg.cholesky(operator).to_dense(), np.linalg.cholesky(matrix)),
        "inv": (tf.linalg.inv(skew, adjoint=True, name="inv").to_dense(), np.linalg.inv(other).T),
        "det": (tf.linalg.det(operator), 5.0),
        "logdet": (tf.linalg.logdet(operator, name="size"), np.log(5)),
        "trace": (tf.linalg.trace(operator), 5.0),
        "diag_part": (tf.linalg.diag_part(operator), [3, 2]),
        "adjoint": (tf.linalg.adjoint(skew).to_dense(), other.T),
    }
    with tf.Session() as session:
        found = session.run({name: tensor for name, (tensor, _) in answers.items()})
    for name, (_, expected) in answers.items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-12, err_msg=name)
    for refused, text in (
        (lambda: tf.matmul(operator, x, transpose_a=True), "Transposing not supported"),
        (lambda: tf.matmul(operator, x, a_is_sparse=True), "Sparse methods not supported"),
        (lambda: tf.linalg.logdet(skew), "Expected matrix to be self-adjoint positive definite"),
        (lambda: tf.linalg.solve(matrix, operator), "`rhs` as a LinearOperator is not supported"),
    ):
        with pytest.raises(ValueError, match=text):
            refused()
    complex_operator = full(matrix.astype(np.complex64), **SYMMETRIC)
    assert complex_operator.determinant().dtype == tf.complex64


def test_determinants_of_complex_operators_have_their_type() -> None:
    whole = np.complex128([[4.0, 1.0j], [-1.0j, 3.0]])
    diagonal = L.LinearOperatorDiag(np.complex128([2.0, 5.0]), is_non_singular=True, is_self_adjoint=True,
                                    is_positive_definite=True)  # fmt: skip
    operators = {
        11.0: L.LinearOperatorFullMatrix(whole, is_self_adjoint=True, is_positive_definite=True),
        10.0: diagonal,
        15.0: L.LinearOperatorLowRankUpdate(diagonal, np.complex128([[1.0], [0.0]]), is_diag_update_positive=True),
    }
    with tf.Session() as session:
        for determinant, operator in operators.items():
            found = session.run([operator.determinant(), operator.log_abs_determinant()])
            assert [value.dtype for value in found] == [np.complex128] * 2
            np.testing.assert_allclose(found, [determinant, np.log(determinant)])


def test_an_operator_need_not_have_a_type() -> None:
    class OfNoType(L.LinearOperator):
        def __init__(self) -> None:
            super().__init__(dtype=None)

        def _shape(self) -> tf.TensorShape:
            return tf.TensorShape([2, 2])

    operator = OfNoType()
    assert operator.dtype is None and "dtype=None" in repr(operator)
    with pytest.raises(TypeError, match="Expected argument to have dtype None"):
        operator.matmul([[2.0], [3.0]])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sizes", [((3, 2), (5, 2), (3, 2)), ((3, 2), (2,), (5, 3, 2)), ((5, 3, 2), (1, 2), (3, 2))])
def test_an_update_of_low_rank_has_the_batch_of_all_its_parts(sizes: Any, known: bool) -> None:
    u, diag, v = parts = [drawn(*size) for size in sizes]
    with tf.Graph().as_default(), tf.Session() as session:
        given = parts if known else [tf.placeholder_with_default(part, None) for part in parts]
        operator = L.LinearOperatorLowRankUpdate(L.LinearOperatorIdentity(3, dtype=tf.float64), *given)
        assert operator.shape.as_list() == [5, 3, 3] if known else operator.shape.rank is None
        sizes, dense = session.run([operator.shape_tensor(), operator.to_dense()])
    np.testing.assert_array_equal(sizes, [5, 3, 3])
    np.testing.assert_allclose(dense, np.eye(3) + (u * diag[..., None, :]) @ np.swapaxes(v, -1, -2) + np.zeros((5, 1, 1)))


@pytest.mark.parametrize("adjoint", [False, True])
def test_zeros_look_at_how_many_rows_they_are_given(adjoint: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder_with_default(2, None)
        operator = L.LinearOperatorZeros(rows, 3, is_square=False, is_self_adjoint=False, assert_proper_shapes=True)
        sizes = (2, 3) if adjoint else (3, 2)
        fitting, other = (tf.placeholder_with_default(np.ones((size, 5), np.float32), None) for size in sizes)
        assert session.run(operator.matmul(fitting, adjoint=adjoint)).shape == ((3, 5) if adjoint else (2, 5))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimensions are not compatible"):
            session.run(operator.matmul(other, adjoint=adjoint))


def test_inverses_and_reflections_are_non_singular_where_that_is_said() -> None:
    assert L.LinearOperatorHouseholder([1.0, 0.0]).is_non_singular is None
    assert L.LinearOperatorHouseholder([1.0, 0.0], is_non_singular=True).is_non_singular
    assert full(A).inverse().is_non_singular is None
    assert L.LinearOperatorInversion(full(A, is_non_singular=True)).is_non_singular
    assert L.LinearOperatorInversion(full(A), is_non_singular=True).is_non_singular


_VARIABLE = [
    (L.LinearOperatorFullMatrix, definite(3, 3)),
    (L.LinearOperatorLowerTriangular, definite(3, 3)),
    (L.LinearOperatorDiag, definite(3, 3)[0]),
    (L.LinearOperatorHouseholder, drawn(3)),
    (lambda v: L.LinearOperatorLowRankUpdate(L.LinearOperatorIdentity(3, dtype=tf.float64), v), drawn(3, 2)),
]


@pytest.mark.parametrize(("make", "value"), _VARIABLE)
def test_operators_of_variables_see_what_is_assigned_and_are_seen_by_tapes(make: Any, value: np.ndarray) -> None:
    with new_eager_world().as_default():
        v, x = tf.Variable(value), tf.ones([3, 2], tf.float64)
        operator = make(v)
        assert operator.variables == (v,) and operator.dtype == tf.float64
        v.assign(value * 1.5)
        with tf.GradientTape(persistent=True) as tape:
            answers = [operator.to_dense(), operator.matmul(x), operator.diag_part(), operator.H.to_dense()]
        assert all(tape.gradient(answer, v) is not None for answer in answers)
        fixed = make(tf.constant(value * 1.5))
        for found, expected in zip(answers, [fixed.to_dense(), fixed.matmul(x), fixed.diag_part(), fixed.H.to_dense()]):
            np.testing.assert_allclose(found, expected)
    for resource in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.Variable(value, use_resource=resource)
            dense = make(v).to_dense()
            session.run(v.initializer)
            np.testing.assert_allclose(session.run(dense), session.run(make(tf.constant(value)).to_dense()))
