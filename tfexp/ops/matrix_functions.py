"""Functions of square matrices as such, not of their elements: exponential, square root, logarithm; all batched."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops import array, array_mask, array_order, cast, comparison, diagonal, linalg, reduce
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_rounding import ceil
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.elementwise_unary import log
from tfexp.ops.matmul import matmul
from tfexp.ops.shape_rules import square_matrices

Array = np.ndarray

square_root_op = define_op("MatrixSquareRoot(input: T) -> (output: T) {T: type in [double,float,half,complex64,complex128]}")
logarithm_op = define_op("MatrixLogarithm(input: T) -> (output: T) {T: type in [complex64,complex128]}")

square_root_op.shape(square_matrices)
logarithm_op.shape(square_matrices)


def _checked(x: Array) -> Array:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise InvalidArgumentError(None, None, f"Input matrix must be square, got shape {list(x.shape)}")
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _root(x: Array) -> Array:
    """The principal square roots: Denman and Beavers' iteration in its product form, scaled by determinants.

    After Higham, "Functions of Matrices" (2008), section 6.3. What does not converge (an eigenvalue on the negative real
    axis of a real matrix, a singular matrix that has no root) comes out as NaN.
    """
    identity = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    root, product = x.copy(), x.copy()
    done = np.zeros(x.shape[:-2], bool)
    for _ in range(100):
        with np.errstate(all="ignore"):
            distance = np.abs(product - identity).sum(-1).max(-1, initial=0)
            # Far from the end, scaling makes large and small eigenvalues meet; near it, it would only disturb.
            scale = np.where(distance > 0.1, np.abs(np.linalg.det(product)) ** (-0.5 / max(x.shape[-1], 1)), 1)
        done = (distance <= 8 * x.shape[-1] * np.finfo(x.dtype).eps) | ~np.isfinite(distance)
        if done.all():
            break
        scale = np.where(np.isfinite(scale) & (scale > 0), scale, 1)[..., None, None]
        inverse = _inverted(product)
        next_root = 0.5 * scale * (root + root @ inverse / scale**2)
        next_product = 0.5 * (identity + 0.5 * (scale**2 * product + inverse / scale**2))
        keep = done[..., None, None]
        root, product = np.where(keep, root, next_root), np.where(keep, product, next_product)
    failed = ~done | ~np.isfinite(distance)
    return np.where(failed[..., None, None], np.nan, root)


def _inverted(x: Array) -> Array:
    """Inverses, and NaN where there is none."""
    x = np.where(np.isfinite(x).all((-2, -1), keepdims=True), x, 0)  # as singular: ranks of NaN do not converge
    singular = np.linalg.matrix_rank(x) < x.shape[-1] if x.shape[-1] else np.zeros(x.shape[:-2], bool)
    keep = singular[..., None, None]
    return np.where(keep, np.nan, np.linalg.inv(np.where(keep, np.eye(x.shape[-1]), x)))


@square_root_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    return _root(_checked(input)).astype(input.dtype)


@square_root_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # dA = dR R + R dR. The gradient G of A solves R^T G + G R^T = grad, written as equations for the elements of G, row by
    # row: (R^T (x) I + I (x) R) vec(G) = vec(grad). Of complex matrices TensorFlow, too, takes R as it is, not conj R.
    root = op.outputs[0]
    size: Any = array.shape(root)[-1]  # type: ignore[index]  # bound by ops.overloads
    identity = diagonal.eye(size, dtype=root.dtype)
    left = _kronecker(array_order.matrix_transpose(root), identity, size)
    right = _kronecker(identity, root, size)
    whole = array.shape(grad)
    column = array.reshape(grad, _joined(whole, [size * size, 1]))
    return array.reshape(linalg.matrix_solve(left + right, column), whole)  # type: ignore[operator]


def _joined(whole: Any, last: list[Any]) -> Tensor:
    from tfexp.ops.array_join import concat

    return concat([whole[:-2], last], 0)


def _kronecker(a: Tensor, b: Tensor, size: Any) -> Tensor:
    """The Kronecker product of n x n matrices, leading dimensions broadcast."""
    a = array.expand_dims(array.expand_dims(a, -1), -3)
    b = array.expand_dims(array.expand_dims(b, -2), -4)
    product: Any = a * b  # type: ignore[operator]
    return array.reshape(product, _joined(array.shape(product)[:-2], [size * size, size * size]))  # type: ignore[index]


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


@logarithm_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    # Inverse scaling and squaring: square roots until the matrix is near 1, where log(1 + X), the integral of
    # X (1 + t X)^-1 over t in [0, 1], is what Gauss's quadrature gives (Higham, section 11.5).
    x = _checked(input)
    identity = np.eye(x.shape[-1])
    roots = np.zeros(x.shape[:-2])
    for _ in range(60):
        far = np.abs(x - identity).sum(-1).max(-1, initial=0) > 0.25
        if not far.any():
            break
        x = np.where(far[..., None, None], _root(x), x)
        roots += far
    x = x - identity
    total = np.zeros_like(x)
    for node, weight in zip(0.5 * (_NODES + 1), 0.5 * _WEIGHTS, strict=True):
        total += weight * np.matmul(x, _inverted(identity + node * x))
    return (2 ** roots[..., None, None] * total).astype(input.dtype)


def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """R with R R = input, of eigenvalues with positive real parts. Source: `tf.linalg.sqrtm`, `tf.matrix_square_root`."""
    result: Tensor = square_root_op(input, name=name)
    return result


def logm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithms of complex matrices. Source: `tf.linalg.logm`."""
    result: Tensor = logarithm_op(input, name=name)
    return result


