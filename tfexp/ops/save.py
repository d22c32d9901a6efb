"""Checkpoints in the graph: SaveV2, RestoreV2, MergeV2Checkpoints, shards' names. `formats.bundle` does the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.text import as_str_any
from tfexp.formats.bundle import BundleWriter, merge_bundles
from tfexp.formats.checkpoint_reader import CheckpointReader
from tfexp.formats.checkpoints import open_checkpoint
from tfexp.formats.sliced_checkpoint import Part, write_slices
from tfexp.formats.tensor_slice import TensorSlice, parse_shape_and_slice
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
    with open_checkpoint(_text(prefix)) as reader:
        return [
            _restore(reader, name.decode(), spec.decode(), dtype)
            for name, spec, dtype in zip(tensor_names, shape_and_slices, dtypes, strict=True)
        ]


def _restore(reader: CheckpointReader, name: str, spec: str, dtype: Any) -> Any:
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


sharded_filespec = define_op("ShardedFilespec(basename: string, num_shards: int32) -> (filename: string)")


@sharded_filespec.shape
def _(basename: TensorShape, num_shards: TensorShape) -> TensorShape:
    for scalar in (basename, num_shards):
        with_rank(scalar, 0)
    return TensorShape(())


@sharded_filespec.kernel("CPU")
def _(ctx: Any, basename: Any, num_shards: Any) -> Any:
    return np.array(f"{_text(basename)}-?????-of-{int(num_shards):05d}".encode(), dtype=object)


# --- the first format -------------------------------------------------------------------------------------------------

save_slices = define_op(
    "SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: T) -> () "
    "{T: list(type) >= 1} #stateful"
)


@save_slices.shape
def _(filename: TensorShape, tensor_names: TensorShape, shapes_and_slices: TensorShape, data: list[TensorShape]) -> None:
    with_rank(filename, 0)
    for vector in (tensor_names, shapes_and_slices):
        merged(vector, TensorShape([len(data)]))


@save_slices.kernel("CPU")
def _(ctx: Any, filename: Any, tensor_names: Any, shapes_and_slices: Any, data: list[Any], *, T: list[Any]) -> None:
    _write_parts(filename, tensor_names, shapes_and_slices, data, T)


def _write_parts(filename: Any, names: Any, specs: Any, data: list[Any], dtypes: list[Any]) -> None:
    parts = []
    for name, spec, value, dtype in zip(names, specs, data, dtypes, strict=True):
        array = np.asarray(value)
        whole = array.shape, TensorSlice(((0, None),) * array.ndim)
        shape, part = parse_shape_and_slice(spec.decode()) if spec else whole
        parts.append(Part(name.decode(), shape, part, array, dtype.base_dtype))
    write_slices(_text(filename), parts)


save_op = define_op("Save(filename: string, tensor_names: string, data: T) -> () {T: list(type) >= 1} #stateful")


@save_op.shape
def _(filename: TensorShape, tensor_names: TensorShape, data: list[TensorShape]) -> None:
    with_rank(filename, 0)
    merged(tensor_names, TensorShape([len(data)]))


@save_op.kernel("CPU")
def _(ctx: Any, filename: Any, tensor_names: Any, data: list[Any], *, T: list[Any]) -> None:
    _write_parts(filename, tensor_names, [b""] * len(data), data, T)


restore_op = define_op(
    "Restore(file_pattern: string, tensor_name: string) -> (tensor: dt) {dt: type; preferred_shard: int = -1} #stateful"
)
restore_slice_op = define_op(
    "RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) -> (tensor: dt) "
    "{dt: type; preferred_shard: int = -1} #stateful"
)


@restore_op.shape
def _(file_pattern: TensorShape, tensor_name: TensorShape) -> TensorShape:
    for scalar in (file_pattern, tensor_name):
        with_rank(scalar, 0)
    return TensorShape(None)


@restore_op.kernel("CPU")
def _(ctx: Any, file_pattern: Any, tensor_name: Any, *, dt: Any) -> Any:
    with open_checkpoint(_text(file_pattern)) as reader:
        return _restore(reader, _text(tensor_name), "", dt)


@restore_slice_op.shape
def _(file_pattern: TensorShape, tensor_name: TensorShape, shape_and_slice: InputShape) -> TensorShape:
    for scalar in (file_pattern, tensor_name, shape_and_slice):
        with_rank(scalar, 0)
    spec = shape_and_slice.value
    return TensorShape(None) if spec is None else _slice_shape(spec.item())


@restore_slice_op.kernel("CPU")
def _(ctx: Any, file_pattern: Any, tensor_name: Any, shape_and_slice: Any, *, dt: Any) -> Any:
    with open_checkpoint(_text(file_pattern)) as reader:
        return _restore(reader, _text(tensor_name), _text(shape_and_slice), dt)


def _c_name(dtype: Any) -> str:
    """The dtype as TensorFlow's kernels write it."""
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def _text(scalar: Any) -> str:
    value = scalar.item() if isinstance(scalar, np.ndarray) else scalar
    return as_str_any(value)
