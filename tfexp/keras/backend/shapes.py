"""Arranging elements: shapes, joining, repeating, padding, resizing. Source: `tf.keras.backend`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import known_data_format
from tfexp.ops import array, array_fill, array_identity, array_join, array_order, image_size, sparse
from tfexp.ops import embedding as _embedding
from tfexp.ops.array_pad import pad
from tfexp.ops.array_repeat import repeat as _repeat
from tfexp.ops.array_tile import tile as _tile
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.reduce import reduce_prod

_RESIZE_METHODS = {
    "nearest": image_size.resize_nearest_neighbor,
    "bilinear": image_size.resize_bilinear,
}


def reshape(x: Any, shape: Any) -> Tensor:
    """The same elements in another shape."""
    return array.reshape(x, shape)


def transpose(x: Any) -> Tensor:
    """With the axes the other way round."""
    return array_order.transpose(x)


def permute_dimensions(x: Any, pattern: Any) -> Tensor:
    """With the axes in the order `pattern`."""
    return array_order.transpose(x, perm=pattern)


def expand_dims(x: Any, axis: int = -1) -> Tensor:
    """With one more axis, of size 1."""
    return array.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Tensor:
    """Without an axis of size 1."""
    return array.squeeze(x, [axis])


def flatten(x: Any) -> Tensor:
    """As a vector."""
    return array.reshape(x, [-1])


def batch_flatten(x: Any) -> Tensor:
    """Each example as a vector."""
    x = convert_to_tensor(x)
    return array.reshape(x, array_join.stack([-1, reduce_prod(array.shape(x)[1:])]))  # type: ignore[index]


def concatenate(tensors: Sequence[Any], axis: int = -1) -> Any:
    """The tensors one after the other along `axis`; all sparse gives a sparse one."""
    if axis < 0:
        rank = tensors[0].shape.ndims if not isinstance(tensors[0], SparseTensor) else tensors[0].get_shape().ndims
        axis = axis % rank if rank else 0
    if all(isinstance(x, SparseTensor) for x in tensors):
        return sparse.sparse_concat(axis, list(tensors))
    dense = [sparse.sparse_tensor_to_dense(x) if isinstance(x, SparseTensor) else x for x in tensors]
    return array_join.concat(dense, axis)


def stack(x: Any, axis: int = 0) -> Tensor:
    """The tensors along a new axis."""
    return array_join.stack(x, axis=axis)


def repeat(x: Any, n: int) -> Tensor:
    """[batch, size] -> [batch, n, size]. ValueError for another rank."""
    x = convert_to_tensor(x)
    if x.shape.ndims != 2:
        raise ValueError(f"`repeat` takes a tensor of rank 2, [batch, size]. Received shape: {x.shape}")
    return _tile(array.expand_dims(x, 1), array_join.stack([1, n, 1]))


def repeat_elements(x: Any, rep: int, axis: int) -> Tensor:
    """Each slice along `axis` so many times, one beside the other."""
    return _repeat(x, rep, axis=axis)


def tile(x: Any, n: Any) -> Tensor:
    """So many copies of `x` along each axis."""
    return _tile(x, [n] if isinstance(n, int) else n)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Tensor:
    """The integers from `start` (0, where that is the only bound) up to `stop`, `step` apart; none for a negative bound."""
    if stop is None:
        start, stop = 0, maximum(start, 0) if not isinstance(start, int) else max(start, 0)
    result: Any = array_fill.range(start, limit=stop, delta=step, name="arange")
    return result if dtype == "int32" else cast(result, dtype)


def reverse(x: Any, axes: Any) -> Tensor:
    """Backwards along these axes."""
    return array_order.reverse(x, [axes] if isinstance(axes, int) else axes)


def gather(reference: Any, indices: Any) -> Tensor:
    """The slices of `reference` at `indices` of its first axis."""
    return _embedding.embedding_lookup(reference, indices)


def one_hot(indices: Any, num_classes: int) -> Tensor:
    """A row of zeros with a one at each index: one more axis, of size `num_classes`."""
    return array_fill.one_hot(indices, depth=num_classes, axis=-1)


def stop_gradient(variables: Any) -> Any:
    """The same value, constant for gradients; a list for a list."""
    if isinstance(variables, (list, tuple)):
        return [array_identity.stop_gradient(x) for x in variables]
    return array_identity.stop_gradient(variables)


# --- padding and resizing ----------------------------------------------------------------------------------------------


def temporal_padding(x: Any, padding: Sequence[int] = (1, 1)) -> Tensor:
    """[batch, time, features] with so many zero steps before and after."""
    return _padded(x, [padding], None)


def spatial_2d_padding(x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Images with zeros around them: ((top, bottom), (left, right)). ValueError for an unknown `data_format`."""
    return _padded(x, padding, known_data_format(data_format))


def spatial_3d_padding(x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Volumes with zeros around them. ValueError for an unknown `data_format`."""
    return _padded(x, padding, known_data_format(data_format))


def _padded(x: Any, padding: Any, data_format: str | None) -> Tensor:
    count = 1 if data_format is None else 2 if len(padding) == 2 else 3
    pairs = [list(pair) for pair in padding]
    if len(pairs) != count or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"`padding` should be {count} pairs of sizes, before and after. Received: {padding}")
    if data_format == "channels_first":
        return pad(x, [[0, 0], [0, 0], *pairs])
    return pad(x, [[0, 0], *pairs, [0, 0]])


def resize_images(x: Any, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest") -> Tensor:
    """Images enlarged by whole factors, 'nearest' or 'bilinear'. ValueError for an unknown format or interpolation."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    if interpolation not in _RESIZE_METHODS:
        raise ValueError(f'interpolation should be one of "nearest" or "bilinear". Received: {interpolation!r}')
    x = convert_to_tensor(x)
    first = 2 if data_format == "channels_first" else 1
    known = x.shape.as_list()
    old = known[first : first + 2]
    factors = (height_factor, width_factor)
    if None in old:
        size: Any = array.shape(x)[first : first + 2] * convert_to_tensor(factors, dtype=dtypes.int32)  # type: ignore[index]
    else:
        size = [n * factor for n, factor in zip(old, factors, strict=True)]
    if first == 2:
        x = permute_dimensions(x, [0, 2, 3, 1])
    with name_scope("resize"):
        x = _RESIZE_METHODS[interpolation](x, size, half_pixel_centers=True)
    if first == 2:
        x = permute_dimensions(x, [0, 3, 1, 2])
    known[first : first + 2] = [None if n is None else n * factor for n, factor in zip(old, factors, strict=True)]
    x.set_shape(known)
    return x


def resize_volumes(x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str) -> Tensor:
    """Volumes enlarged by whole factors, each element repeated. ValueError for an unknown `data_format`."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), start=first):
        x = repeat_elements(x, factor, axis)
    result: Tensor = x
    return result
