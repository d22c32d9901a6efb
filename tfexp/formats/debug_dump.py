"""The folders into which a watched step is dumped: one Event to a file. Source: tfdbg of TF 1.15.

    _tfdbg_core_metadata_sessionrun<14 digits>_<time>   what was run: JSON in a log message
    _tfdbg_fetches_info_, _tfdbg_feed_keys_info_        who asked for what, for people to read
    _tfdbg_device_,job_localhost,…,device_CPU_0/        one folder to a device, and in it
        _tfdbg_graph_hash<number>_<time>                its nodes
        <node>_<slot>_<debug op>_<time>                 a value; the slashes of a node's name are folders

Times are microseconds since 1970.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tfexp.core import dtypes
from tfexp.core.errors import DataLossError
from tfexp.formats.file_errors import file_error
from tfexp.formats.tensor import array_to_wire, make_tensor_proto

PREFIX = "_tfdbg_"
CORE_METADATA = f"{PREFIX}core_metadata_"
GRAPH = f"{PREFIX}graph_"
FETCHES_INFO = f"{PREFIX}fetches_info_"
FEED_KEYS_INFO = f"{PREFIX}feed_keys_info_"
DEVICE = f"{PREFIX}device_"


def folder_of_device(device: str) -> str:
    """`/job:a/device:CPU:0` -> `_tfdbg_device_,job_a,device_CPU_0`."""
    return DEVICE + device.replace("/", ",").replace(":", "_")


def device_of_folder(folder: str) -> str:
    """The device of such a folder."""
    parts = folder.removeprefix(DEVICE).split(",")
    # `device` has its type and number behind it; every other part has one value, which may itself contain underscores.
    return "/".join(part.replace("device_", "device:").replace("_", ":", 1) for part in parts)


def is_folder_of_device(folder: str) -> bool:
    return folder.startswith(DEVICE)


def read_event(path: str) -> Any:
    """The Event of a file. Raises as `file_errors` says, and DataLossError for what is no Event."""
    try:
        with open(path, "rb") as file:
            return Event.FromString(file.read())
    except OSError as error:
        raise file_error(path, error) from error
    except DecodeError as error:
        raise DataLossError(None, None, f"{path} holds no Event: {error}") from error


def write_message(folder: str, name: str, message: str) -> None:
    """A file with a log message."""
    event = Event()
    event.log_message.message = message
    _write(os.path.join(folder, name), event)


def write_core_metadata(folder: str, time: int, run: int, metadata: dict[str, Any]) -> None:
    """What the `run`-th step of a session is."""
    event = Event(wall_time=time)
    event.log_message.message = json.dumps(metadata, separators=(",", ":"))
    _write(os.path.join(folder, f"{CORE_METADATA}sessionrun{run:014d}_{time}"), event)


def write_graph(folder: str, device: str, time: int, graph: GraphDef) -> None:
    """The nodes of a device."""
    data = graph.SerializeToString()
    name = f"{GRAPH}hash{zlib.crc32(data)}_{time}"
    _write(os.path.join(folder, folder_of_device(device), name), Event(wall_time=time, graph_def=data))


def write_value(folder: str, device: str, output: tuple[str, int], debug_op: str, time: int, value: TensorProto) -> None:
    """What a debug op makes of an output (node, slot)."""
    node, slot = output
    event = Event(wall_time=time)
    summary = event.summary.value.add(tag=node, node_name=f"{node}:{slot}:{debug_op}", tensor=value)
    about = {"device": device, "outputSlot": slot, "numChunks": 1, "chunkIndex": 0}
    summary.metadata.plugin_data.plugin_name = "debugger"
    summary.metadata.plugin_data.content = json.dumps(about, separators=(",", ":")).encode()
    _write(os.path.join(folder, folder_of_device(device), f"{node}_{slot}_{debug_op}_{time}"), event)


def as_dumped(value: Any, dtype: dtypes.DType) -> TensorProto:
    """A value as dumps have it: of what is no array (nothing yet, a handle), only the dtype.

    Readers take an array without `tensor_content` for one that is not initialized, so that even a single number has some.
    """
    if dtype.base_dtype is dtypes.string and value is not None:
        return make_tensor_proto(value, dtypes.string)
    if not isinstance(value, (np.ndarray, np.generic)):
        return TensorProto(dtype=dtype.base_dtype.as_datatype_enum)
    return array_to_wire(np.asarray(value), dtype)


def _write(path: str, event: Event) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(event.SerializeToString())
    except OSError as error:
        raise file_error(path, error) from error
