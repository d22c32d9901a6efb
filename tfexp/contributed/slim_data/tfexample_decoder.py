"""`tf.contrib.slim.tfexample_decoder`: serialized tf.Examples to items, each by a handler of some features."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.slim_data.data_decoder import DataDecoder
from tfexp.core import dtypes
from tfexp.graph import sparse_tensor
from tfexp.graph.control_flow import cond
from tfexp.graph.tensor import Tensor as GraphTensor
from tfexp.ops.array import expand_dims, reshape
from tfexp.ops.array import shape as shape_of
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_order import transpose
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.case import case
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.decode_raw import decode_raw
from tfexp.ops.functional import map_fn
from tfexp.ops.image_codec import decode_image, decode_jpeg, is_jpeg
from tfexp.ops.logical import logical_or
from tfexp.ops.parsing import FixedLenFeature, parse_single_example
from tfexp.ops.parsing_sequence import parse_single_sequence_example
from tfexp.ops.reduce import reduce_prod
from tfexp.ops.sparse import sparse_reshape, sparse_tensor_to_dense

_Features = Mapping[str, Any]


# --- handlers ------------------------------------------------------------------------------------------------------------


class ItemHandler(abc.ABC):
    """Makes an item of the features `keys` (one, or several)."""

    def __init__(self, keys: str | Sequence[str]):
        self._keys = [keys] if isinstance(keys, str) else list(keys)

    @property
    def keys(self) -> list[str]:
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        """The item, of {key: tensor}."""


class ItemHandlerCallback(ItemHandler):
    """What `func` makes of {key: tensor}."""

    def __init__(self, keys: str | Sequence[str], func: Callable[[_Features], Any]):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """[boxes, 4] of four features (ymin, xmin, ymax, xmax by default, `prefix` before each). ValueError for others."""

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = ""):
        sides = ("ymin", "xmin", "ymax", "xmax") if keys is None else keys
        if len(sides) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(sides)}")
        super().__init__([prefix + side for side in sides])

    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        sides = [keys_to_tensors[key] for key in self.keys]
        rows = [expand_dims(side.values if sparse_tensor.is_sparse(side) else side, 0) for side in sides]
        return transpose(concat(rows, 0))


class Tensor(ItemHandler):
    """A feature as it is, dense, in a shape: `shape`, or what the features `shape_keys` say. ValueError for both."""

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = 0,
    ):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or ())
        super().__init__([tensor_key, *self._shape_keys])
        self._tensor_key, self._shape, self._default_value = tensor_key, shape, default_value

    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        tensor = keys_to_tensors[self._tensor_key]
        shape: Any = self._shape
        if self._shape_keys:
            dims = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = reshape(stack(dims), [-1])
        if shape is not None:
            tensor = sparse_reshape(tensor, shape) if sparse_tensor.is_sparse(tensor) else reshape(tensor, shape)
        return _dense(tensor, self._default_value)


class LookupTensor(Tensor):
    """A feature by what a lookup table has for its elements."""

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = "",
    ):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of `handler`, or of `backup` where that is empty. ValueError for what is no handler."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler):
        for name, one in (("Primary", handler), ("Backup", backup)):
            if not isinstance(one, ItemHandler):
                raise ValueError(f"{name} handler is of type {type(one)} instead of ItemHandler")
        super().__init__(dict.fromkeys(handler.keys + backup.keys))  # type: ignore[arg-type]
        self._handler, self._backup = handler, backup

    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        size = item.dense_shape if sparse_tensor.is_sparse(item) else shape_of(item)
        return cond(equal(reduce_prod(size), 0), lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class SparseTensor(ItemHandler):
    """A SparseTensor of a feature with indices and one with values (`indices` and `values` by default).

    Its shape is `shape`, that of the feature `shape_key`, or as large as the indices have it; dense with `densify`.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Sequence[int] | None = None,
        densify: bool = False,
        default_value: Any = 0,
    ):
        self._indices_key, self._values_key = indices_key or "indices", values_key or "values"
        self._shape_key, self._shape = shape_key, shape
        self._densify, self._default_value = densify, default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        rank = shape_of(indices.indices)[1]
        before = slice_(indices.indices, [0, 0], stack([-1, rank - 1]))
        last = reshape(cast(indices.values, dtypes.int64), [-1, 1])
        made = sparse_tensor.SparseTensor(concat([before, last], 1), values.values, shape)
        return _dense(made, self._default_value) if self._densify else made


