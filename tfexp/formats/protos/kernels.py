"""Which kernels there are: KernelDef and KernelList. Source: kernel_def.proto."""

from __future__ import annotations

from tfexp.formats.protos import schema

_types = schema.define(
    "kernel_def",
    """
    message KernelDef
      op 1 string
      device_type 2 string
      host_memory_arg 4 repeated string
      label 5 string
      priority 6 int32
    message KernelList
      kernel 1 repeated KernelDef
    """,
)
KernelDef = _types["KernelDef"]
KernelList = _types["KernelList"]
