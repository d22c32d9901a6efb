"""Rows of matrix products, diagonals and systems of equations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

# --- products -------------------------------------------------------------------------------------------------------


def product(transpose_a, transpose_b):
    def reference(a, b):
        a = np.swapaxes(a, -1, -2) if transpose_a else a
        b = np.swapaxes(b, -1, -2) if transpose_b else b
        return np.sum(a[..., :, :, np.newaxis] * b[..., np.newaxis, :, :], axis=-2)

    return reference


MATMUL_ERRORS = [
    Error([(2, 3), (2, 5)], ValueError, "Dimensions must be equal, but are 3 and 2"),
    Error([(3,), (3, 5)], ValueError, "Shape must be rank 2 but is rank 1"),
    Error([(2, 3), (2, 5)], InvalidArgumentError, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,5]"),
]
PRODUCTS = [
    OpCase(
        "MatMul",
        [(3, 2) if a else (2, 3), (5, 3) if b else (3, 5)],
        product(a, b),
        {"transpose_a": a, "transpose_b": b},
        dtypes=["float32", "float64", "int32", "complex64"],
        label=f"{a} {b}",
        errors=() if a or b else MATMUL_ERRORS,
    )
    for a, b in itertools.product((False, True), repeat=2)
]
PRODUCTS += [
    OpCase("MatMul", [(2, 0), (0, 3)], lambda a, b: np.zeros((2, 3), a.dtype), label="empty"),
    OpCase(
        "MatMul",
        [(2, 3), (3, 5)],
        product(False, False),
        dtypes=["bfloat16"],
        tolerance=0.1,
        label="bfloat16",
        numeric=False,
    ),
    OpCase("SparseMatMul", [(2, 3), (3, 5)], product(False, False), numeric=False, errors=MATMUL_ERRORS[:2]),
]
BATCH_ERRORS = [
    Error([(7, 2, 3), (7, 2, 3)], ValueError, "Dimensions must be equal, but are 3 and 2"),
    Error([(7, 2, 3), (11, 3, 5)], ValueError, "must be equal, but are 7 and 11"),
    Error([(7, 2, 3), (7, 2, 3)], InvalidArgumentError, "In[0] mismatch In[1] shape: 3 vs. 2: [7,2,3] [7,2,3] 0 0"),
    Error([(7, 2, 3), (11, 3, 5)], InvalidArgumentError, "must have compatible batch dimensions: [7,2,3] vs. [11,3,5]"),
]
PRODUCTS += [
    OpCase(
        "BatchMatMulV2",
        [(*batch, *((3, 2) if a else (2, 3))), (*other, *((5, 3) if b else (3, 5)))],
        product(a, b),
        {"adj_x": a, "adj_y": b},
        dtypes=["float32", "float64", "int32"],
        label=f"{a} {b} {batch} {other}",
        tolerance=1e-5,
        errors=() if a or b else BATCH_ERRORS,
    )
    for a, b in itertools.product((False, True), repeat=2)
    for batch, other in [((2,), (2,)), ((3,), ()), ((2, 1), (3,))]
]
PRODUCTS += [
    OpCase(
        "BatchMatMulV2",
        [(2, 3, 2), (2, 3, 5)],
        lambda a, b: np.einsum("bki,bkj->bij", np.conj(a), b),
        {"adj_x": True},
        dtypes=["complex64"],
        label="adjoint",
    ),
]


def einsum(equation, *shapes, **options):
    """By explicit loops over all labels."""
    terms, _, output = equation.partition("->")

    def reference(arrays):
        sizes = {}
        for term, array in zip(terms.split(","), arrays, strict=True):
            sizes.update(zip(term, array.shape, strict=True))
        result = np.zeros([sizes[c] for c in output], arrays[0].dtype)
        for values in itertools.product(*(range(n) for n in sizes.values())):
            at = dict(zip(sizes, values, strict=True))
            factors = [a[tuple(at[c] for c in t)] for t, a in zip(terms.split(","), arrays, strict=True)]
            result[tuple(at[c] for c in output)] += np.prod(factors, dtype=result.dtype)
        return result

    return OpCase(
        "Einsum",
        [list(shapes)],
        reference,
        {"equation": equation},
        dtypes=["float32", "float64"],
        label=equation,
        tolerance=1e-5,
        **options,
    )


EINSUM = [
    einsum("ij,jk->ik", (2, 3), (3, 5)),
    einsum("bij,bjk->bik", (2, 3, 5), (2, 5, 2)),
    einsum("ij,kj->", (2, 3), (5, 3)),
    einsum("ij,k->jik", (2, 3), (5,)),
    einsum("ij->j", (2, 3)),
    einsum("ij->ji", (2, 3)),
    einsum("ijk->k", (2, 3, 5)),
    einsum("ijk,jl->il", (2, 3, 5), (3, 2)),
    OpCase(
        "Einsum",
        [[(2, 3, 5), (5, 2)]],
        lambda xs: xs[0] @ xs[1],
        {"equation": "...ij,jk->...ik"},
        label="ellipsis",
        dtypes=["float32", "float64"],
        tolerance=1e-5,
        errors=[
            Error([[(2, 3, 5), (7, 2)]], ValueError, "Dimensions must be equal, but are 5 and 7"),
            Error([[(2, 3)]], ValueError, "Expected 2 inputs"),
        ],
    ),
    OpCase(
        "Einsum",
        [[(2, 3, 5), (3, 5)]],
        lambda xs: np.sum(xs[0] * xs[1], -1),
        {"equation": "...i,...i->..."},
        label="broadcast ellipsis",
        dtypes=["float32", "float64"],
        tolerance=1e-5,
    ),
]

# --- diagonals ------------------------------------------------------------------------------------------------------


def loops_diag(diagonal, k, rows, columns, padding):
    n = diagonal.shape[-1]
    result = np.full((*diagonal.shape[:-1], rows if rows > 0 else n, columns if columns > 0 else n), padding, diagonal.dtype)
    for i in range(n):
        result[..., i, i] = diagonal[..., i]
    return result


def i32(value):
    return np.asarray(value, np.int32)


ALIGN = {"align": "RIGHT_LEFT"}
BAND = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
DIAGONALS = [
    OpCase("Diag", [(3,)], lambda d: np.array([[d[i] * (i == j) for j in range(3)] for i in range(3)], d.dtype)),
    OpCase(
        "Diag",
        [(2, 3)],
        lambda d: np.einsum("ij,ik,jl->ijkl", d, np.eye(2, dtype=d.dtype), np.eye(3, dtype=d.dtype)),
        label="2",
    ),
    OpCase(
        "DiagPart",
        [(3, 3)],
        lambda x: np.array([x[i, i] for i in range(3)]),
        errors=[
            Error([(2, 3)], ValueError, "Dimension 0 in both shapes must be equal, but are 2 and 3"),
            Error([(2, 3, 5)], ValueError, "Input must have even and non-zero rank, input rank is 3"),
        ],
    ),
    OpCase(
        "MatrixDiagV3",
        [(2, 3), i32(0), i32(-1), i32(-1), Like(7)],
        loops_diag,
        ALIGN,
        dtypes=["float32", "float64"],
        errors=[Error([(2, 3), i32(0), i32(2), i32(-1), np.float32(0)], InvalidArgumentError, "not consistent")],
    ),
    OpCase(
        "MatrixDiagV3",
        [(2, 3), i32(0), i32(3), i32(5), Like(0)],
        loops_diag,
        ALIGN,
        label="wide",
        dtypes=["float32", "float64"],
    ),
    OpCase(
        "MatrixDiagV3",
        [np.float32([[0, 8, 9], [1, 2, 3], [4, 5, 0]]), i32([-1, 1]), i32(3), i32(3), np.float32(0)],
        np.float32([[1, 8, 0], [4, 2, 9], [0, 5, 3]]),
        ALIGN,
        label="band",
    ),
    OpCase(
        "MatrixDiagPartV3",
        [(2, 3, 5), i32(0), Like(0)],
        lambda x, k, p: np.stack([x[:, i, i] for i in range(3)], -1),
        ALIGN,
        dtypes=["float32", "float64"],
        errors=[Error([(2, 3), i32(5), np.float32(0)], InvalidArgumentError, "lower_diag_index is out of bound")],
    ),
    OpCase(
        "MatrixDiagPartV3",
        [(2, 3, 5), i32(2), Like(0)],
        lambda x, k, p: np.stack([x[:, i, i + 2] for i in range(3)], -1),
        ALIGN,
        label="upper",
        dtypes=["float32", "float64"],
        numeric=False,
    ),
    OpCase(
        "MatrixDiagPartV3",
        [BAND, i32([-1, 1]), np.float32(0)],
        np.float32([[2, 7, 12], [1, 6, 11], [5, 10, 0]]),
        ALIGN,
        label="band",
    ),
    OpCase(
        "MatrixSetDiagV3",
        [(2, 3, 5), (2, 3), i32(0)],
        lambda x, d, k: np.where(np.eye(3, 5, dtype=bool), d[..., np.newaxis], x),
        ALIGN,
        dtypes=["float32", "float64"],
        errors=[Error([(2, 3, 5), (2, 5), i32(0)], InvalidArgumentError, "is not equal to the longests diagonal")],
    ),
    OpCase(
        "MatrixBandPart",
        [(2, 3, 5), i32(1), i32(0)],
        lambda x, low, up: x * np.array([[0 <= i - j <= 1 for j in range(5)] for i in range(3)]),
        dtypes=["float32", "float64"],
        errors=[Error([(2, 3), i32(3), i32(0)], InvalidArgumentError, "num_lower must be negative or less or equal")],
    ),
    OpCase(
        "MatrixBandPart",
        [(3, 5), i32(-1), i32(2)],
        lambda x, low, up: x * np.array([[j - i <= 2 for j in range(5)] for i in range(3)]),
        label="all lower",
    ),
]

# --- systems --------------------------------------------------------------------------------------------------------


def near_identity(*shape):
    """Matrices that are easy to invert."""
    random = np.random.default_rng(len(shape) * 31 + shape[-1])
    return np.eye(shape[-1]) * 2 + random.uniform(-0.5, 0.5, shape)


def by_cofactors(x):
    """The inverse by Cramer's rule."""
    n = x.shape[-1]
    result = np.empty_like(x)
    for index in np.ndindex(x.shape[:-2]):
        for i, j in itertools.product(range(n), repeat=2):
            minor = np.delete(np.delete(x[index], j, 0), i, 1)
            result[(*index, i, j)] = (-1) ** (i + j) * leibniz(minor) / leibniz(x[index])
    return result