class Image(ItemHandler):
    """[height, width, channels] of the bytes of a file (JPEG, PNG, BMP, GIF), or of numbers, where the format is `raw`.

    `repeated`: images, of a vector of files. `shape`: what they are reshaped to; `dct_method`: see `tf.image.decode_jpeg`.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Sequence[int] | None = None,
        channels: int | None = 3,
        dtype: dtypes.DType = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ):
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method

    def tensors_to_item(self, keys_to_tensors: _Features) -> Any:
        contents, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return map_fn(lambda one: self._decode(one, kind), contents, dtype=self._dtype)
        return self._decode(contents, kind)

    def _decode(self, contents: GraphTensor, kind: GraphTensor) -> GraphTensor:
        """One image; what the format says besides `raw` does not matter."""

        def as_jpeg() -> GraphTensor:
            return cast(decode_jpeg(contents, self._channels or 0, dct_method=self._dct_method), self._dtype)

        def as_any() -> GraphTensor:
            return cast(decode_image(contents, self._channels), self._dtype)

        def as_file() -> Any:
            return cond(is_jpeg(contents), as_jpeg, as_any, name="cond_jpeg")

        def as_numbers() -> GraphTensor:
            return decode_raw(contents, out_type=self._dtype)

        is_raw = logical_or(equal(kind, "raw"), equal(kind, "RAW"))
        image: GraphTensor = case([(is_raw, as_numbers)], default=as_file, exclusive=True)
        if self._shape is not None:
            return reshape(image, self._shape)
        image.set_shape([None, None, self._channels])
        return image


def _dense(value: Any, default_value: Any = 0) -> Any:
    if not sparse_tensor.is_sparse(value):
        return value
    if value.dtype.base_dtype is dtypes.string and default_value == 0:
        default_value = ""
    return sparse_tensor_to_dense(value, default_value)


# --- decoders ------------------------------------------------------------------------------------------------------------


class _HandlingDecoder(DataDecoder):
    def __init__(self, items_to_handlers: Mapping[str, ItemHandler]):
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        return list(self._items_to_handlers)

    def _items(self, features: _Features, items: Sequence[str] | None) -> list[Any]:
        found = []
        for item in self._items_to_handlers if items is None else items:
            handler = self._items_to_handlers[item]
            found.append(handler.tensors_to_item({key: features[key] for key in handler.keys}))
        return found


class TFExampleDecoder(_HandlingDecoder):
    """Parses a tf.Example by `keys_to_features` (see `tf.parse_single_example`), and has a handler for each item."""

    def __init__(self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]):
        super().__init__(items_to_handlers)
        self._keys_to_features = keys_to_features

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:  # type: ignore[override]
        """The items of those names (all of them if None), in their order, of one serialized tf.Example."""
        parsed = parse_single_example(serialized_example, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, FixedLenFeature):
                parsed[key] = reshape(parsed[key], feature.shape)
        return self._items(parsed, items)


class TFSequenceExampleDecoder(_HandlingDecoder):
    """As TFExampleDecoder, for a tf.SequenceExample. ValueError where context and sequence have a key in common."""

    def __init__(
        self,
        keys_to_context_features: Mapping[str, Any],
        keys_to_sequence_features: Mapping[str, Any],
        items_to_handlers: Mapping[str, ItemHandler],
    ):
        both = sorted(set(keys_to_context_features) & set(keys_to_sequence_features))
        if both:
            raise ValueError(f"Context and sequence keys are not unique: both have {', '.join(both)}")
        super().__init__(items_to_handlers)
        self._context, self._sequence = keys_to_context_features, keys_to_sequence_features

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:  # type: ignore[override]
        """The items of those names (all of them if None), in their order, of one serialized tf.SequenceExample."""
        context, sequence = parse_single_sequence_example(serialized_example, self._context, self._sequence)
        for key in sorted(self._context):
            if isinstance(self._context[key], FixedLenFeature):
                context[key] = reshape(context[key], self._context[key].shape)
        return self._items({**context, **sequence}, items)
