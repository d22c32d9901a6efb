"""Checkpoints in the graph: SaveV2, RestoreV2, MergeV2Checkpoints, shards' names. `formats.bundle_writer` does the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.text import as_str_any
from tfexp.formats.bundle_reader import BundleReader
from tfexp.formats.bundle_writer import BundleWriter, merge_bundles
from tfexp.formats.tensor_slice import parse_shape_and_slice
from tfexp.ops.shape_rules import with_rank

save_v2 = define_op(
    "SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes) -> () "
    "{dtypes: list(type) >= 1} #stateful"
)


@save_v2.shape
def _(prefix: TensorShape, tensor_names: TensorShape, shape_and_slices: TensorShape, tensors: list[TensorShape]) -> None:
    with_rank(prefix, 0)
    for vector in (tensor_names, shape_and_slices):
        merged(vector, TensorShape([len(tensors)]))


@save_v2.kernel("CPU")
def _(ctx: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: list[Any], *, dtypes: list[Any]) -> None:
    with BundleWriter(_text(prefix)) as writer:
        for name, spec, value, dtype in zip(tensor_names, shape_and_slices, tensors, dtypes, strict=True):
            array = np.asarray(value)
            if spec:
                shape, part = parse_shape_and_slice(spec.decode())
                writer.add_slice(name.decode(), shape, part, array, dtype)
            else:
                writer.add(name.decode(), array, dtype)


restore_v2 = define_op(
    "RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> (tensors: dtypes) "
    "{dtypes: list(type) >= 1} #stateful"
)


@restore_v2.shape
def _(
    prefix: TensorShape, tensor_names: TensorShape, shape_and_slices: InputShape, *, dtypes: list[Any]
) -> list[TensorShape]:
    with_rank(prefix, 0)
    for vector in (tensor_names, shape_and_slices):
        merged(vector, TensorShape([len(dtypes)]))
    specs = shape_and_slices.value
    if specs is None:
        return [TensorShape(None)] * len(dtypes)
    return [_slice_shape(spec) for spec in specs]


def _slice_shape(spec: bytes) -> TensorShape:
    if not spec:
        return TensorShape(None)
    shape, part = parse_shape_and_slice(spec.decode())
    return TensorShape([box.stop - box.start for box in part.boxes(shape)])


@restore_v2.kernel("CPU")
def _(ctx: Any, prefix: Any, tensor_names: Any, shape_and_slices: Any, *, dtypes: list[Any]) -> list[Any]:
    with BundleReader(_text(prefix)) as reader:
        return [
            _restore(reader, name.decode(), spec.decode(), dtype)
            for name, spec, dtype in zip(tensor_names, shape_and_slices, dtypes, strict=True)
        ]


def _restore(reader: BundleReader, name: str, spec: str, dtype: Any) -> Any:
    stored = reader.dtype(name)
    if stored is not dtype.base_dtype:
        raise InvalidArgumentError(
            None,
            None,
            f"tensor_name = {name}; expected dtype {_c_name(dtype)} does not equal original dtype {_c_name(stored)}",
        )
    if not spec:
        return reader.read(name)
    shape, part = parse_shape_and_slice(spec)
    if tuple(shape) != tuple(reader.shape(name)):
        raise InvalidArgumentError(
            None,
            None,
            f"tensor_name = {name}; shape in shape_and_slice spec {list(shape)} does not match the shape stored in "
            f"checkpoint: {list(reader.shape(name))}",
        )
    return reader.get_slice(name, part)


merge_v2_checkpoints = define_op(
    "MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string) -> () "
    "{delete_old_dirs: bool = true} #stateful"
)


@merge_v2_checkpoints.shape
def _(checkpoint_prefixes: TensorShape, destination_prefix: TensorShape) -> None:
    with_rank(checkpoint_prefixes, 1)
    with_rank(destination_prefix, 0)


@merge_v2_checkpoints.kernel("CPU")
def _(ctx: Any, checkpoint_prefixes: Any, destination_prefix: Any, *, delete_old_dirs: bool) -> None:
    merge_bundles([p.decode() for p in checkpoint_prefixes], _text(destination_prefix), delete_old_dirs)


sharded_filename = define_op("ShardedFilename(basename: string, shard: int32, num_shards: int32) -> (filename: string)")


@sharded_filename.shape
def _(basename: TensorShape, shard: TensorShape, num_shards: TensorShape) -> TensorShape:
    for scalar in (basename, shard, num_shards):
        with_rank(scalar, 0)
    return TensorShape(())


@sharded_filename.kernel("CPU")
def _(ctx: Any, basename: Any, shard: Any, num_shards: Any) -> Any:
    return np.array(f"{_text(basename)}-{int(shard):05d}-of-{int(num_shards):05d}".encode(), dtype=object)


def _c_name(dtype: Any) -> str:
    """The dtype as TensorFlow's kernels write it."""
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def _text(scalar: Any) -> str:
    value = scalar.item() if isinstance(scalar, np.ndarray) else scalar
    return as_str_any(value)