# Of the Padé approximants of exp, p(X) / p(-X): the coefficients of p, and the largest 1-norm that one is exact for. After
# Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited" (2005), tables 2.3 and for single precision.
_PADE_7 = 17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0
_PADE_13 = (
    *(64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0),
    *(670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0),
)


# The op of graphs of before version 27. No gradient goes through it.
exponential_op = define_op(
    "MatrixExponential(input: T) -> (output: T) {T: type in [double,float,half,complex64,complex128]}"
)
exponential_op.shape(square_matrices)


@exponential_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    x = _checked(input)
    identity = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    coefficients, largest = _PADE["float64"]
    with np.errstate(all="ignore"):
        size = np.abs(x).sum(-2).max(-1, initial=0)
        halvings = np.where(np.isfinite(size), np.maximum(np.ceil(np.log2(size / largest)), 0), 0)[..., None, None]
        x = x / 2**halvings
        square = x @ x
        odd = even = np.zeros_like(x)
        for k in range(len(coefficients) - 2, -1, -2):
            odd, even = odd @ square + coefficients[k + 1] * identity, even @ square + coefficients[k] * identity
        odd = x @ odd
        result = np.linalg.solve(even - odd, even + odd)
        for i in range(int(halvings.max(initial=0))):
            result = np.where(i < halvings, result @ result, result)
        return result.astype(input.dtype)


_PADE = {"float32": (_PADE_7, 3.925724783138660), "float64": (_PADE_13, 5.371920351148152)}


def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of matrices [..., n, n]: the sum of X^k / k!. Source: `tf.linalg.expm`."""
    with name_scope(name, "matrix_exponential", [input]):
        x = convert_to_tensor(input, name="input")
        square_matrices(x.shape)
        half = x.dtype in (dtypes.float16, dtypes.bfloat16)
        wide: Any = cast.cast(x, dtypes.float32) if half else x
        real = wide.dtype.real_dtype
        if real.name not in _PADE:
            raise ValueError(f"tf.linalg.expm does not support matrices of type {x.dtype}")
        coefficients, largest = _PADE[real.name]
        size = reduce.reduce_max(reduce.reduce_sum(absolute(wide), axis=-2), axis=-1)
        halvings = maximum(ceil(log(size / largest) / np.log(2.0).astype(real.as_numpy_dtype)), 0.0)
        scale = 2.0 ** array.expand_dims(array.expand_dims(halvings, -1), -1)  # type: ignore[operator]
        odd, even = _odd_and_even(wide / cast.cast(scale, wide.dtype), coefficients)
        result: Any = linalg.matrix_solve(even - odd, even + odd)
        result = _squared(result, array.expand_dims(array.expand_dims(halvings, -1), -1))
        result.set_shape(x.shape)
        return cast.cast(result, x.dtype) if half else result


def _odd_and_even(x: Any, coefficients: tuple[float, ...]) -> tuple[Any, Any]:
    """The parts of a polynomial of `x` with odd and with even powers."""
    power: Any = diagonal.eye(array.shape(x)[-1], batch_shape=array.shape(x)[:-2], dtype=x.dtype)  # type: ignore[index]
    square = matmul(x, x)
    odd: Any = 0.0
    even: Any = 0.0
    for k in range(0, len(coefficients), 2):
        even += constant(coefficients[k], x.dtype) * power  # type: ignore[operator]
        odd += constant(coefficients[k + 1], x.dtype) * power  # type: ignore[operator]
        power = matmul(power, square)
    return matmul(x, odd), even


def _squared(x: Tensor, times: Tensor) -> Tensor:
    """`x` squared again and again, each matrix so many times."""
    most = reduce.reduce_max(times)

    def square(i: Any, r: Any) -> list[Any]:
        return [i + 1, array_mask.where_v2(comparison.less(i, times), matmul(r, r), r)]

    start = constant(0.0, times.dtype)
    return while_loop(lambda i, r: comparison.less(i, most), square, [start, x], back_prop=True)[1]  # type: ignore
