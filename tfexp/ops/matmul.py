"""Matrix products: `tf.matmul` and the two ops that it chooses between."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, broadcast_shapes, dims_text
from tfexp.core.workers import are_alone, share
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, broadcast, cast, complex_numbers, reduce
from tfexp.ops.shape_rules import merged_dims, with_rank, with_rank_at_least

mat_mul = define_op(
    "MatMul(a: T, b: T) -> (product: T) {transpose_a: bool = false; transpose_b: bool = false; T: type in [bfloat16,"
    "half,float,double,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128]}"
)


@mat_mul.shape
def _(a: InputShape, b: InputShape, *, transpose_a: bool, transpose_b: bool) -> TensorShape:
    (m, k), (k_of_b, n) = with_rank(a, 2).as_list(), with_rank(b, 2).as_list()
    if transpose_a:
        m, k = k, m
    if transpose_b:
        k_of_b, n = n, k_of_b
    merged_dims(k, k_of_b)
    return TensorShape([m, n])


@mat_mul.kernel("CPU", "XLA")
def _(ctx: Any, a: np.ndarray, b: np.ndarray, *, transpose_a: bool, transpose_b: bool) -> np.ndarray:
    for position, x in enumerate((a, b)):
        if x.ndim != 2:
            raise InvalidArgumentError(None, None, f"In[{position}] is not a matrix. Instead it has shape {list(x.shape)}")
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(
            None, None, f"Matrix size-incompatible: In[0]: {dims_text(a.shape)}, In[1]: {dims_text(b.shape)}"
        )
    return _product(left, right)


def _product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if left.dtype.kind == "V" or left.dtype.name == "bfloat16":
        return np.matmul(left.astype(np.float32), right.astype(np.float32)).astype(left.dtype)
    return np.matmul(left, right)


_WORTH_SHARING = 1 << 22  # multiplications: a tenth of a millisecond


def _shared_product(product: Any, left: np.ndarray, right: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """`product` of the matrices, by BLAS's threads or, in steps in which BLAS has but one, by ours."""
    if not are_alone():
        return product(left, right, out=out)  # type: ignore[no-any-return]
    rows, columns = left.shape[0], right.shape[1]
    result = np.empty((rows, columns), left.dtype) if out is None else out

    def work(part: int, start: int, stop: int) -> None:
        if rows >= columns:
            product(left[start:stop], right, out=result[start:stop])
        else:
            product(left, right[:, start:stop], out=result[:, start:stop])

    share(work, max(rows, columns))
    return result


_FEW_ROWS = 32  # BLAS takes a quarter less for the transposed product, which pays for laying out as many rows again
_WIDE = 4  # times as many columns


