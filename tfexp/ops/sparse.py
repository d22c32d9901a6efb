"""`tf.SparseTensor`s: to and from dense tensors, and the functions of `tf.sparse`. TF 1.15.

Arguments that have to be sparse may be SparseTensors or SparseTensorValues, and are a TypeError otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value_as_shape
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_gather,
    array_identity,
    array_mask,
    array_partition,
    cast,
)
from tfexp.ops.sparse_layout import concat_op, reshape_op
from tfexp.ops.sparse_math import add_op, dense_add_op, matmul_op

# --- to and from dense -------------------------------------------------------------------------------------------------


def sparse_tensor_to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The dense tensor, `default_value` (0, "" or False) where there is no element. `tf.sparse_tensor_to_dense`.

    With `validate_indices`, indices out of order or repeated are an InvalidArgumentError.
    """
    x = as_sparse_tensor(sp_input)
    if default_value is None:
        default_value = array_fill.zeros([], dtype=x.dtype)
    return array_partition.sparse_to_dense(
        x.indices, x.dense_shape, x.values, default_value=default_value, validate_indices=validate_indices, name=name
    )


# --- layout ------------------------------------------------------------------------------------------------------------


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The elements, in row-major order, at their places in another shape (one size may be -1). `tf.sparse_reshape`.

    ValueError, or InvalidArgumentError in the run, when the shapes have different numbers of elements.
    """
    x = as_sparse_tensor(sp_input)
    dims = cast.cast(shape, dtypes.int64)
    asked = constant_value(dims)
    if asked is not None and np.count_nonzero(asked == -1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {asked}")
    with name_scope(name, "SparseReshape", [x.indices]) as scope:
        indices, dense_shape = reshape_op(x.indices, x.dense_shape, dims, name=scope)
        known = _reshaped(x.get_shape(), _requested(dims))
        if known is not None:
            dense_shape = constant(known, dtype=dtypes.int64)
        return SparseTensor(indices, array_identity.identity(x.values), dense_shape)


def _requested(dims: Tensor) -> TensorShape:
    """What TensorFlow knows of the shape asked for: of packed sizes, those that are constants."""
    if dims._op.type != "Pack":
        return static_value_as_shape(dims)
    sizes = [constant_value(size) for size in dims._op.inputs]
    return TensorShape([None if size is None or size == -1 else int(size) for size in sizes])


def _reshaped(old: TensorShape, new: TensorShape) -> list[int] | None:
    """The sizes of `new`, the missing one worked out; None where either shape is known only in part."""
    dims = new.known_dims
    if dims is None or not old.is_fully_defined():
        return None
    if None not in dims:
        return list(dims)  # type: ignore[arg-type]
    known = int(np.prod([d for d in dims if d is not None], dtype=np.int64))
    if dims.count(None) > 1 or known == 0:
        return None
    total = int(np.prod(np.array(old.as_list(), np.int64)))
    return [total // known if d is None else d for d in dims]


def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors one after the other along `axis`. Source: `tf.sparse_concat`.

    Their other dimensions must be equal, or are grown to the largest with `expand_nonconcat_dim`. TypeError unless
    `sp_inputs` is a list of sparse tensors.
    """
    axis = deprecated_argument_lookup("axis", axis, "concat_dim", concat_dim)
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    parts = [as_sparse_tensor(x) for x in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    shapes: list[Any] = [x.dense_shape for x in parts]
    if expand:
        from tfexp.ops.array_join import concat
        from tfexp.ops.reduce import reduce_max

        largest: Any = reduce_max(concat([array.reshape(s, [1, -1]) for s in shapes], 0), 0)
        after: Any = slice(0, 0) if axis == -1 else slice(axis + 1, None)
        own = slice(-1, None) if axis == -1 else slice(axis, axis + 1)
        shapes = [concat([largest[:axis], s[own], largest[after]], 0) for s in shapes]
    indices, values, dense_shape = concat_op(
        [x.indices for x in parts], [x.values for x in parts], shapes, concat_dim=axis, name=name
    )
    known = _concatenated([x.get_shape() for x in parts], axis, bool(expand))
    return SparseTensor(indices, values, dense_shape if known is None else constant(known, dtype=dtypes.int64))


def _concatenated(shapes: list[TensorShape], axis: int, expand: bool) -> list[int] | None:
    if not all(shape.is_fully_defined() for shape in shapes):
        return None
    sizes = np.array([shape.as_list() for shape in shapes], np.int64)
    dims = sizes.max(axis=0) if expand else sizes[0].copy()
    dims[axis] = sizes[:, axis].sum()
    return [int(d) for d in dims]


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements for which the bool vector `to_retain` is true. Source: `tf.sparse_retain`."""
    x = as_sparse_tensor(sp_input)
    to_retain = convert_to_tensor(to_retain)
    kept = to_retain.get_shape()
    kept.assert_has_rank(1)
    x.values.get_shape()[0].merge_with(kept[0])
    places = array.reshape(array_mask.where(to_retain), [-1])
    indices = array_gather.gather(x.indices, places)
    values = array_gather.gather(x.values, places)
    return SparseTensor(indices, values, array_identity.identity(x.dense_shape))


# --- arithmetic --------------------------------------------------------------------------------------------------------


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum of two tensors of one shape, at least one sparse; dense if one of them is. Source: `tf.sparse_add`.

    Where both sparse operands have an element, a sum of a magnitude below `threshold` (0) is left out.
    TypeError when both are dense.
    """
    threshold = deprecated_argument_lookup("threshold", threshold, "thresh", thresh)
    if not is_sparse(a) and not is_sparse(b):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not is_sparse(a) or not is_sparse(b):
        if is_sparse(b):
            a, b = b, a
        return dense_add_op(*as_sparse_tensor(a).parts, b)
    a, b = as_sparse_tensor(a), as_sparse_tensor(b)
    real = a.values.dtype.real_dtype.base_dtype
    limit = convert_to_tensor(0 if threshold is None else threshold, dtype=real, name="threshold")
    a.get_shape().assert_is_compatible_with(b.get_shape())
    indices, values, dense_shape = add_op(*a.parts, *b.parts, limit)
    dims = broadcast_shapes(a.get_shape(), b.get_shape())
    return SparseTensor(indices, values, dims.as_list() if dims.is_fully_defined() else dense_shape)


def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The product of a sparse matrix and a dense one, either as its adjoint. Source: `tf.sparse_tensor_dense_matmul`."""
    x = as_sparse_tensor(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [x.indices, x.values, b]):
        b = convert_to_tensor(b, name="b")
        result: Tensor = matmul_op(*x.parts, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
        return result
