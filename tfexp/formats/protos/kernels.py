"""Which kernels there are: KernelDef and KernelList. Source: kernel_def.proto."""

from __future__ import annotations

from tensorboard.compat.proto import attr_value_pb2

from tfexp.formats.protos import schema

_types = schema.define(
    "kernel_def",
    """
    message KernelDef
    message KernelDef.AttrConstraint
      name 1 string
      allowed_values 2 AttrValue
    message KernelDef
      op 1 string
      device_type 2 string
      constraint 3 repeated KernelDef.AttrConstraint
      host_memory_arg 4 repeated string
      label 5 string
      priority 6 int32
    message KernelList
      kernel 1 repeated KernelDef
    """,
    imports=(attr_value_pb2,),
)
KernelDef = _types["KernelDef"]
KernelList = _types["KernelList"]
