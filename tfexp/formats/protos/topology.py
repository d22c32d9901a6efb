"""Where the cores of a TPU are. Source: topology.proto."""

from __future__ import annotations

from tfexp.formats.protos import schema

_types = schema.define(
    "topology",
    """
    message TopologyProto
      mesh_shape 1 repeated int32
      num_tasks 2 int32
      num_tpu_devices_per_task 3 int32
      device_coordinates 4 repeated int32
    """,
)
TopologyProto = _types["TopologyProto"]