def _turned_product(left: np.ndarray, right: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The product of a few rows with the transpose of a matrix, as the transpose of a product in that matrix's own order."""
    turned = np.matmul(right.T, left.T).T
    if out is None:
        return np.ascontiguousarray(turned)
    out[...] = turned
    return out


@mat_mul.bind
def _(node: BindRequest) -> Call | None:
    known = [s.known_dims for s in node.input_shapes]
    if any(dims is None or None in dims or len(dims) != 2 for dims in known) or node.input_dtypes[0].name == "bfloat16":
        return None
    # Transposed views cost a fraction of a microsecond; the copy is left to BLAS, which takes both orders.
    product = _way_of(node)
    if node.attrs["transpose_a"] and node.attrs["transpose_b"]:
        return Call(lambda a, b, out=None: product(a.T, b.T, out=out), out=True)
    if node.attrs["transpose_a"]:
        return Call(lambda a, b, out=None: product(a.T, b, out=out), out=True)
    if node.attrs["transpose_b"]:
        return Call(lambda a, b, out=None: product(a, b.T, out=out), out=True)
    return Call(product, out=True)


def _way_of(node: BindRequest) -> Any:
    """The function for matrices of the node's sizes: `f(left, right, out=None)`."""
    inner = node.input_shapes[0].as_list()[0 if node.attrs["transpose_a"] else 1]
    rows, columns = (dim or 0 for dim in node.output_shapes[0].as_list())
    if inner == 1:
        return np.multiply  # of a column and a row: BLAS takes three times as long
    is_turned = node.attrs["transpose_b"] and not node.attrs["transpose_a"] and node.output_dtypes[0].is_floating
    product = _turned_product if is_turned and 1 < rows <= min(_FEW_ROWS, columns // _WIDE) else np.matmul
    if rows * (inner or 0) * columns >= _WORTH_SHARING:
        return functools.partial(_shared_product, product)
    return product


_WORTH_CALLING = 1 << 24  # multiplications: a library's call has to make up for what it takes to make it


@mat_mul.bind_with("onednn")
def _(onednn: Any, node: BindRequest) -> Call | None:
    known = [s.known_dims for s in (*node.input_shapes, *node.output_shapes)]
    if any(dims is None or None in dims or len(dims) != 2 for dims in known) or node.output_dtypes[0].name != "float32":
        return None
    transposed = node.attrs["transpose_a"], node.attrs["transpose_b"]
    inner = node.input_shapes[0].as_list()[0 if transposed[0] else 1] or 0
    rows, columns = node.output_shapes[0].as_list()
    if inner * (rows or 0) * (columns or 0) < _WORTH_CALLING:
        return None
    return onednn.product(rows, inner, columns, *transposed)  # type: ignore[no-any-return]


@mat_mul.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    a, b = complex_numbers.conj(op.inputs[0]), complex_numbers.conj(op.inputs[1])
    transposed = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    if transposed == (False, False):
        return [mat_mul(grad, b, transpose_b=True), mat_mul(a, grad, transpose_a=True)]
    if transposed == (False, True):
        return [mat_mul(grad, b), mat_mul(grad, a, transpose_a=True)]
    if transposed == (True, False):
        return [mat_mul(b, grad, transpose_b=True), mat_mul(a, grad)]
    return [mat_mul(b, grad, transpose_a=True, transpose_b=True), mat_mul(grad, a, transpose_a=True, transpose_b=True)]


batch_mat_mul_v2 = define_op(
    "BatchMatMulV2(x: T, y: T) -> (output: T) {T: type in [bfloat16,half,float,double,int16,int32,int64,uint8,uint16,"
    "uint32,uint64,complex64,complex128]; adj_x: bool = false; adj_y: bool = false}"
)


@batch_mat_mul_v2.shape
def _(x: InputShape, y: InputShape, *, adj_x: bool, adj_y: bool) -> TensorShape:
    if with_rank_at_least(x, 2).rank is None or with_rank_at_least(y, 2).rank is None:
        return TensorShape(None)
    return broadcast_shapes(x[:-2], y[:-2]).concatenate(_product_dims(x, y, adj_x, adj_y))


def _product_dims(x: TensorShape, y: TensorShape, adj_x: bool, adj_y: bool) -> TensorShape:
    (*_, m, k), (*_, k_of_y, n) = (s.known_dims or (None, None) for s in (x, y))
    if adj_x:
        m, k = k, m
    if adj_y:
        k_of_y, n = n, k_of_y
    merged_dims(k, k_of_y)
    return TensorShape([m, n])


def _adjoint(x: np.ndarray) -> np.ndarray:
    swapped = np.swapaxes(x, -1, -2)
    return np.conjugate(swapped) if x.dtype.kind == "c" else swapped


def _batch_product(x: np.ndarray, y: np.ndarray, adj_x: bool, adj_y: bool) -> np.ndarray:
    for position, operand in enumerate((x, y)):
        if operand.ndim < 2:
            raise InvalidArgumentError(None, None, f"In[{position}] ndims must be >= 2: {operand.ndim}")
    left, right = (_adjoint(x) if adj_x else x), (_adjoint(y) if adj_y else y)
    if left.shape[-1] != right.shape[-2]:
        mismatch = f"In[0] mismatch In[1] shape: {left.shape[-1]} vs. {right.shape[-2]}"
        shapes = f"{dims_text(x.shape)} {dims_text(y.shape)}"
        raise InvalidArgumentError(None, None, f"{mismatch}: {shapes} {adj_x:d} {adj_y:d}")
    try:
        np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise InvalidArgumentError(
            None,
            None,
            f"In[0] and In[1] must have compatible batch dimensions: {dims_text(x.shape)} vs. {dims_text(y.shape)}",
        ) from None
    return _product(left, right)


@batch_mat_mul_v2.kernel("CPU", "XLA")
def _(ctx: Any, x: np.ndarray, y: np.ndarray, *, adj_x: bool, adj_y: bool) -> np.ndarray:
    return _batch_product(x, y, adj_x, adj_y)


@batch_mat_mul_v2.bind
def _(node: BindRequest) -> Call | None:
    known = [s.known_dims for s in node.input_shapes]
    if any(dims is None or None in dims or len(dims) < 2 for dims in known) or node.input_dtypes[0].name == "bfloat16":
        return None
    adj_x, adj_y = node.attrs["adj_x"], node.attrs["adj_y"]
    if not (adj_x or adj_y):
        return Call(np.matmul, out=True)
    return Call(
        lambda x, y, out=None: np.matmul(_adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y, out=out), out=True
    )


def _product_gradients(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of x @ y before sums over broadcast batches."""
    x, y = op.inputs
    adj = op.get_attr("adj_x"), op.get_attr("adj_y")
    if adj == (False, False):
        return matmul(grad, y, adjoint_b=True), matmul(x, grad, adjoint_a=True)
    if adj == (False, True):
        return matmul(grad, y), matmul(grad, x, adjoint_a=True)
    if adj == (True, False):
        return matmul(y, grad, adjoint_b=True), matmul(x, grad)
    return matmul(y, grad, adjoint_a=True, adjoint_b=True), matmul(grad, x, adjoint_a=True, adjoint_b=True)


@batch_mat_mul_v2.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    grad_x, grad_y = _product_gradients(op, grad)
    dims_x, dims_y = x.shape.known_dims, y.shape.known_dims
    if dims_x is not None and dims_y is not None and None not in dims_x[:-2] and dims_x[:-2] == dims_y[:-2]:
        return [grad_x, grad_y]
    # Batches that were broadcast are summed.
    shape_x, shape_y = array.shape(x), array.shape(y)
    axes_x, axes_y = broadcast.broadcast_gradient_args(shape_x[:-2], shape_y[:-2])
    return [
        array.reshape(reduce.reduce_sum(grad_x, axes_x), shape_x),
        array.reshape(reduce.reduce_sum(grad_y, axes_y), shape_y),
    ]


sparse_mat_mul = define_op(
    "SparseMatMul(a: Ta, b: Tb) -> (product: float) {transpose_a: bool = false; transpose_b: bool = false; "
    "a_is_sparse: bool = false; b_is_sparse: bool = false; Ta: type in [float,bfloat16] = float; Tb: type in [float,"
    "bfloat16] = float}"
)


@sparse_mat_mul.shape
def _(a: InputShape, b: InputShape, *, transpose_a: bool, transpose_b: bool) -> TensorShape:
    rule: Any = mat_mul.shape_rule
    return rule(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@sparse_mat_mul.kernel("CPU")
def _(ctx: Any, a: np.ndarray, b: np.ndarray, *, transpose_a: bool, transpose_b: bool) -> np.ndarray:
    # The flags promise many zeros; they change no result.
    left, right = a.astype(np.float32, copy=False), b.astype(np.float32, copy=False)
    return mat_mul.kernels["CPU"].compute(ctx, left, right, transpose_a=transpose_a, transpose_b=transpose_b)


@sparse_mat_mul.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    transposed = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    a, b = op.inputs
    # What comes through a ReLU is 0 wherever that was closed.
    sparse = {a: op.get_attr("a_is_sparse"), b: op.get_attr("b_is_sparse"), grad: grad._op.type == "ReluGrad"}

    def product(left: Tensor, right: Tensor, out_type: Any, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
        right_flag = sparse[right]
        if transpose_b:
            right = get_op("Transpose")(right, [1, 0], name="transpose")
        result = matmul(left, right, transpose_a=transpose_a, a_is_sparse=sparse[left], b_is_sparse=right_flag)
        return cast.cast(result, out_type)

    if transposed == (False, False):
        return [product(grad, b, a.dtype, transpose_b=True), product(a, grad, b.dtype, transpose_a=True)]
    if transposed == (False, True):
        return [product(grad, b, a.dtype), product(grad, a, b.dtype, transpose_a=True)]
    if transposed == (True, False):
        return [product(b, grad, a.dtype, transpose_b=True), product(a, grad, b.dtype)]
    return [
        product(b, grad, a.dtype, transpose_a=True, transpose_b=True),
        product(grad, a, b.dtype, transpose_a=True, transpose_b=True),
    ]


def _are_matrices_now(*tensors: Any) -> bool:
    """Whether these are values of two dimensions, to be multiplied at once: then there is nothing to convert or to name."""
    return get_default_graph().is_eager and all(
        type(tensor) is EagerTensor and getattr(tensor._value, "ndim", None) == 2 for tensor in tensors
    )


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices [..., m, k] and [..., k, n]; batch dimensions broadcast. `tf.matmul`.

    `transpose_*` and `adjoint_*` (transposed and conjugated) apply to an argument first. Raises ValueError when both are
    asked for, or when dimensions do not fit.
    """
    if _are_matrices_now(a, b) and not (adjoint_a or adjoint_b or a_is_sparse or b_is_sparse):
        return mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)
    with name_scope(name, "MatMul", [a, b]) as scope:
        for letter, transposed, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
            if transposed and adjoint:
                raise ValueError(f"Only one of transpose_{letter} and adjoint_{letter} can be True.")
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, dtype_hint=a.dtype.base_dtype, name="b")
        sparse_types = ("bfloat16", "float32")
        # Products of both types are those of SparseMatMul alone, sparse or not.
        asked = a_is_sparse or b_is_sparse or a.dtype != b.dtype
        is_sparse = asked and a.dtype.name in sparse_types and b.dtype.name in sparse_types
        batched = a.shape.ndims not in (0, 1, 2) or b.shape.ndims not in (0, 1, 2)
        if batched and not (a_is_sparse or b_is_sparse):
            if transpose_a:
                a, adjoint_a = complex_numbers.conj(a), True
            if transpose_b:
                b, adjoint_b = complex_numbers.conj(b), True
            return batch_mat_mul_v2(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=scope)
        if adjoint_a:
            a, transpose_a = complex_numbers.conj(a), True
        if adjoint_b:
            b, transpose_b = complex_numbers.conj(b), True
        if is_sparse:
            flags = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
            product = sparse_mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=scope, **flags)
            return cast.cast(product, dtypes.bfloat16) if a.dtype == b.dtype == dtypes.bfloat16 else product
        return mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=scope)
