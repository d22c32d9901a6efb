"""The messages of a checkpoint's index: header, entries, slices."""

from __future__ import annotations

from tensorboard.compat.proto import tensor_shape_pb2, types_pb2, versions_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "tensor_bundle",
    """
    message TensorSliceProto
    message TensorSliceProto.Extent
      start 1 int64
      length 2 int64 oneof has_length
    message TensorSliceProto
      extent 1 repeated TensorSliceProto.Extent
    message BundleHeaderProto
    enum BundleHeaderProto.Endianness
      LITTLE 0
      BIG 1
    message BundleHeaderProto
      num_shards 1 int32
      endianness 2 BundleHeaderProto.Endianness
      version 3 VersionDef
    message BundleEntryProto
      dtype 1 DataType
      shape 2 TensorShapeProto
      shard_id 3 int32
      offset 4 int64
      size 5 int64
      crc32c 6 fixed32
      slices 7 repeated TensorSliceProto
    """,
    imports=(tensor_shape_pb2, types_pb2, versions_pb2),
)
TensorSliceProto = _types["TensorSliceProto"]
BundleHeaderProto = _types["BundleHeaderProto"]
BundleEntryProto = _types["BundleEntryProto"]
