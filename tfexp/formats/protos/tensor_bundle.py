"""What is in a checkpoint: header, entries and slices of an index; of the first format, slices and their list."""

from __future__ import annotations

from tensorboard.compat.proto import tensor_pb2, tensor_shape_pb2, types_pb2, versions_pb2

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
    message SavedSliceMeta
      name 1 string
      shape 2 TensorShapeProto
      type 3 DataType
      slice 4 repeated TensorSliceProto
    message SavedTensorSliceMeta
      tensor 1 repeated SavedSliceMeta
      versions 2 VersionDef
    message SavedSlice
      name 1 string
      slice 2 TensorSliceProto
      data 3 TensorProto
    message SavedTensorSlices
      meta 1 SavedTensorSliceMeta
      data 2 SavedSlice
    """,
    imports=(tensor_pb2, tensor_shape_pb2, types_pb2, versions_pb2),
)
TensorSliceProto = _types["TensorSliceProto"]
BundleHeaderProto = _types["BundleHeaderProto"]
BundleEntryProto = _types["BundleEntryProto"]
SavedSliceMeta = _types["SavedSliceMeta"]
SavedTensorSliceMeta = _types["SavedTensorSliceMeta"]
SavedSlice = _types["SavedSlice"]
SavedTensorSlices = _types["SavedTensorSlices"]