def leibniz(x):
    """The determinant as the sum over permutations."""
    n = len(x)
    total = 0.0
    for order in itertools.permutations(range(n)):
        swaps = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        total += (-1) ** swaps * np.prod([x[i, order[i]] for i in range(n)])
    return np.asarray(total, x.dtype)


def determinants(x):
    return np.array([leibniz(x[i]) for i in range(len(x))], x.dtype)


def triangle(a, lower, adjoint):
    part = np.tril(a) if lower else np.triu(a)
    return part.T if adjoint else part


BOTH = {"dtypes": ["float32", "float64"], "tolerance": 1e-5}
SQUARE = [Error([(2, 3)], ValueError, "Dimensions must be equal, but are 2 and 3")]
SINGULAR = np.zeros((3, 3), np.float32)
SYSTEMS = [
    OpCase(
        "MatrixInverse",
        [Like(near_identity(2, 3, 3))],
        by_cofactors,
        {"adjoint": False},
        gradient=[0],
        **BOTH,
        errors=[*SQUARE, Error([SINGULAR], InvalidArgumentError, "Input is not invertible.")],
    ),
    OpCase(
        "MatrixInverse",
        [Like(near_identity(3, 3))],
        lambda x: by_cofactors(x.T),
        {"adjoint": True},
        gradient=[0],
        label="adjoint",
        **BOTH,
    ),
    OpCase("MatrixDeterminant", [Like(near_identity(2, 3, 3))], determinants, gradient=[0], errors=SQUARE, **BOTH),
    OpCase(
        "MatrixSolve",
        [Like(near_identity(2, 3, 3)), (2, 3, 5)],
        lambda a, b: by_cofactors(a) @ b,
        {"adjoint": False},
        gradient=[0, 1],
        **BOTH,
        errors=[
            *[Error([(2, 3), (3, 5)], ValueError, "must be equal")],
            Error([SINGULAR, (3, 5)], InvalidArgumentError, "not invertible"),
            Error([(3, 3), (5, 2)], ValueError, "Dimensions must be equal, but are 3 and 5"),
        ],
    ),
    OpCase(
        "MatrixSolve",
        [Like(near_identity(3, 3)), (3, 5)],
        lambda a, b: by_cofactors(a.T) @ b,
        {"adjoint": True},
        label="adjoint",
        gradient=[0, 1],
        **BOTH,
    ),
    *[
        OpCase(
            "MatrixTriangularSolve",
            [Like(near_identity(3, 3)), (3, 5)],
            lambda a, b, lower=lower, adjoint=adjoint: by_cofactors(triangle(a, lower, adjoint)) @ b,
            {"lower": lower, "adjoint": adjoint},
            label=f"{lower} {adjoint}",
            gradient=[0, 1],
            **BOTH,
            errors=[Error([SINGULAR, (3, 5)], InvalidArgumentError, "Input matrix is not invertible.")],
        )
        for lower, adjoint in itertools.product((True, False), repeat=2)
    ],
    OpCase(
        "Cholesky",
        [Like(near_identity(3, 3) @ near_identity(3, 3).T)],
        lambda x: cholesky_by_hand(x),
        numeric=False,
        **BOTH,
        errors=[
            *SQUARE,
            Error([-np.eye(3, dtype=np.float32)], InvalidArgumentError, "Cholesky decomposition was not successful"),
        ],
    ),
]


def cholesky_gradient_by_differences(lower, grad, step=1e-6):
    """What each entry of a symmetric matrix, of which `lower` is the factor, changes in the sum of grad * factor."""
    lower, grad = np.tril(lower), np.tril(grad)
    matrix = lower @ np.swapaxes(lower, -1, -2)
    signs = np.sign(np.diagonal(lower, axis1=-2, axis2=-1))[
        ..., None, :
    ]  # the factor that Cholesky finds has a positive diagonal
    result = np.empty_like(matrix)
    for i, j in np.ndindex(3, 3):
        change = np.zeros((3, 3))
        change[i, j] += step / 2
        change[j, i] += step / 2
        ends = [np.sum(grad * signs * np.linalg.cholesky(matrix + side * change), (-2, -1)) for side in (1, -1)]
        result[..., i, j] = (ends[0] - ends[1]) / (2 * step)
    return result


def cholesky_by_hand(a):
    lower = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - np.dot(lower[i, :j], lower[j, :j])
            lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
    return lower


test_products = op_tests(PRODUCTS)
test_einsum_rows = op_tests(EINSUM)
test_diagonals = op_tests(DIAGONALS)
test_systems = op_tests(SYSTEMS)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda x: tf.tensordot(x, x, [[2], [0]]), IndexError, "out of range for a tensor of 2 dimensions"),
        (lambda x: tf.tensordot(x, x, [[0], [-3]]), IndexError, "out of range for a tensor of 2 dimensions"),
        (lambda x: tf.einsum("ij,jk->iz", x, x), ValueError, "contain the label z not present in the input subscripts"),
    ],
)
def test_axes_and_labels_that_are_not_there(make, error, text):
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        make(tf.ones([3, 3]))
